"""`torch.cuda` and what else of PyTorch asks for a GPU, in one table; what is not in it says so by its name."""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import sys
import types
from collections.abc import Callable
from types import ModuleType
from typing import Any

from . import missing
from .runtime import MEMORY_CLOCK_KHZ, bus_bits, chip, runtime

HIP_VERSION = "6.2.41133"
_REFUSED_BY_NAME = "is not presented by IntelliPerf's GPU without hardware"


class NotPresented(RuntimeError):
    """A part of PyTorch's GPU surface that is not there."""


def _refusing(name: str, absent: object) -> Any:
    """In place of `absent`: a class remains one, and a decorated function keeps what it was made of, as dynamo asks."""
    whole = name if name.startswith("torch.") else f"torch.cuda.{name}"

    def refuse(*args: object, **kwargs: object) -> Any:
        raise NotPresented(f"{whole} {_REFUSED_BY_NAME}")

    if isinstance(absent, type):
        makers: dict[str, Any] = {
            member: staticmethod(_refusing(f"{whole}.{member}", value))
            for member, value in vars(absent).items()
            if isinstance(value, (staticmethod, classmethod)) and not member.startswith("__")
        }
        return type(name, (), {**makers, "__new__": refuse, "__module__": absent.__module__})
    refuse.__name__ = name
    if callable(absent):
        functools.update_wrapper(refuse, absent)
        refuse.__wrapped__ = getattr(absent, "__wrapped__", refuse)  # type: ignore[attr-defined]
    return refuse


def present_groups(module: ModuleType) -> None:
    """`torch.distributed.distributed_c10d`: NCCL has no GPU to speak to."""
    begin = module.init_process_group

    @functools.wraps(begin)
    def init_process_group(backend: str | None = None, *args: Any, **kwargs: Any) -> Any:
        if "nccl" in (backend or "").lower():
            raise NotPresented(f"torch.distributed's backend nccl {_REFUSED_BY_NAME}; gloo is served")
        return begin(backend, *args, **kwargs)

    module.init_process_group = init_process_group  # type: ignore[attr-defined]


class Stream:
    """Work runs as it is issued; streams order it on the modelled clock."""

    def __init__(self, device: object = None, priority: int = 0, stream_ptr: int | None = None, **_: object) -> None:
        self.priority = priority
        self.device_index = 0
        self.cuda_stream = runtime().stream() if stream_ptr is None else stream_ptr

    @staticmethod
    def priority_range() -> tuple[int, int]:
        return 0, -1

    @property
    def device(self) -> Any:
        from .tensors import CUDA

        return CUDA

    def synchronize(self) -> None:
        runtime().wait_for_stream(self.cuda_stream)

    def query(self) -> bool:
        return True

    def is_capturing(self) -> bool:
        return False

    def wait_event(self, event: Event) -> None:
        pass  # all work that was issued is done

    def wait_stream(self, stream: Stream) -> None:
        pass

    def record_event(self, event: Event | None = None) -> Event:
        event = event or Event()
        event.record(self)
        return event

    def __enter__(self) -> Stream:
        _streams.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _streams.pop()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other.cuda_stream == self.cuda_stream

    def __hash__(self) -> int:
        return hash(self.cuda_stream)


class Event:
    """Times are of the modelled clock, in milliseconds."""

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, **_: object):
        if interprocess:
            raise NotPresented(f"torch.cuda.Event(interprocess=True) {_REFUSED_BY_NAME}")
        self.cuda_event = runtime().event()

    def record(self, stream: Stream | None = None) -> None:
        runtime().record(self.cuda_event, (stream or _streams[-1]).cuda_stream)

    def wait(self, stream: Stream | None = None) -> None:
        pass

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        runtime().wait_for_event(self.cuda_event)

    def elapsed_time(self, end_event: Event) -> float:
        return runtime().elapsed_ms(self.cuda_event, end_event.cuda_event)


class _OlderType(type):
    """Of `torch.cuda.FloatTensor` and its like: the host's type of that name, for tensors of the device."""

    def __call__(cls, *args: object) -> Any:
        from . import tensors

        return tensors.moved(cls._of_host()(*args), True)

    def __instancecheck__(cls, value: object) -> bool:
        from . import tensors

        return isinstance(value, cls._of_host()) and tensors.on_device(value)

    def _of_host(cls) -> Any:
        return getattr(sys.modules["torch"], cls.__name__)


