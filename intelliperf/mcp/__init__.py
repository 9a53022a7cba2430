"""`intelliperf mcp`: the commands as tools of a coding agent, over the Model Context Protocol (extra `[mcp]`)."""
