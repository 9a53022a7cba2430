"""Does something to a module right after the program has imported it, and before the program continues."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType


def _present_triton(module: ModuleType) -> None:
    from . import driver

    driver.present(module)


def _prepare_torch() -> None:
    from . import memory

    memory.stand_before_torch()


def _present_torch(module: ModuleType) -> None:
    from . import surface

    surface.present(module)


def _present_groups(module: ModuleType) -> None:
    from . import surface

    surface.present_groups(module)


def _of_compiler(function: str) -> Callable[[ModuleType], None]:
    def present(module: ModuleType) -> None:
        from . import compiling

        getattr(compiling, function)(module)

    return present


# Module → what to do before it is loaded, and once it is.
_BEFORE: dict[str, Callable[[], None]] = {"torch": _prepare_torch}
_AFTER: dict[str, Callable[[ModuleType], None]] = {
    "triton": _present_triton,
    "torch": _present_torch,
    "torch.distributed.distributed_c10d": _present_groups,
    "torch._subclasses.fake_tensor": _of_compiler("present_fakes"),
    "torch._dynamo.eval_frame": _of_compiler("present_dynamo"),
    "torch._dynamo.variables.ctx_manager": _of_compiler("present_contexts"),
    "torch._inductor.runtime.hints": _of_compiler("present_hints"),
    "torch._inductor.runtime.triton_helpers": _of_compiler("present_helpers"),
    "torch._inductor.runtime.benchmarking": _of_compiler("present_benchmarking"),
    "torch._inductor.codegen.triton": _of_compiler("present_code"),
}


class _Watching(Loader):
    def __init__(self, loader: Loader, after: Callable[[ModuleType], None]) -> None:
        self._loader = loader
        self._after = after

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        if module.__spec__ is not None:
            module.__spec__.loader = module.__loader__ = self._loader
        self._after(module)

    def __getattr__(self, name: str) -> object:  # get_data, get_source, is_package, …
        return getattr(self._loader, name)


class _Watch(MetaPathFinder):
    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in _AFTER:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return None
        if name in _BEFORE:
            _BEFORE[name]()
        spec.loader = _Watching(spec.loader, _AFTER[name])
        return spec


def watch() -> None:
    sys.meta_path.insert(0, _Watch())
