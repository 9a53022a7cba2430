"""What two runs left in memory and printed: what it means, and how far apart it may be."""
