"""One run: the findings that it pursues, the versions that it builds, the attempts that it makes, its report."""
