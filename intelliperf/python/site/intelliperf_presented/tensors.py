"""PyTorch's "cuda" on the presented device: a tensor is on it where its memory is.

A device tensor is an ordinary CPU tensor whose storage lies in the emulator's device memory. A function mode takes
"cuda" out of what the program asks of PyTorch, runs it on the host with results in device memory, and answers
questions about a tensor's device by its address. Automatic differentiation, modules and optimisers are PyTorch's own.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._device import _device_constructors

from . import autocast, memory, rounding
from .runtime import DEVICE_TO_DEVICE, DEVICE_TO_HOST, HOST_TO_DEVICE, runtime

CUDA, CPU = torch.device("cuda", 0), torch.device("cpu")
operations: Counter[str] = Counter()  # that ran on device tensors, for the report
_NO_WORK = frozenset(
    {
        *(
            "__get__",
            "__set__",
            "__delete__",
            "size",
            "stride",
            "dim",
            "numel",
            "nelement",
            "data_ptr",
            "is_contiguous",
        ),
        *("untyped_storage", "storage_offset", "element_size", "type", "__len__", "requires_grad_", "detach"),
    }
)


_WITH_VALUES = (torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc, torch.jagged)


def on_device(tensor: torch.Tensor) -> bool:
    """By its address; a tensor without elements is where it was made, which is not kept."""
    if tensor.layout is not torch.strided:
        return _parts_on_device(tensor)
    try:
        return memory.holds(tensor.untyped_storage().data_ptr())
    except (RuntimeError, NotImplementedError):  # no storage: fake, meta, functional
        functorch = torch._C._functorch
        return functorch.is_functorch_wrapped_tensor(tensor) and on_device(functorch.get_unwrapped(tensor))


def _parts_on_device(tensor: torch.Tensor) -> bool:
    if tensor.layout is torch.sparse_coo:
        return on_device(tensor._values())
    return tensor.layout in _WITH_VALUES and on_device(tensor.values())


def holds_any(values: Iterable[Any]) -> bool:
    """Is a tensor of the device among them?"""
    return any(on_device(tensor) for tensor in _tensors(values))


def is_cuda(device: object) -> bool:
    """Is the presented device meant? Raises `RuntimeError` for another GPU than the first."""
    if isinstance(device, torch.device):
        kind, index = device.type, device.index
    elif isinstance(device, str):
        kind, _, number = device.partition(":")
        index = int(number) if number.isdigit() else None
    elif isinstance(device, int) and not isinstance(device, bool):
        kind, index = "cuda", device
    else:
        return False
    if kind == "cuda" and index not in (None, 0):
        raise RuntimeError(f"CUDA error: invalid device ordinal: cuda:{index}; one GPU is presented, cuda:0")
    return kind == "cuda"


def _tensors(values: Iterable[Any]) -> Iterable[torch.Tensor]:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)


def _swapped(value: Any) -> Any:
    """Without the word cuda, which the PyTorch below cannot serve."""
    if isinstance(value, (torch.device, str)) and _names_cuda(value):
        return CPU
    return value


def _numbered(value: Any) -> Any:
    """A device that is given by its number, as one."""
    return CUDA if isinstance(value, int) and is_cuda(value) else value


def _names_cuda(value: object) -> bool:
    if isinstance(value, torch.device):
        return is_cuda(value)
    return isinstance(value, str) and (value == "cuda" or value.startswith("cuda:")) and is_cuda(value)


def transfer(tensor: torch.Tensor, to_device: bool, clone: bool = False) -> torch.Tensor:
    """The tensor in the other memory, by a copy that the runtime records; itself where it lies there already."""
    if on_device(tensor) == to_device and not clone:
        return tensor
    with memory.on_device(to_device):
        made = torch.empty_like(tensor, device=CPU)
    copy(made, tensor)
    return made


def copy(to: torch.Tensor, source: torch.Tensor) -> None:
    """What `to.copy_(source)` does, as one recorded copy where both are laid out alike."""
    ends = on_device(source), on_device(to)
    whole = (
        to.numel() > 0
        and to.dtype == source.dtype
        and to.shape == source.shape
        and to.stride() == source.stride()
        and _dense(to)
        and any(ends)
    )
    if not whole:
        to.detach().copy_(source.detach())
        return
    kind = {(False, True): HOST_TO_DEVICE, (True, False): DEVICE_TO_HOST, (True, True): DEVICE_TO_DEVICE}[ends]
    runtime().copy(to.data_ptr(), source.data_ptr(), to.numel() * to.element_size(), kind)


def _dense(tensor: torch.Tensor) -> bool:
    """Do its elements lie side by side, in whatever order of dimensions?"""
    expected = 1
    for size, stride in sorted(zip(tensor.shape, tensor.stride()), key=lambda pair: pair[1]):
        if size == 1:
            continue
        if stride != expected:
            return False
        expected *= size
    return True


class _Transfer(torch.autograd.Function):
    """`transfer` in a graph of derivatives: gradients go back to where the tensor came from."""

    backwards = 0  # so many in this process

    @staticmethod
    def forward(ctx: Any, tensor: torch.Tensor, to_device: bool) -> torch.Tensor:
        ctx.to_device = to_device
        return transfer(tensor.detach(), to_device, clone=True)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        _Transfer.backwards += 1
        if not ctx.to_device:
            memory.set_on_device(1)  # what comes next is of the device; until the engine returns
        return moved(gradient, not ctx.to_device), None


def moved(tensor: torch.Tensor, to_device: bool) -> torch.Tensor:
    if on_device(tensor) == to_device or tensor.numel() == 0:
        return tensor
    if tensor.requires_grad and torch.is_grad_enabled():
        return _Transfer.apply(tensor, to_device)
    return transfer(tensor, to_device)


# ---- functions with a meaning of their own --------------------------------------------------------


def _get_device(tensor: torch.Tensor) -> torch.device:
    return CUDA if on_device(tensor) else torch.Tensor.device.__get__(tensor)


def _cuda(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    is_cuda(args[0] if args else kwargs.get("device", "cuda"))
    return moved(tensor, True)


def _cpu(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    return moved(tensor, False)


def _to(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """`Tensor.to` in all its forms: the other things first, then the device."""
    named = [*args, *kwargs.values()]
    device = next((value for value in named if isinstance(value, (str, torch.device, int)) and not _flag(value)), None)
    other = next((value for value in named if isinstance(value, torch.Tensor)), None)
    wanted = on_device(other) if other is not None else is_cuda(device) if device is not None else on_device(tensor)
    with memory.on_device(on_device(tensor)):
        if other is not None:
            kept = {key: value for key, value in kwargs.items() if key in ("copy", "memory_format")}
            below = tensor.to(other.dtype, **kept)
        else:
            rest = [value for value in args if value is not device and value is not None]
            kept = {key: value for key, value in kwargs.items() if key != "device" and value is not None}
            if rest and _flag(rest[0]):  # non_blocking and copy without a type before them
                kept, rest = {**kept, **({"copy": rest[1]} if len(rest) > 1 else {})}, []
            below = tensor.to(*rest, **kept) if rest or kept else tensor
    return moved(below, wanted)


def _flag(value: object) -> bool:
    return isinstance(value, bool)


def _copy_(tensor: torch.Tensor, source: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    if torch.is_grad_enabled() and (tensor.requires_grad or source.requires_grad):
        return tensor.copy_(source)
    copy(tensor, source)
    return tensor


def _type(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    """With the names of PyTorch's older types, of which each names a device as well."""
    wanted = args[0] if args else kwargs.pop("dtype", None)
    if wanted is None:
        return tensor.type().replace("torch.", "torch.cuda.", 1) if on_device(tensor) else tensor.type()
    name = wanted if isinstance(wanted, str) else ""
    if hasattr(wanted, "__name__"):
        name = f"{wanted.__module__}.{wanted.__name__}"
    with memory.on_device(on_device(tensor)):
        below = tensor.type(name.replace("torch.cuda.", "torch.") or wanted, *args[1:], **kwargs)
    return moved(below, name.startswith("torch.cuda.")) if name else below


