"""Python programs with Triton kernels on the emulator, as a user runs them."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

_FINDER = Path(__file__).resolve().parents[1] / "triton" / "interpreters.py"
_DEADLINE_S = 120

# Without PyTorch: memory of the runtime's own API, behind what Triton asks of a pointer.
ARRAYS = """
import ctypes, os, struct
class Array:
    dtype = "fp32"
    def __init__(self, values):
        self.count, self.pointer = len(values), ctypes.c_void_p()
        self.native = ctypes.CDLL(os.environ["INTELLIPERF_RUNTIME"])
        self.native.hipMalloc(ctypes.byref(self.pointer), ctypes.c_size_t(4 * self.count))
        ctypes.memmove(self.pointer.value, struct.pack(f"{self.count}f", *values), 4 * self.count)
    def data_ptr(self):
        return self.pointer.value
    def values(self):
        return struct.unpack(f"{self.count}f", ctypes.string_at(self.pointer.value, 4 * self.count))
"""
SUM = """
import triton, triton.language as tl
from arrays import Array

@triton.jit
def part(x, total, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < count, other=0.0)
    tl.atomic_add(total, tl.sum(value))

total = Array([0.0])
part[(8,)](Array([1.0] * 1000), total, 1000, BLOCK=128)
assert total.values() == (1000.0,), total.values()
"""


def interpreter(*modules: str) -> str:
    specification = importlib.util.spec_from_file_location("interpreters", _FINDER)
    assert specification is not None and specification.loader is not None
    finder = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(finder)
    found: str = finder.python_with(*modules)
    return found


def emulated(project: Path, *command: str) -> tuple[int, str, str]:
    argv = [sys.executable, "-m", "intelliperf", "emulate", "--json", "--", *command]
    done = subprocess.run(argv, cwd=project, capture_output=True, text=True, timeout=_DEADLINE_S, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.triton
def test_a_kernel_runs_as_triton_compiled_it_and_its_lines_are_the_programs_own(tmp_path: Path) -> None:
    (tmp_path / "arrays.py").write_text(ARRAYS)
    (tmp_path / "sum.py").write_text(SUM)
    status, out, err = emulated(tmp_path, interpreter("triton"), "sum.py")
    assert status == 0, err
    (kernel,) = json.loads(out)["kernels"]
    atomics = [line for line in kernel["lines"] if line["access"] in ("atomic", "reduction")]
    line = 1 + SUM.splitlines().index("    tl.atomic_add(total, tl.sum(value))")
    assert [(Path(one["file"]).name, one["line"]) for one in atomics] == [("sum.py", line)]


@pytest.mark.triton
def test_a_program_that_fills_the_gpu_by_its_kernels_registers_is_told_them(tmp_path: Path) -> None:
    (tmp_path / "arrays.py").write_text(ARRAYS)
    launch = "part[(8,)](Array([1.0] * 1000), total, 1000, BLOCK=128)"
    asked = f"""compiled = part.warmup(Array([1.0] * 1000), total, 1000, BLOCK=128, grid=(1,))
compiled._init_handles()
assert compiled.n_spills == 0
waves = 512 // compiled.n_regs
{launch}"""
    (tmp_path / "sum.py").write_text(SUM.replace(launch, asked))
    status, _, err = emulated(tmp_path, interpreter("triton"), "sum.py")
    assert status == 0, err


@pytest.mark.triton
def test_a_kernel_that_does_not_compile_is_told_in_tritons_words(tmp_path: Path) -> None:
    (tmp_path / "arrays.py").write_text(ARRAYS)
    (tmp_path / "sum.py").write_text(SUM.replace("tl.sum(value)", "tl.sum(nothing)"))
    status, _, err = emulated(tmp_path, interpreter("triton"), "sum.py")
    assert status == 1
    assert "sum.py fails" in err and "nothing is not defined" in err


@pytest.mark.triton
def test_an_instruction_that_cannot_run_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "arrays.py").write_text(ARRAYS)
    unknown = 'value = tl.inline_asm_elementwise("v_clrexcp\\nv_mov_b32 $0, $1", "=v,v", [value], tl.float32, False, 1)'
    source = SUM.replace("    tl.atomic_add", f"    {unknown}\n    tl.atomic_add")
    (tmp_path / "sum.py").write_text(source)
    status, _, err = emulated(tmp_path, interpreter("triton"), "sum.py")
    line = 1 + source.splitlines().index(f"    {unknown}")
    assert status == 1
    assert "instruction not implemented: 'v_clrexcp" in err and f"at sum.py:{line} (" in err, err


@pytest.mark.torch
def test_derivatives_lie_where_their_tensors_do(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(
        """