class _Device:
    """torch.cuda.device(0) as a context."""

    idx = prev_idx = 0

    def __init__(self, device: object = None) -> None:
        _index(device)

    def __enter__(self) -> _Device:
        return self

    def __exit__(self, *_: object) -> None:
        return None


_streams = [Stream(stream_ptr=0)]


def _index(device: object = None) -> int:
    """0, the one device. Raises `RuntimeError` for another."""
    from .tensors import is_cuda

    if isinstance(device, int) and device > 0:
        raise RuntimeError(f"CUDA error: invalid device ordinal: {device}; one GPU is presented, cuda:0")
    if device is not None and not isinstance(device, int):
        is_cuda(device)
    return 0


def _properties(device: object = None) -> types.SimpleNamespace:
    known = chip()
    waves = int(known["max_waves_per_compute_unit"])
    return types.SimpleNamespace(
        name=known["name"],
        major=int(known["compute_capability_major"]),
        minor=int(known["compute_capability_minor"]),
        multi_processor_count=known["compute_units"],
        gcnArchName=known["architecture"],
        warp_size=known["wave_size"],
        total_memory=runtime().memory()[1],
        max_threads_per_multi_processor=waves * int(known["wave_size"]),
        max_threads_per_block=known["max_threads_per_block"],
        regs_per_multiprocessor=known["registers_per_compute_unit"],
        shared_memory_per_block=known["lds_bytes_per_block"],
        shared_memory_per_block_optin=known["lds_bytes_per_block"],
        shared_memory_per_multiprocessor=known["lds_bytes_per_compute_unit"],
        L2_cache_size=known["l2_bytes"],
        clock_rate=int(float(known["clock_hz"]) / 1000),
        memory_clock_rate=MEMORY_CLOCK_KHZ,
        memory_bus_width=bus_bits(),
        is_integrated=False,
        is_multi_gpu_board=False,
        pci_bus_id=0,
        pci_device_id=0,
        pci_domain_id=0,
        uuid="00000000-0000-0000-0000-000000000000",
    )


def _set_stream(stream: Stream) -> None:
    _streams[-1] = stream


class StreamContext:
    """`with torch.cuda.stream(s)`; a class, as dynamo asks what is one."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> Stream | None:
        return self.stream.__enter__() if self.stream is not None else None

    def __exit__(self, *raised: object) -> None:
        if self.stream is not None:
            self.stream.__exit__(*raised)


def _memory(which: int) -> Callable[..., int]:
    def figure(device: object = None) -> int:
        from . import memory

        return memory.tensor_bytes(which)

    return figure


def _reset_peak(device: object = None) -> None:
    from . import memory

    memory.tensor_bytes(2)


def _statistics(device: object = None) -> dict[str, int]:
    now, most = _memory(0)(), _memory(1)()
    names = ("allocated_bytes", "reserved_bytes", "active_bytes")
    return {f"{name}.all.{when}": value for name in names for when, value in (("current", now), ("peak", most))}


def _summary(device: object = None, abbreviated: bool = False) -> str:
    """What is known; PyTorch's own table counts what its allocator does, and there is none."""
    free, total = runtime().memory()
    tensors = f"tensors {_memory(0)():,} bytes, at most {_memory(1)():,}"
    return f"memory of {_properties(device).name}: {tensors}; {free:,} of {total:,} bytes free\n"


def _nothing(*args: object, **kwargs: object) -> None:
    return None


def _answer(value: Any) -> Callable[..., Any]:
    return lambda *args, **kwargs: value


