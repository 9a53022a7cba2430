"""A finished run as JSON, Markdown and HTML. Says nothing that the records do not hold."""