import torch, triton, triton.language as tl

@triton.jit
def twice(x, y, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)

def doubled(x):
    y = torch.empty_like(x)
    twice[(1,)](x, y, x.numel(), BLOCK=64)
    return y

class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return doubled(x)
    @staticmethod
    def backward(ctx, gradient):
        return doubled(gradient.contiguous())

def host():
    return torch.randn(40, requires_grad=True)

def device():
    return torch.randn(40, device="cuda", requires_grad=True)

here, there = host(), device()
(here * 3).sum().backward()
assert not here.grad.is_cuda
here = host()
Doubled.apply(here.cuda() * 3).sum().backward()
assert not here.grad.is_cuda and (here.grad == 6).all()
Doubled.apply(there * 3).cpu().sum().backward()
assert there.grad.is_cuda and (there.grad == 6).all()
here, there = host(), device()
(Doubled.apply((here * 2).cuda() * there).cpu() * here).sum().backward()
assert there.grad.is_cuda and torch.allclose(here.grad, 8 * here.detach() * there.detach().cpu())
scale = torch.tensor([3.0], device="cuda", requires_grad=True)
(scale * 2).sum().backward()
assert scale.is_leaf and scale.grad.is_cuda
(gradient,) = torch.autograd.grad(Doubled.apply((here * here).cuda()).sum(), here)
assert torch.allclose(gradient, 4 * here.detach())
"""
    )
    status, _, err = emulated(tmp_path, interpreter("torch"), "app.py")
    assert status == 0, err


@pytest.mark.triton
def test_a_program_without_a_kernel_says_so(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("import triton\n")
    status, _, err = emulated(tmp_path, interpreter("triton"), "app.py")
    assert status == 1 and "launched no Triton kernel" in err


@pytest.mark.torch
def test_launches_that_tune_are_not_counted_and_tensors_say_where_they_are(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(
        """
import torch, triton, triton.language as tl

@triton.autotune(configs=[triton.Config({"BLOCK": b}) for b in (64, 256)], key=["n"])
@triton.jit
def twice(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)

x = torch.randn(1000, device="cuda", requires_grad=True)
y = torch.empty_like(x)
assert x.is_cuda and y.device == torch.device("cuda", 0) and x.cpu().device.type == "cpu"
twice[lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)](x.detach(), y, 1000)
assert torch.equal(y, x.detach() * 2)
(x * 3).sum().backward()
assert x.grad.is_cuda
square = torch.rand(8, 8, device="cuda")
with torch.autocast("cuda", dtype=torch.float16):
    product = torch.nn.functional.linear(square, square) @ square
    assert product.dtype == torch.float16 and product.is_cuda and product.softmax(-1).dtype == torch.float32
    assert (product + 1).dtype == torch.float16 and (torch.rand(2, 2) @ torch.rand(2, 2)).dtype == torch.float32
