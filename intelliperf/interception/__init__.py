"""What the libraries have in common that are loaded into an application to watch it: sources and how they are built."""
