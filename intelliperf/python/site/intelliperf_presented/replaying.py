"""A replay in place of the program: kernels that an earlier run of this version compiled, on recorded memory."""

from __future__ import annotations

import ctypes
import json
import os
import sys
from typing import Any, NoReturn

from . import constants, keeping
from .runtime import Runtime, runtime

_NOT_REPLAYABLE = 124  # as the runtime library ends


def replay() -> None:
    """Ends the process where the plan's kernels were compiled by the program; returns where it is for another."""
    try:
        with open(os.environ["INTELLIPERF_REPLAY"], encoding="utf-8") as plan:
            digests = [str(dispatch.get("code", "")) for dispatch in json.load(plan)["dispatches"]]
    except (OSError, ValueError, KeyError) as error:
        _give_up(f"the plan is damaged ({error})")
    if not any(digests):
        return
    try:
        device = runtime()
        functions: dict[str, int] = {}
        for digest in digests:
            if digest not in functions:
                functions[digest] = _loaded(device, digest)
    except (OSError, ValueError, KeyError) as error:
        _give_up(f"this version has not compiled such a kernel ({error})")
    kernels = (ctypes.c_void_p * len(digests))(*(functions[digest] for digest in digests))
    device.native.__simt_replay(kernels, ctypes.c_uint64(len(digests)))


def _loaded(device: Runtime, digest: str) -> int:
    function = _function(device, digest)
    general = keeping.general_of(digest)
    if general is not None:
        device.general(function, _function(device, general[0]), general[1])
    asked = constants.asked()
    for how, other, lds in keeping.others_of(digest):
        if how in asked:
            device.with_other_constants(function, how, _function(device, other), lds)
    return function


def _function(device: Runtime, digest: str) -> int:
    name, image, described = keeping.load(digest)
    return device.function(device.load(image, marked(described, name, digest)), name)


def marked(described: dict[str, Any], name: str, digest: str) -> dict[str, Any]:
    """The description, with the digest for those who record launches of the kernel."""
    kernels = described["kernels"]
    return {**described, "kernels": {**kernels, name: {**kernels[name], "kept": digest}}}


def _give_up(why: str) -> NoReturn:
    print(f"intelliperf: cannot replay: {why}", file=sys.stderr, flush=True)
    os._exit(_NOT_REPLAYABLE)