assert torch.allclose(product.float(), square @ square.T @ square, rtol=1e-2)
assert (square @ square).dtype == torch.float32
rows = torch.randn(2048, 64, dtype=torch.float16, device="cuda")
scale, bias = (torch.ones(64, dtype=torch.float16, device="cuda", requires_grad=True) for _ in range(2))
normal = torch.nn.functional.layer_norm(rows, (64,), scale, bias)
normal.backward(rows)
assert normal.dtype == bias.grad.dtype == torch.float16 and normal.is_cuda
assert torch.allclose(bias.grad.float(), rows.float().sum(0), atol=0.2, rtol=0)
assert "bytes free" in torch.cuda.memory_summary()
side = torch.cuda.Stream(priority=torch.cuda.Stream.priority_range()[1])
square.record_stream(side)
try:
    x + torch.ones(1000)
except RuntimeError as error:
    assert "same device" in str(error)
else:
    raise SystemExit("mixed")
try:
    torch.cuda.CUDAGraph()
except RuntimeError as error:
    assert "CUDAGraph is not presented" in str(error)
"""
    )
    status, out, err = emulated(tmp_path, interpreter("triton", "torch"), "app.py")
    assert status == 0, err
    (kernel,) = json.loads(out)["kernels"]
    assert kernel["dispatches"] == 1


@pytest.mark.torch
def test_every_public_name_of_torchs_gpu_is_answered_kept_or_refused(tmp_path: Path) -> None:
    (tmp_path / "names.py").write_text(
        """
import torch, triton
from intelliperf_presented import surface
known = surface.answered(torch) | surface.KEPT
refused = [name for name in torch.cuda.__all__ if name not in known]
for name in refused:
    try:
        getattr(torch.cuda, name)()
    except surface.NotPresented as error:
        assert name in str(error)
    else:
        raise SystemExit(f"{name} neither works nor says so")
assert torch.cuda.is_available() and torch.cuda.device_count() == 1 and torch.version.hip
raise SystemExit(f"refused by name: {len(refused)}")
"""
    )
    _, _, err = emulated(tmp_path, interpreter("triton", "torch"), "names.py")
    assert "refused by name: " in err


@pytest.mark.torch
def test_a_gpu_by_its_general_names_and_a_compiled_function(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(
        """
import torch
assert torch.accelerator.is_available() and torch.accelerator.current_accelerator().type == "cuda"
assert torch.accelerator.device_count() == 1 and torch.accelerator.current_device_index() == 0
x = torch.randn(1000, device=torch.accelerator.current_accelerator())
torch.accelerator.synchronize()
assert x.is_cuda and not isinstance(x, torch.cuda.CUDAGraph)
y = torch.compile(lambda a: torch.relu(a) * 2 + 1)(x)
assert torch.allclose(y, torch.relu(x) * 2 + 1)
"""
    )
    status, out, err = emulated(tmp_path, interpreter("triton", "torch"), "app.py")
    assert status == 0, err
    (kernel,) = json.loads(out)["kernels"]
    assert kernel["dispatches"] == 1


@pytest.mark.slow
@pytest.mark.torch
def test_what_is_compiled_is_cast_as_the_program_asks_around_it_and_within(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(
        """
import torch
torch.manual_seed(0)
model = torch.nn.Linear(32, 16).cuda()
x = torch.randn(8, 32, device="cuda")
plain = model(x)

def within(x):
    with torch.autocast("cuda", dtype=torch.bfloat16):
        y = model(x)
    return y, model(x)

def around(x):
    return torch.relu(model(x))

cast, again = torch.compile(within)(x)
assert cast.dtype is torch.bfloat16 and again.dtype is torch.float32 and cast.is_cuda
assert torch.allclose(cast.float(), plain, atol=0.05) and torch.allclose(again, plain, atol=1e-5)
compiled = torch.compile(around)
with torch.autocast("cuda", dtype=torch.float16):
    assert compiled(x).dtype is torch.float16
assert compiled(x).dtype is torch.float32
"""
    )
    status, _, err = emulated(tmp_path, interpreter("triton", "torch"), "app.py")
    assert status == 0, err


@pytest.mark.torch
def test_devices_by_number_operators_for_cuda_older_types_and_files_of_tensors(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(
        """
