"""What a Python program did on the device beside its own kernels, from what our "cuda" left in the records."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from intelliperf.emulator.tracefiles import LIBRARY, Transfer
from intelliperf.errors import ProtocolError
from intelliperf.project.recipes import is_python
from intelliperf.records import Application
from intelliperf.sentences import counted

_SHOWN = 5


def library_operations(records: Path) -> Counter[str]:
    """PyTorch's functions that worked on device tensors, and how often. Raises `ProtocolError` for other content."""
    found: Counter[str] = Counter()
    for path in sorted((*records.glob("torch-*.json"), *records.glob("*/torch-*.json"))):
        try:
            operations = json.loads(path.read_text(encoding="utf-8"))["operations"]
            found.update({str(name): int(count) for name, count in operations.items()})
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ProtocolError(f"{path}: not a list of operations: {error!r}") from error
    return found


def library_note(records: Path) -> tuple[str, ...]:
    """For the report; none where PyTorch did nothing on the device."""
    operations = library_operations(records)
    if not operations:
        return ()
    return (f"PyTorch's own work on the device is counted, and neither modelled nor changed: {_told(operations)}",)


def tuning_note(records: Path) -> tuple[str, ...]:
    """Of which kernels an autotuner tried some configurations only. Raises `ProtocolError` for other content."""
    found: dict[str, str] = {}
    for path in sorted((*records.glob("tuned-*.json"), *records.glob("*/tuned-*.json"))):
        try:
            left_out = json.loads(path.read_text(encoding="utf-8"))
            found |= {str(name): f"{int(tried)} of {int(of)} of {name}" for name, (tried, of) in left_out.items()}
        except (ValueError, TypeError, AttributeError) as error:
            raise ProtocolError(f"{path}: not what an autotuner tried: {error!r}") from error
    if not found:
        return ()
    named = list(found.values())
    more = f" and some of {counted(len(named) - _SHOWN, 'further kernel')}" if len(named) > _SHOWN else ""
    told = f"{', '.join(named[:_SHOWN])}{more}"
    return (f"an autotuner tried only some of its configurations, so that the program ends in time: {told}",)


def why_no_kernel(records: Path, transfers: Iterable[Transfer] = ()) -> str:
    """Why a run that ended well has no kernel to look at."""
    called = Counter(
        transfer.operation.removeprefix(LIBRARY) for transfer in transfers if transfer.operation.startswith(LIBRARY)
    )
    if called:
        return (
            "the application launched no kernel of its own; libraries did all work on the device, which is modelled "
            f"by roofline and not changed: {_told(called, 'call')}"
        )
    operations = library_operations(records)
    if operations:
        return f"the application launched no kernel of its own; PyTorch did all work on the device: {_told(operations)}"
    return "the application ran to its end but launched no GPU kernel"


def why_no_runtime(application: Application) -> str:
    """Why a run that ended well never reached the runtime library."""
    if is_python(application.command[0], application.directory):
        return (
            "ran to its end but launched no Triton kernel and put no PyTorch tensor on the GPU; an interpreter that "
            "ignores its environment (python -I or -E) cannot be watched"
        )
    return (
        "ran to its end but never called the GPU runtime of the emulator: it has no GPU part, or it "
        "was built without our hipcc/nvcc drop-ins (give the build with -b; `intelliperf doctor` shows them)"
    )


def _told(operations: Counter[str], what: str = "operation") -> str:
    most = operations.most_common(_SHOWN)
    named = ", ".join(f"{name} ×{count}" for name, count in most)
    rest = len(operations) - len(most)
    return f"{counted(operations.total(), what)} ({named}{f', and {rest} others' if rest else ''})"