def _table(torch: ModuleType) -> dict[str, Any]:
    """Name → what stands in `torch.cuda` in its place."""
    generator = torch.default_generator
    capability = int(chip()["compute_capability_major"]), int(chip()["compute_capability_minor"])
    return {
        "Stream": Stream,
        "Event": Event,
        "ExternalStream": Stream,
        "StreamContext": StreamContext,
        "stream": StreamContext,
        "current_stream": lambda device=None: _streams[-1],
        "default_stream": lambda device=None: _streams[0],
        "set_stream": _set_stream,
        "get_stream_from_external": lambda pointer, device=None: Stream(stream_ptr=pointer),
        "is_current_stream_capturing": _answer(False),
        "device": _Device,
        "device_of": _Device,
        "init": _nothing,
        "_lazy_init": _nothing,
        "is_available": _answer(True),
        "is_initialized": _answer(True),
        "_is_compiled": _answer(True),
        "_is_in_bad_fork": _answer(False),
        "device_count": _answer(1),
        "current_device": _answer(0),
        "set_device": lambda device: _index(device) and None,
        "_exchange_device": _answer(0),
        "_maybe_exchange_device": _answer(0),
        "can_device_access_peer": _answer(False),
        "get_device_name": lambda device=None: _properties(device).name,
        "get_device_capability": lambda device=None: capability,
        "get_device_properties": _properties,
        "get_arch_list": lambda: [chip()["architecture"]],
        "get_gencode_flags": _answer(""),
        "has_half": True,
        "has_magma": False,
        "is_bf16_supported": _answer(True),
        "is_tf32_supported": _answer(False),
        "synchronize": lambda device=None: runtime().synchronize(),
        "ipc_collect": _nothing,
        "empty_cache": _nothing,
        "get_allocator_backend": _answer("native"),
        "caching_allocator_alloc": lambda size, device=None, stream=None: runtime().malloc(size),
        "caching_allocator_delete": lambda pointer: runtime().free(pointer),
        "caching_allocator_enable": _nothing,
        "caching_allocator_disabled": contextlib.nullcontext,
        "mem_get_info": lambda device=None: runtime().memory(),
        "memory_allocated": _memory(0),
        "memory_reserved": _memory(0),
        "memory_cached": _memory(0),
        "max_memory_allocated": _memory(1),
        "max_memory_reserved": _memory(1),
        "max_memory_cached": _memory(1),
        "memory_stats": _statistics,
        "memory_summary": _summary,
        "reset_peak_memory_stats": _reset_peak,
        "reset_max_memory_allocated": _reset_peak,
        "reset_max_memory_cached": _reset_peak,
        "reset_accumulated_memory_stats": _nothing,
        "get_per_process_memory_fraction": _answer(1.0),
        "set_per_process_memory_fraction": _nothing,
        "get_sync_debug_mode": _answer(0),
        "set_sync_debug_mode": _nothing,
        "default_generators": (generator,),
        "manual_seed": lambda seed: generator.manual_seed(int(seed)) and None,
        "manual_seed_all": lambda seed: generator.manual_seed(int(seed)) and None,
        "seed": lambda: generator.seed() and None,
        "seed_all": lambda: generator.seed() and None,
        "initial_seed": lambda: generator.initial_seed(),
        "get_rng_state": lambda device=None: generator.get_state(),
        "set_rng_state": lambda state, device=None: generator.set_state(state) and None,
        "get_rng_state_all": lambda: [generator.get_state()],
        "set_rng_state_all": lambda states: generator.set_state(states[0]) and None,
        "check_error": _nothing,
    }


def _accelerator(table: dict[str, Any]) -> dict[str, Any]:
    """Name → what stands in `torch.accelerator` in its place: the same GPU under the names that fit any."""
    from .tensors import CUDA

    of_cuda = {
        "is_available": "is_available",
        "device_count": "device_count",
        "current_device_index": "current_device",
        "current_device_idx": "current_device",
        "set_device_index": "set_device",
        "set_device_idx": "set_device",
        "current_stream": "current_stream",
        "set_stream": "set_stream",
        "synchronize": "synchronize",
        "device_index": "device",
        "empty_cache": "empty_cache",
        "empty_host_cache": "empty_cache",
        "get_memory_info": "mem_get_info",
        "max_memory_allocated": "max_memory_allocated",
        "max_memory_reserved": "max_memory_reserved",
        "memory_allocated": "memory_allocated",
        "memory_reserved": "memory_reserved",
        "memory_stats": "memory_stats",
        "reset_accumulated_memory_stats": "reset_accumulated_memory_stats",
        "reset_peak_memory_stats": "reset_peak_memory_stats",
    }
    return {**{name: table[cuda] for name, cuda in of_cuda.items()}, "current_accelerator": _answer(CUDA)}


def _apart(answer: Any) -> Any:
    """A function of its own under each name: dynamo tells functions apart by what they are."""
    if not isinstance(answer, types.FunctionType):
        return answer
    return functools.wraps(answer)(lambda *args, **kwargs: answer(*args, **kwargs))