import io, torch, triton, triton.language as tl

@triton.jit
def add(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)

@torch.library.custom_op("ours::more", mutates_args=(), device_types="cuda")
def more(a: torch.Tensor) -> torch.Tensor:
    assert a.is_cuda
    out = torch.empty(a.shape, device=a.device)
    add[(1,)](a, out, a.numel(), BLOCK=64)
    return out

@more.register_kernel("cpu")
def _(a):
    return a + 2

x = torch.ones(64, device=torch.cuda.current_device())
assert x.is_cuda and torch.device(0) == x.device and torch.nn.Linear(2, 2).to(0).weight.is_cuda
assert more(x).sum() == 128 and more(x).is_cuda and more(torch.ones(2)).sum() == 6
assert x.type() == "torch.cuda.FloatTensor" and torch.ones(2).type() == "torch.FloatTensor"
assert x.type(torch.cuda.HalfTensor).dtype is torch.float16 and not x.type("torch.FloatTensor").is_cuda
assert isinstance(x, torch.cuda.FloatTensor) and not isinstance(torch.ones(2), torch.cuda.FloatTensor)
assert torch.cuda.LongTensor([1, 2]).is_cuda and torch.cuda.FloatTensor(3).shape == (3,)
assert torch.ones(2).type("torch.cuda.HalfTensor").is_cuda and x.type(torch.int32).is_cuda
assert torch.vmap(lambda a: a * 2)(x).is_cuda and torch.eye(3, device="cuda").to_sparse().is_cuda
assert torch.zeros_like(torch.ones(2), device="cuda").is_cuda and not torch.zeros_like(x, device="cpu").is_cuda
layer = torch.nn.Linear(2, 2).cuda()
layer(x[:2]).sum().backward()
torch.optim.AdamW(layer.parameters()).step()
with torch.cuda.device(x.device) as _, torch.cuda.device(0):
    assert torch.cuda.device(x.device).idx == 0
file = io.BytesIO()
torch.save({"of device": x, "of host": torch.ones(2)}, file)
both = (True, True)
for wanted, places in ((None, (True, False)), ("cuda", both), ("cpu", (False, False)), (x.device, both)):
    file.seek(0)
    loaded = torch.load(file, map_location=wanted)
    assert (loaded["of device"].is_cuda, loaded["of host"].is_cuda) == places and loaded["of device"].sum() == 64
with torch._subclasses.fake_tensor.FakeTensorMode():
    imagined = torch.empty(3, 4, device="cuda")
    assert (imagined @ imagined.t()).is_cuda and not imagined.cpu().is_cuda
more.register_fake(lambda a: torch.empty(a.shape, device=a.device))
more.register_autograd(lambda context, gradient: gradient)
assert set(torch.library.opcheck(more, (torch.ones(64, device="cuda", requires_grad=True),)).values()) == {"SUCCESS"}
assert torch.autograd.gradcheck(torch.sin, (torch.ones(3, dtype=torch.float64, device="cuda", requires_grad=True),))
try:
    torch.empty(1, device=1)
except RuntimeError as error:
    assert "invalid device ordinal" in str(error)
else:
    raise SystemExit("two GPUs")
"""
    )
    status, out, err = emulated(tmp_path, interpreter("triton", "torch"), "app.py")
    assert status == 0, err
    (kernel,) = json.loads(out)["kernels"]
    assert kernel["dispatches"] > 2


@pytest.mark.torch
def test_what_pytorch_lacks_without_cuda_says_so_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(
        """
