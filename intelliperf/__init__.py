"""IntelliPerf, an autonomous GPU performance engineer."""

__version__ = "0.1.0"
