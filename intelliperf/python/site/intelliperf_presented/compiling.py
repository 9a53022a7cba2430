"""`torch.compile` on the presented device: inductor makes Triton kernels for it, as it would for a GPU.

A device tensor is one of the host to PyTorch, and so to inductor. Its own route to Triton for a CPU is taken, with our
driver and the chip's figures in place of a CPU's. Dynamo must not look into our function mode: what is compiled runs
without it, and allocates on the device.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

from . import clock, trials

_FIGURES = ("major", "regs_per_multiprocessor", "max_threads_per_multi_processor", "max_threads_per_block", "warp_size")

_LAUNCHERS = ("use_static_triton_launcher", "use_static_cuda_launcher")


def present_dynamo(module: ModuleType) -> None:
    """`torch._dynamo.eval_frame`: all that dynamo compiles passes through its contexts."""
    context = module._TorchDynamoContext
    enter = context.__call__

    def entered(self: Any, function: Any) -> Any:
        made = enter(self, function)
        return made if isinstance(function, _modules()) or not callable(made) else _without_mode(made)

    context.__call__ = entered


def _modules() -> tuple[type, ...]:
    import torch

    return (type, torch.nn.Module)


def _without_mode(compiled: Any) -> Any:
    import torch
    from torch.overrides import _pop_mode_temporarily

    from . import memory, tensors

    @functools.wraps(compiled)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not isinstance(torch.overrides._get_current_function_mode(), tensors.Presented):
            return compiled(*args, **kwargs)
        given = list(tensors._tensors((*args, *kwargs.values())))
        device = not given or any(tensors.on_device(tensor) for tensor in given)
        import torch._inductor.config as settings

        for name in _LAUNCHERS:  # of compiled C++, for a GPU that is there
            if hasattr(settings, name):
                setattr(settings, name, False)
        with _pop_mode_temporarily(), memory.on_device(device), _no_accelerator(), _autocasting(device):
            before, settings.cpu_backend = settings.cpu_backend, "triton" if device else "cpp"
            try:
                return compiled(*args, **kwargs)
            finally:
                settings.cpu_backend = before

    return call


_for_device = [False]  # whether what is compiled now works on device tensors


@contextlib.contextmanager
def _autocasting(device: bool) -> Iterator[None]:
    """What the program casts on its GPU is cast on the host, where its tensors are to PyTorch."""
    import torch

    cast = device and torch.is_autocast_enabled("cuda")
    outer = torch.autocast("cpu", torch.get_autocast_dtype("cuda")) if cast else contextlib.nullcontext()
    before, _for_device[0] = _for_device[0], device
    try:
        with outer:
            yield
    finally:
        _for_device[0] = before


def present_contexts(module: ModuleType) -> None:
    """`torch._dynamo.variables.ctx_manager`: the same for `torch.autocast` within what is compiled."""
    import torch

    variable = module.AutocastModeVariable
    of_program = variable.create

    def create(*args: Any, **kwargs: Any) -> Any:
        made = of_program(*args, **kwargs)
        kind, dtype, *rest = made.target_values
        if kind == "cuda" and _for_device[0]:
            made.target_values = ["cpu", dtype or torch.get_autocast_dtype("cuda"), *rest]
        return made

    variable.create = staticmethod(create)


@contextlib.contextmanager
def _no_accelerator() -> Iterator[None]:
    """What dynamo compiles is the host's: it may not guard or enter an accelerator's stream for it."""
    import torch

    accelerator = getattr(torch, "accelerator", None)
    if accelerator is None:
        yield
        return
    before, accelerator.is_available = accelerator.is_available, lambda: False
    try:
        yield
    finally:
        accelerator.is_available = before


def present_fakes(module: ModuleType) -> None:
    """`torch._subclasses.fake_tensor`, which expects guards of a GPU's compiled part wherever there is a GPU."""
    import torch

    torch._C._ensureCUDADeviceGuardSet()
    if torch._C._has_cuda:
        return
    # A PyTorch for CPUs ends the process where a fake tensor on a GPU needs gradients: it becomes one of the host.
    convert = module.FakeTensorConverter.from_real_tensor

    @functools.wraps(convert)
    def from_real_tensor(*args: Any, **kwargs: Any) -> Any:
        from torch.overrides import _get_current_function_mode, _pop_mode_temporarily

        from . import tensors

        if not isinstance(_get_current_function_mode(), tensors.Presented):
            return convert(*args, **kwargs)
        with _pop_mode_temporarily():
            return convert(*args, **kwargs)

    module.FakeTensorConverter.from_real_tensor = from_real_tensor


def present_hints(module: ModuleType) -> None:
    """`torch._inductor.runtime.hints`: what a kernel's configuration is chosen by."""
    properties = module.DeviceProperties
    of_hardware = properties.create

    def create(device: Any) -> Any:
        if device.type != "cpu":
            return of_hardware(device)
        import torch

        known = torch.cuda.get_device_properties(0)
        return properties(
            type="hip",
            index=0,
            multi_processor_count=known.multi_processor_count,
            cc=known.gcnArchName,
            **{name: getattr(known, name, None) for name in _FIGURES if name in properties._fields},
        )

    properties.create = staticmethod(create)


def present_helpers(module: ModuleType) -> None:
    """`torch._inductor.runtime.triton_helpers`: the driver is ours already."""
    module.set_driver_to_cpu = module.set_driver_to_gpu = lambda: None  # type: ignore[attr-defined]


def present_benchmarking(module: ModuleType) -> None:
    """`torch._inductor.runtime.benchmarking`: by the modelled clock, and not counted."""

    def benchmark(self: Any, fn: Any, fn_args: Any = (), fn_kwargs: Any = None, *_: Any, **__: Any) -> float:
        with trials.of_time():
            return clock.modelled_ms(lambda: fn(*(fn_args or ()), **(fn_kwargs or {})))

    for name in ("benchmark", "benchmark_gpu", "benchmark_cpu"):
        for kind in vars(module).values():
            if isinstance(kind, type) and name in vars(kind):
                setattr(kind, name, benchmark)


def present_code(module: ModuleType) -> None:
    """`torch._inductor.codegen.triton`: inductor's word on which lines of the model a kernel was made from."""
    scheduling = module.TritonScheduling
    define = scheduling.define_kernel

    def defined(self: Any, source: str, schedule: Any, *more: Any) -> Any:
        name = define(self, source, schedule, *more)
        _log(str(name), list(dict.fromkeys(_lines(schedule))))
        return name

    scheduling.define_kernel = defined


def _lines(schedule: Any) -> Iterable[str]:
    """file:line of the innermost frame of the program's own, of each operation that a kernel was made from."""
    from .variants import is_programs_own

    for node in schedule if isinstance(schedule, (list, tuple)) else ():
        for origin in sorted(getattr(getattr(node, "node", None), "origins", ()), key=str):
            frames = [line.strip() for line in str(origin.meta.get("stack_trace") or "").splitlines()]
            places = [
                frame.split('"')[1::2] + frame.split(", line ")[1:] for frame in frames if frame.startswith("File ")
            ]
            own = [(file, rest.split(",")[0]) for file, rest in places if is_programs_own(file)]
            if own:
                yield f"{own[-1][0]}:{own[-1][1]}"


def _log(kernel: str, lines: list[str]) -> None:
    path = os.environ.get("INTELLIPERF_GENERATED_LOG")
    if path:
        with open(path, "a", encoding="utf-8", errors="surrogateescape") as log:
            log.write(json.dumps({"kernel": kernel, "lines": lines}) + "\n")