import torch
from intelliperf_presented import surface
x = torch.ones(4, device="cuda")
calls = {
    "torch.cuda.nccl.version": torch.cuda.nccl.version,
    "torch.distributed's backend nccl": lambda: torch.distributed.init_process_group("nccl"),
    "torch.cuda.tunable.is_enabled": torch.cuda.tunable.is_enabled,
    "torch.cuda.memory._snapshot": torch.cuda.memory._snapshot,
    "torch.cuda.CUDAGraph": torch.cuda.graphs.CUDAGraph,
    "torch.nn.parallel.comm.scatter": lambda: torch.nn.DataParallel(torch.nn.Linear(4, 4).cuda())(x),
    "torch.cuda.gds.GdsFile": lambda: torch.cuda.gds.GdsFile("file", 0),
    "torch.cuda.GreenContext.create": lambda: torch.cuda.green_contexts.GreenContext.create(num_sms=8),
    "torch.cuda.jiterator": lambda: torch.cuda.jiterator._create_jit_fn("template<class T> T f(T a) {}")(x),
}
for name, call in calls.items():
    try:
        call()
    except surface.NotPresented as error:
        assert str(error).startswith(name), (name, str(error))
    else:
        raise SystemExit(f"{name} neither works nor says so")
assert x.share_memory_().is_cuda and x.is_shared()
described = x[::2].__cuda_array_interface__
assert described["data"] == (x.data_ptr(), False) and (described["shape"], described["strides"]) == ((2,), (8,))
assert not hasattr(torch.ones(4), "__cuda_array_interface__")
torch.backends.cuda.cufft_plan_cache.max_size = 7
assert (torch.backends.cuda.cufft_plan_cache.size, torch.backends.cuda.cufft_plan_cache.max_size) == (0, 7)
raise SystemExit("all named")
"""
    )
    _, _, err = emulated(tmp_path, interpreter("triton", "torch"), "app.py")
    assert "all named" in err


@pytest.mark.slow
@pytest.mark.torch
def test_descriptors_warp_specialised_loops_and_gluon_kernels_run(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(
        """
import torch, triton, triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.tools.tensor_descriptor import TensorDescriptor

@triton.jit
def of_host(a, b, M: tl.constexpr):
    b.store([tl.program_id(0) * M, 0], a.load([tl.program_id(0) * M, 0]) * 2)

@triton.jit
def of_device(a, b, rows, columns, M: tl.constexpr, N: tl.constexpr):
    of_a = tl.make_tensor_descriptor(a, [rows, columns], [columns, 1], [M, N])
    of_b = tl.make_tensor_descriptor(b, [rows, columns], [columns, 1], [M, N])
    of_b.store([tl.program_id(0) * M, 0], of_a.load([tl.program_id(0) * M, 0]) + 1)

@triton.jit
def specialised(a, b, n, B: tl.constexpr):
    acc = tl.zeros((B,), tl.float32)
    for i in tl.range(0, n, B, warp_specialize=True):
        acc += tl.load(a + i + tl.arange(0, B))
    tl.store(b + tl.arange(0, B), acc)

@gluon.jit
def one_more(a, b):
    layout: gl.constexpr = gl.BlockedLayout([1], [64], [4], [0])
    at = gl.arange(0, 256, layout=layout)
    gl.store(b + at, gl.load(a + at) + 1)

triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
x = torch.randn(50, 32, device="cuda")  # the last of four tiles is cut
y, z = torch.zeros_like(x), torch.zeros_like(x)
of_host[(4,)](TensorDescriptor.from_tensor(x, [16, 32]), TensorDescriptor.from_tensor(y, [16, 32]), 16)
of_device[(4,)](x, z, 50, 32, 16, 32)
assert torch.allclose(y, x * 2) and torch.allclose(z, x + 1)
sums, more = torch.zeros(64, device="cuda"), torch.zeros(256, device="cuda")
specialised[(1,)](x, sums, 1600, 64)
one_more[(1,)](x, more, num_warps=4)
assert torch.allclose(sums, x.flatten().view(25, 64).sum(0), atol=1e-4)
assert torch.allclose(more, x.flatten()[:256] + 1)
"""
    )
    status, out, err = emulated(tmp_path, interpreter("triton", "torch"), "app.py")
    assert status == 0, err
    assert len(json.loads(out)["kernels"]) == 4


LOOKS = """
import triton, triton.language as tl
from arrays import Array

