"""IntelliPerf, an autonomous GPU performance engineer."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("intelliperf")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"