def _numpy(tensor: torch.Tensor, *, force: bool = False) -> Any:
    if on_device(tensor) and not force:
        raise TypeError(
            "can't convert cuda:0 device type tensor to numpy. "
            "Use Tensor.cpu() to copy the tensor to host memory first."
        )
    return transfer(tensor.detach(), False).numpy() if on_device(tensor) else tensor.numpy(force=force)


def _array(tensor: torch.Tensor, *args: Any) -> Any:
    if on_device(tensor):
        _numpy(tensor)
    return torch.Tensor.__array__(tensor, *args)


def _interface(tensor: torch.Tensor) -> Any:
    """`__cuda_array_interface__`, of version 2 and with the address in device memory."""
    if not on_device(tensor):
        return _getter("__cuda_array_interface__")(tensor)
    if tensor.requires_grad:
        raise RuntimeError("Can't get __cuda_array_interface__ on Variable that requires grad; use var.detach()")
    of_host = tensor.numpy().__array_interface__
    return {**{key: of_host[key] for key in ("typestr", "shape", "strides", "data")}, "version": 2}


def _repr(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> str:
    text = torch.Tensor.__repr__(tensor, *args, **kwargs)
    if not on_device(tensor) or not text.endswith(")"):
        return text
    head, separator, tail = text.partition(", dtype=")  # PyTorch puts the device before the type
    if not separator:
        head, separator, tail = text.partition(", requires_grad=")
    if not separator:
        head, separator, tail = text.partition(", grad_fn=")
    return f"{head}, device='cuda:0'{separator}{tail}" if separator else f"{text[:-1]}, device='cuda:0')"


def _pinned(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    return tensor.clone()


def _shared(tensor: torch.Tensor, *args: Any) -> torch.Tensor:
    """A GPU's memory is held to be shared already."""
    return tensor if on_device(tensor) else tensor.share_memory_(*args)


def _recorded(tensor: torch.Tensor, stream: object) -> None:
    """In place of PyTorch's, which takes its own streams alone: what was issued is done before memory is used again."""


def _getter(name: str) -> Any:
    return getattr(torch.Tensor, name).__get__


_plans = {"max_size": 4096}  # of the FFTs that cuFFT would keep; the host keeps none

_SPECIAL: Mapping[Any, Callable[..., Any]] = {
    _getter("device"): _get_device,
    _getter("is_cuda"): on_device,
    _getter("is_cpu"): lambda tensor: not on_device(tensor),
    torch.Tensor.get_device: lambda tensor: 0 if on_device(tensor) else -1,
    torch.Tensor.cuda: _cuda,
    torch.Tensor.cpu: _cpu,
    torch.Tensor.to: _to,
    torch.Tensor.copy_: _copy_,
    torch.Tensor.type: _type,
    torch.Tensor.numpy: _numpy,
    torch.Tensor.__array__: _array,
    _getter("__cuda_array_interface__"): _interface,
    torch.Tensor.__repr__: _repr,
    torch.Tensor.pin_memory: _pinned,
    torch.Tensor.share_memory_: _shared,
    torch.Tensor.is_shared: lambda tensor: on_device(tensor) or tensor.is_shared(),
    torch.Tensor.is_pinned: lambda tensor, *args: False,
    torch._cufft_get_plan_cache_size: lambda device: 0,
    torch._cufft_get_plan_cache_max_size: lambda device: _plans["max_size"],
    torch._cufft_set_plan_cache_max_size: lambda device, size: _plans.update(max_size=size),
    torch._cufft_clear_plan_cache: lambda device: None,
}
# These only read or set what a device is called.
_ABOUT_DEVICES = frozenset({torch.device, torch._C._nn._parse_to, torch.set_default_device, torch.get_default_device})
# Made of the host's numbers: these are sent to the device.
_FROM_HOST = frozenset({torch.tensor, torch.as_tensor, torch.asarray})
# Made of one tensor and given a device: theirs where none is named.
_MAKES = frozenset(
    {
        *("new_empty", "new_zeros", "new_ones", "new_full", "new_tensor", "new_empty_strided"),
        *(f"{kind}_like" for kind in ("empty", "zeros", "ones", "full", "rand", "randn", "randint")),
    }
)


class Presented(TorchFunctionMode):
    """See the module."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        if "device" in kwargs:
            kwargs["device"] = _numbered(kwargs["device"])
        if _is_imagined((*args, *kwargs.values())):
            return func(*args, **kwargs)
        if func in _ABOUT_DEVICES:
            return func(*(_numbered(value) for value in args[:1]), *args[1:], **kwargs)
        special = _SPECIAL.get(func)
        if special is not None:
            return special(*args, **kwargs)
        if func in _FROM_HOST and kwargs.get("device") is not None and is_cuda(kwargs["device"]):
            with_gradient = bool(kwargs.pop("requires_grad", False))
            made = moved(func(*args, **{**kwargs, "device": CPU}), True)
            return made.requires_grad_() if with_gradient else made
        if kwargs.get("device") is None and func in _device_constructors():
            kwargs["device"] = torch.utils._device.CURRENT_DEVICE or CPU
        device = kwargs.get("device")
        below = {key: _swapped(value) for key, value in kwargs.items() if key != "pin_memory"}
        given = list(_tensors((*args, *kwargs.values())))
        name = getattr(func, "__name__", "")
        if device is not None and not given or name in _MAKES and device is not None:
            wanted = is_cuda(device)
        else:
            wanted = any(on_device(tensor) for tensor in given)
            if wanted and name not in _NO_WORK:
                _refuse_mixture(name, given)
        if not wanted and not any(_names_cuda(value) for value in args if isinstance(value, (str, torch.device))):
            return func(*args, **below)
        if name not in _NO_WORK:
            operations[name] += 1
        with memory.on_device():
            args, below = autocast.cast(name, args, below, given)
            return rounding.called(func, name, tuple(_swapped(value) for value in args), below)


def _is_imagined(values: Iterable[Any]) -> bool:
    """Is it about PyTorch's fake tensors? They have devices of their own, and no memory."""
    fake = sys.modules.get("torch._subclasses.fake_tensor")
    if fake is None:
        return False
    given = list(_tensors(values))
    if given:
        return any(isinstance(tensor, fake.FakeTensor) for tensor in given)
    return torch._C._get_dispatch_mode(torch._C._TorchDispatchModeKey.FAKE) is not None


_MAY_MIX = frozenset({"grad", "index", "index_put_", "index_put", "set_", "copy_", "backward"})


def _refuse_mixture(name: str, given: list[torch.Tensor]) -> None:
    """Raises `RuntimeError` as PyTorch does, but for numbers and where it takes indices from the host."""
    if name in _MAY_MIX or name.startswith("_") or "assert" in name:
        return
    if any(tensor.dim() > 0 and tensor.numel() > 0 and not on_device(tensor) for tensor in given):
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu! ({name})"
        )


def begin() -> None:
    """In this thread and all later ones."""
    Presented().__enter__()
    torch.Tensor.record_stream = _recorded
    run = threading.Thread.run

    def presented_run(thread: threading.Thread) -> None:
        with Presented():
            run(thread)

    threading.Thread.run = presented_run  # type: ignore[assignment, method-assign]
    _present_in_backward()


_INPUTS = 3  # of the engine's arguments, without the outputs: what `torch.autograd.grad` is asked for


def _present_in_backward() -> None:
    """The engine of derivatives calls the program's own functions, from within a function that is presented."""
    engine = torch.autograd.graph._engine_run_backward

    def presented_engine(outputs: Any, *args: Any, **kwargs: Any) -> Any:
        roots = [outputs] if isinstance(outputs, torch.Tensor) else list(outputs)
        begins_on_device = any(not isinstance(root, torch.Tensor) or on_device(root) for root in roots)
        before = _Transfer.backwards
        with memory.on_device(begins_on_device), Presented():
            found = engine(outputs, *args, **kwargs)
        if _Transfer.backwards == before:
            return found
        _take_home_gradients(roots)
        asked = args[_INPUTS] if len(args) > _INPUTS else ()
        sides = [on_device(one) if isinstance(one, torch.Tensor) else True for one in asked]
        return (
            tuple(
                moved(gradient, side) if isinstance(gradient, torch.Tensor) and not side else gradient
                for gradient, side in zip(found, sides)
            )
            if sides
            else found
        )

    torch.autograd.graph._engine_run_backward = torch.autograd._engine_run_backward = presented_engine


def _take_home_gradients(roots: Iterable[Any]) -> None:
    """Of tensors of the host, where what led to them lay on the device: the engine allocates as it did before."""
    waiting, seen = [root.grad_fn for root in roots if isinstance(root, torch.Tensor)], set()
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        waiting += [source for source, _ in node.next_functions]
        leaf = getattr(node, "variable", None)
        if leaf is not None and leaf.grad is not None and not on_device(leaf):
            leaf.grad = transfer(leaf.grad, False)