@triton.jit
def looks(count, out):
    tl.atomic_add(count, 1.0)
    tl.store(out + tl.program_id(0), tl.load(count))

looks[(64,)](Array([0.0]), Array([0.0] * 64))
"""


@pytest.mark.triton
def test_a_plain_load_of_what_other_programs_add_to_atomically_is_a_race(tmp_path: Path) -> None:
    (tmp_path / "arrays.py").write_text(ARRAYS)
    (tmp_path / "looks.py").write_text(LOOKS)
    _, out, _ = emulated(tmp_path, interpreter("triton"), "looks.py")
    (note,) = json.loads(out)["notes"]
    assert "1 distinct race fault: race within a grid at looks.py:7" in note and "against looks.py:8" in note


IN_PLACE = """
import triton, triton.language as tl
from arrays import Array

@triton.jit
def scale(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at) * 2)

@triton.jit
def late(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x)
    tl.store(x, value + 1)
    tl.store(out + at, at + value)

@triton.jit
def two(wide, narrow, count, WIDE: tl.constexpr, NARROW: tl.constexpr):  # all waves store, of `wide`
    at, beside = tl.arange(0, WIDE), tl.arange(0, NARROW)
    w, n = tl.load(wide + at), tl.load(narrow + beside, mask=beside < count, other=0.0)
    tl.store(wide + at, w * 2)
    tl.store(narrow + beside, n * 3, mask=beside < count)

@triton.jit
def steers(wide, narrow, WIDE: tl.constexpr):  # whether they store depends on what they read
    at = tl.arange(0, WIDE)
    n = tl.load(narrow)
    tl.store(narrow, n + 1)
    if n > 0:
        tl.store(wide + at, at)

scale[(1,)](Array([1.0] * 64), BLOCK=64, num_warps=4)
two[(1,)](Array([1.0] * 256), Array([1.0] * 32), 20, WIDE=256, NARROW=32, num_warps=4)
steers[(1,)](Array([1.0] * 256), Array([1.0]), WIDE=256, num_warps=4)
late[(1,)](Array([1.0]), Array([0.0] * 256), BLOCK=256, num_warps=4)
"""


@pytest.mark.slow
@pytest.mark.triton
def test_waves_that_only_repeat_a_small_tiles_loads_race_where_they_store_what_comes_of_it(tmp_path: Path) -> None:
    (tmp_path / "arrays.py").write_text(ARRAYS)
    (tmp_path / "in_place.py").write_text(IN_PLACE)
    argv = [sys.executable, "-m", "intelliperf", "check", "--json", "--", interpreter("triton"), "in_place.py"]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=_DEADLINE_S, check=False)
    races = [one for one in json.loads(done.stdout)["defects"] if one["rule"] == "race"]
    assert {one["kernel"] for one in races} == {"late", "steers"}, races
    assert all("tl.debug_barrier()" in one["remedy"] for one in races)


@pytest.mark.triton
def test_a_kernel_that_leaves_its_memory_is_named_where_the_program_only_fails(tmp_path: Path) -> None:
    (tmp_path / "arrays.py").write_text(ARRAYS)
    (tmp_path / "sum.py").write_text(SUM.replace("tl.load(x + at,", "tl.load(x + at * 1000000,"))
    status, _, err = emulated(tmp_path, interpreter("triton"), "sum.py")
    assert status == 1
    assert "AssertionError" in err and "out-of-bounds fault: out-of-bounds at sum.py:8" in err


@pytest.mark.triton
def test_a_forked_child_that_launches_leaves_its_records(tmp_path: Path) -> None:
    (tmp_path / "arrays.py").write_text(ARRAYS)
    begins = SUM.index("total = ")
    child = "".join(f"    {line}\n" for line in SUM[begins:].splitlines())
    forks = f"import os\n{SUM[:begins]}if os.fork() == 0:\n{child}    os._exit(0)\nos.wait()\n"
    (tmp_path / "forks.py").write_text(forks)
    status, out, err = emulated(tmp_path, interpreter("triton"), "forks.py")
    assert status == 0, err
    assert [kernel["dispatches"] for kernel in json.loads(out)["kernels"]] == [1]


@pytest.mark.triton
def test_a_forked_child_of_who_has_used_the_gpu_is_refused(tmp_path: Path) -> None:
    (tmp_path / "arrays.py").write_text(ARRAYS)
    again = SUM.splitlines()[-2]
    (tmp_path / "forks.py").write_text(
        f"import os\n{SUM}\nif os.fork() == 0:\n    {again}\n_, ended = os.wait()\nexit(ended != 0)"
    )
    status, _, err = emulated(tmp_path, interpreter("triton"), "forks.py")
    assert status == 1 and "forked child cannot use the GPU" in err


SCALARS = """
import triton, triton.language as tl
from arrays import Array

