"""Behind the compiler drop-ins: command lines, translation units, the cache, links."""