# Names of `torch.cuda` that need no GPU, or only name others.
KEPT = frozenset(
    {
        *(f"{kind}{what}" for what in ("Storage", "Tensor") for kind in (
            "BFloat16", "Bool", "Byte", "Char", "ComplexDouble", "ComplexFloat", "Double", "Float", "Half", "Int",
            "Long", "Short")),
        "CudaError", "DeferredCudaCallError", "amp", "graphs", "memory", "nccl", "nvtx", "profiler", "random",
        "sparse", "streams", "tunable", "gds", "green_contexts", "jiterator",
    }
)  # fmt: skip
_OF_SUBMODULES = ("memory", "random", "streams")
_SILENT = {
    "nvtx": ("mark", "range_push", "range_pop", "range_start", "range_end"),
    "profiler": ("start", "stop", "init"),
}


# What other parts of PyTorch import from its compiled module; where CUDA was compiled in, it asks for a real GPU.
_BELOW: dict[str, Callable[..., Any]] = {
    "_cuda_getCurrentRawStream": lambda device: _streams[-1].cuda_stream,
    "_cuda_getDevice": _answer(0),
    "_cuda_setDevice": _nothing,
    "_cuda_synchronize": lambda: runtime().synchronize(),
    "_cuda_isCurrentStreamCapturing": _answer(False),
    "_cuda_getDeviceCount": _answer(1),
    "_cuda_hasPrimaryContext": _answer(True),
}


def answered(torch: ModuleType) -> frozenset[str]:
    return frozenset(_table(torch))


def present(torch: ModuleType) -> None:
    """Put the table in place, right after `import torch`."""
    from . import operators, saving, tensors

    cuda, table = torch.cuda, _table(torch)
    refused = {name: getattr(cuda, name, None) for name in cuda.__all__ if name not in table and name not in KEPT}
    for name, absent in refused.items():
        setattr(cuda, name, _refusing(name, absent))
    missing.refuse(
        {id(absent): getattr(cuda, name) for name, absent in refused.items()}, set(table), set(_BELOW), _refusing
    )
    for name, answer in table.items():
        setattr(cuda, name, _apart(answer))
    for name, answer in _accelerator(table).items() if hasattr(torch, "accelerator") else ():
        setattr(torch.accelerator, name, _apart(answer))
    for name in (name for name in KEPT if name.endswith("Tensor") and hasattr(torch, name)):
        setattr(cuda, name, _OlderType(name, (), {"__module__": "torch.cuda"}))
    for submodule in _OF_SUBMODULES:
        for name in set(vars(getattr(cuda, submodule))) & set(table):
            setattr(getattr(cuda, submodule), name, getattr(cuda, name))
    for submodule, names in _SILENT.items():
        for name in names:
            if hasattr(getattr(cuda, submodule), name):
                setattr(getattr(cuda, submodule), name, _nothing)
    torch.Event, torch.Stream = Event, Stream  # type: ignore[attr-defined]
    torch.Generator = _generator_class(torch)  # type: ignore[attr-defined]
    for name, answer in _BELOW.items():
        setattr(torch._C, name, answer)
    torch.version.hip, torch.version.cuda = HIP_VERSION, None
    tensors.begin()
    operators.begin()
    saving.begin()
    atexit.register(_tell)


def _generator_class(torch: ModuleType) -> type:
    from .tensors import CPU, CUDA, is_cuda

    class Generator(torch._C.Generator):  # type: ignore[name-defined]
        """The host's numbers, whatever device they are for."""

        def __new__(cls, device: object = CPU) -> Any:
            made = super().__new__(cls, device=CPU)
            made._for_cuda = is_cuda(device)
            return made

        def __init__(self, device: object = CPU) -> None:
            pass

        @property
        def device(self) -> Any:
            return CUDA if self._for_cuda else CPU

    return Generator


def _tell() -> None:
    """What ran on device tensors beside the program's own kernels, for the reader of the records."""
    from .tensors import operations

    directory = os.environ.get("INTELLIPERF_TRACE_DIR")
    if directory and os.path.isdir(directory) and operations:
        with open(os.path.join(directory, f"torch-{os.getpid()}.json"), "w", encoding="utf-8") as file:
            json.dump({"operations": dict(operations.most_common())}, file)