@triton.jit
def total(x, out, count, EACH: tl.constexpr):
    for n in range(EACH):
        at = tl.program_id(0) * EACH + n
        if at < count:
            tl.atomic_add(out, tl.load(x + at))

out = Array([0.0])
total[(1250,)](Array([1.0] * 20000), out, 20000, EACH=16)
assert out.values() == (20000.0,)
"""


@pytest.mark.slow
@pytest.mark.triton
def test_numbers_that_a_scalar_load_fetched_are_followed(tmp_path: Path) -> None:
    (tmp_path / "arrays.py").write_text(ARRAYS)
    (tmp_path / "scalars.py").write_text(SCALARS)
    words = ["--backend", "emulator", "-f", "atomicContention", "--", interpreter("triton"), "scalars.py"]
    argv = [sys.executable, "-m", "intelliperf", *words]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=2 * _DEADLINE_S, check=False)
    assert done.returncode == 0 and "(triton_hoist_atomic): ACCEPTED" in done.stdout + done.stderr, done.stdout


PRINTS = """
import os, tempfile, triton, triton.language as tl
from arrays import Array

@triton.jit
def prints(x, y, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x + at)
    tl.device_print("half", value / 2)
    tl.device_print("lane", at * -1)
    tl.device_assert(value > 0, "is positive")
    tl.store(y + at, value)

out = os.dup(1)
with tempfile.TemporaryFile() as file:
    os.dup2(file.fileno(), 1)
    prints[(1,)](Array([i + 1.0 for i in range(64)]), Array([0.0] * 64), BLOCK=64, num_warps=1, debug=True)
    os.dup2(out, 1)
    file.seek(0)
    lines = file.read().decode().splitlines()
assert len(lines) == 128, lines[:3]
assert any("half: 31.500000" in line for line in lines), lines[:3]
assert any("lane: -63" in line for line in lines), lines[-3:]
"""


@pytest.mark.slow
@pytest.mark.triton
def test_what_a_kernel_prints_and_asserts_reaches_the_host(tmp_path: Path) -> None:
    (tmp_path / "arrays.py").write_text(ARRAYS)
    (tmp_path / "prints.py").write_text(PRINTS)
    status, out, err = emulated(tmp_path, interpreter("triton"), "prints.py")
    assert status == 0, err
    (kernel,) = json.loads(out)["kernels"]
    assert all(Path(one["file"]).name == "prints.py" for one in kernel["lines"]), "its own accesses alone"
    (tmp_path / "prints.py").write_text(PRINTS.replace("i + 1.0", "i + 0.0"))
    status, _, err = emulated(tmp_path, interpreter("triton"), "prints.py")
    assert status == 1
    assert "is positive" in err, err
