"""Run by Python before the program: gives Triton and PyTorch their device as soon as the program imports them.

Until then nothing is loaded. The sitecustomize that this one stands before is run as well.
"""

import json
import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec

_HERE = os.path.dirname(os.path.abspath(__file__))  # pathlib would take 5 ms of every start


def _stay_in_the_copy() -> None:
    """Installed as editable, a project is found where it was installed from: its scratch copy stands in for it."""
    home = os.sep.join(("", *json.loads(os.environ["INTELLIPERF_HOME"])[1:]))
    copy = os.environ["INTELLIPERF_PROJECT"]

    def inside(path: str) -> str:
        return copy + path[len(home) :] if path == home or path.startswith(home + os.sep) else path

    if home == copy:
        return
    sys.path[:] = [path if "pyvenv.cfg" in _upwards(path, home) else inside(path) for path in sys.path]
    for name, module in list(sys.modules.items()):
        mapping = getattr(module, "MAPPING", None)  # of the finders that setuptools writes
        if name.startswith("__editable__") and isinstance(mapping, dict):
            mapping.update({package: inside(path) for package, path in mapping.items()})


def _upwards(path: str, home: str) -> set[str]:
    """Names beside and above a path within the project, to tell a virtual environment by."""
    found: set[str] = set()
    while path.startswith(home + os.sep):
        path = os.path.dirname(path)
        found.update(name for name in ("pyvenv.cfg",) if os.path.exists(os.path.join(path, name)))
    return found


def _run_the_other() -> None:
    elsewhere = [place for place in sys.path if place and os.path.abspath(place) != _HERE]
    spec = PathFinder.find_spec("sitecustomize", elsewhere)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(module_from_spec(spec))


if os.environ.get("INTELLIPERF_RUNTIME"):
    if os.environ.get("INTELLIPERF_REPLAY"):
        from intelliperf_presented import replaying

        replaying.replay()
    from intelliperf_presented import arrival

    arrival.watch()
    _stay_in_the_copy()
_run_the_other()
