"""What Triton asks of a driver: code objects that Triton compiled itself, run by the emulator's runtime library.

Imported once Triton is there.
"""

from __future__ import annotations

import sys
from typing import Any

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase
from triton.runtime import _allocation

from . import arguments, clock, keeping, specialising, trials
from .replaying import marked
from .runtime import MEMORY_CLOCK_KHZ, bus_bits, chip, runtime, word
from .variants import Variant

_MOST_THREADS = 1024
_latest: list[Variant] = []  # of the launcher that was made last: Triton makes it right before it loads the binary


class Utils:
    """What Triton asks of the machine below a driver."""

    def get_device_properties(self, device: int) -> dict[str, Any]:
        known = chip()
        return {
            "max_shared_mem": known["lds_bytes_per_block"],
            "max_num_regs": known["registers_per_compute_unit"],
            "multiprocessor_count": known["compute_units"],
            "sm_clock_rate": int(float(known["clock_hz"]) / 1000),
            "mem_clock_rate": MEMORY_CLOCK_KHZ,
            "mem_bus_width": bus_bits(),
            "arch": known["architecture"],
            "warpSize": known["wave_size"],
            "max_threads_per_sm": int(known["max_waves_per_compute_unit"]) * int(known["wave_size"]),
            "cooperativeLaunch": 1,
        }

    def load_binary(self, name: str, kernel: bytes, shared: int, device: int) -> tuple[int, int, int, int, int]:
        """Module, function, registers, spills and the most threads of a block."""
        variant = _latest[-1]
        if not specialising.under_way():
            variant.log(trials.under_way(), specialising.files())
        described = variant.module(specialising.ttir())
        digest = keeping.keep(name, kernel, described)
        specialising.kept(digest)
        native = runtime()
        module = native.load(kernel, marked(described, name, digest))
        function = native.function(module, name)
        return module, function, native.registers(function), native.spilled_words(function), _MOST_THREADS

    def unload_module(self, module: int) -> None:
        """Kept: records name it until the program ends."""


class Launcher:
    """Made once per specialisation; called for each launch."""

    def __init__(self, source: Any, metadata: Any) -> None:
        self._variant = Variant(source, metadata)
        _latest[:] = [self._variant]
        self._threads = metadata.num_warps * metadata.warp_size
        self._lds = metadata.shared
        if getattr(metadata, "num_ctas", 1) > 1:
            raise NotImplementedError("num_ctas > 1: clusters are not supported on AMD GPUs")
        self._scratch = (
            (getattr(metadata, "global_scratch_size", 0), getattr(metadata, "global_scratch_align", 1)),
            (getattr(metadata, "profile_scratch_size", 0), getattr(metadata, "profile_scratch_align", 1)),
        )

    def __call__(
        self,
        grid_x: int,
        grid_y: int,
        grid_z: int,
        stream: int,
        function: int,
        packed_metadata: Any,
        launch_metadata: Any,
        enter_hook: Any,
        exit_hook: Any,
        *values: Any,
    ) -> None:
        if enter_hook is not None:
            enter_hook(launch_metadata)
        grid = (grid_x, grid_y, grid_z)
        if grid_x * grid_y * grid_z > 0:
            self._launch(grid, stream, function, values)
        if exit_hook is not None:
            exit_hook(launch_metadata)

    def _launch(self, grid: tuple[int, int, int], stream: int, function: int, values: tuple[Any, ...]) -> None:
        device = runtime()
        given = []
        for number, (value, kind, name) in enumerate(arguments.flat(values, self._variant.types, self._variant.names)):
            _refuse_host_memory(value, kind, number, name)
            given.append(arguments.packed(value, kind))
        kept = self._scratch_memory(grid, stream)
        given += [word(arguments.address(memory)) for memory in kept]
        device.launch(function, grid, self._threads, self._lds, stream, given)

    def _scratch_memory(self, grid: tuple[int, int, int], stream: int) -> tuple[Any, Any]:
        """Memory that the kernel wants beside its arguments, from the allocators that the program has set."""
        programs = grid[0] * grid[1] * grid[2]
        found: list[Any] = []
        for name, (size, alignment) in zip(("_allocator", "_profile_allocator"), self._scratch):
            holder: Any = getattr(_allocation, name, None)
            allocate = holder.get() if hasattr(holder, "get") else holder
            found.append(allocate(size * programs, alignment, stream) if size and allocate else None)
        return found[0], found[1]


def _refuse_host_memory(value: Any, kind: str, number: int, name: str) -> None:
    """Raises `ValueError` where a pointer leads into memory of the host, as Triton's own launcher does."""
    if not kind.startswith("*") or value is None or isinstance(value, int):
        return
    pointer = arguments.address(value)
    if pointer and not runtime().on_device(pointer) and getattr(value, "numel", lambda: 1)():
        raise ValueError(f"Pointer argument (at {number}, {name}) cannot be accessed from Triton (cpu tensor?)")


class PresentedDriver(DriverBase):
    """See `triton.backends.driver.GPUDriver`; without PyTorch where the program has none."""

    def __init__(self) -> None:
        super().__init__()
        self.utils = Utils()
        self.launcher_cls = Launcher

    @staticmethod
    def is_active() -> bool:
        return True

    def map_python_to_cpp_type(self, ty: str) -> str:
        return ty

    def get_current_target(self) -> Any:
        return GPUTarget("hip", chip()["architecture"], chip()["wave_size"])

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: int) -> None:
        pass

    def get_current_stream(self, device: int | None = None) -> int:
        torch = sys.modules.get("torch")
        return int(torch.cuda.current_stream().cuda_stream) if torch is not None else 0

    def get_device_capability(self, device: int = 0) -> tuple[int, int]:
        return int(chip()["compute_capability_major"]), int(chip()["compute_capability_minor"])

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cuda", 0)

    def get_device_interface(self) -> Any:
        import torch

        return torch.cuda

    def get_benchmarker(self) -> Any:
        return clock.do_bench

    def get_empty_cache_for_benchmark(self) -> Any:
        import torch

        return torch.empty(1, dtype=torch.int, device="cuda")  # the modelled caches begin cold

    def clear_cache(self, cache: Any) -> None:
        pass

    def assemble_tensormap_to_arg(self, tensormaps_info: Any, args: Any) -> Any:
        return args

    def allocate_default_profile_scratch(self, size: int, alignment: int, stream: Any) -> Any:
        import torch

        return torch.zeros(size, dtype=torch.int8, device="cuda")
