"""Functions of PyTorch's GPU modules that would drive a real GPU: refused by name with CUDA compiled in or not."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest

from intelliperf.python.site.intelliperf_presented import missing

GPU = """
def version():
    return torch._C._nccl_version()

def has_version():
    return hasattr(torch._C, "_nccl_version")

def current():
    return torch._C._cuda_getDevice()

class File:
    def register(self):
        return torch._C._gds_register_handle(3)
"""


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """With all that its functions call: as where CUDA was compiled in."""
    module = ModuleType("torch.cuda.files")
    names = ("_nccl_version", "_cuda_getDevice", "_gds_register_handle")
    compiled = SimpleNamespace(**{name: lambda *args: "of a real GPU" for name in names})
    module.torch = SimpleNamespace(_C=compiled)  # type: ignore[attr-defined]
    exec(GPU, vars(module))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    missing.refuse({}, (), {"_cuda_getDevice"}, lambda name, absent: lambda *args: f"{name} refused")
    return module


def test_what_is_not_presented_is_refused_though_it_was_compiled_in(gpu: ModuleType) -> None:
    assert gpu.version() == "files.version refused"
    assert gpu.File("name") == "files.File refused"


def test_what_is_presented_and_what_looks_first_stays(gpu: ModuleType) -> None:
    assert gpu.current() == "of a real GPU" and gpu.has_version()
