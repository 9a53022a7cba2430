"""Matrix multiplication on the software gfx90a: every shape, on whole numbers, which every format holds exactly.

Where the elements lie follows the MI200 ISA reference; no hardware has confirmed it here.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from opcode_cases import Case, run

pytestmark = pytest.mark.gfx90a
# Name: side of the square, depth, blocks, neighbours along the depth in one lane.
_SHAPES = {
    **{f"f32_32x32x1{t}": (32, 1, 2, 1) for t in ("f32",)},
    **{f"f32_16x16x1{t}": (16, 1, 4, 1) for t in ("f32",)},
    **{f"f32_4x4x1{t}": (4, 1, 16, 1) for t in ("f32",)},
    "f32_32x32x2f32": (32, 2, 1, 1),
    "f32_16x16x4f32": (16, 4, 1, 1),
    **{
        f"f32_{m}x{m}x{k}{t}": (m, k, b, 4)
        for t in ("f16", "bf16_1k")
        for m, k, b in ((32, 4, 2), (16, 4, 4), (4, 4, 16))
    },
    **{f"f32_{m}x{m}x{k}{t}": (m, k, 1, 4) for t in ("f16", "bf16_1k") for m, k in ((32, 8), (16, 16))},
    **{
        f"f32_{m}x{m}x{k}bf16": (m, k, b, 2) for m, k, b in ((32, 2, 2), (16, 2, 4), (4, 2, 16), (32, 4, 1), (16, 8, 1))
    },
    **{f"i32_{m}x{m}x{k}i8": (m, k, b, 4) for m, k, b in ((32, 4, 2), (16, 4, 4), (4, 4, 16), (32, 8, 1), (16, 16, 1))},
    "f64_16x16x4f64": (16, 4, 1, 1),
    "f64_4x4x4f64": (4, 4, 4, 1),
}


def _packed(numbers: npt.NDArray[np.int64], name: str) -> npt.NDArray[np.uint32]:
    """Of lane and item to registers of lanes: items share words where they are narrower."""
    if name.endswith("f64"):
        return numbers.astype(np.float64).view(np.uint32).T.copy()
    if name.endswith("bf16") or name.endswith("bf16_1k"):
        halves = (numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
        return halves.view(np.uint32).T.copy()
    kinds = {"f32": np.float32, "f16": np.float16, "i8": np.int8}
    kind = next(kind for ending, kind in kinds.items() if name.endswith(ending))
    return numbers.astype(kind).view(np.uint32).T.copy()


def _laid_out(matrix: npt.NDArray[np.int64], together: int) -> npt.NDArray[np.int64]:
    """Blocks, index, depth to lane, item: the index runs fastest, then the block, then groups of the depth."""
    blocks, side, depth = matrix.shape
    grouped = matrix.reshape(blocks, side, depth // together, together)
    return grouped.transpose(2, 0, 1, 3).reshape(64, together)


def _results(registers: npt.NDArray[np.float64], side: int, blocks: int, doubles: bool) -> npt.NDArray[np.float64]:
    """Register, lane to blocks, row, column."""
    if doubles and side == 4:
        return registers.reshape(4, 4, 4).transpose(1, 0, 2)
    if doubles:
        return registers.reshape(4, 4, 16).reshape(1, 16, 16)
    groups = 64 // side if side != 4 else 1
    if side == 4:
        return registers.reshape(4, 16, 4).transpose(1, 0, 2)
    by_block = registers.reshape(blocks, side // 4 // groups, 4, groups, side)
    return by_block.transpose(0, 1, 3, 2, 4).reshape(blocks, side, side)


@pytest.mark.parametrize("name", sorted(_SHAPES))
def test_a_matrix_product_is_added_to_the_accumulators(name: str) -> None:
    side, depth, blocks, together = _SHAPES[name]
    generator = np.random.default_rng(1)
    a, b = (generator.integers(-9, 10, (blocks, side, depth)) for _ in range(2))
    rows = {}
    for first, matrix in ((10, a), (20, b)):
        for n, row in enumerate(_packed(_laid_out(matrix, together), name)):
            rows[first + n] = row
    doubles, items = name.startswith("f64"), side * side * blocks // 64
    kind = np.dtype(np.float64 if doubles else np.int32 if name.startswith("i32") else np.float32)
    start = generator.integers(-50, 50, (items, 64)).astype(kind)
    words = start.view(np.uint32).reshape(items, 64, kind.itemsize // 4)
    registers = items * kind.itemsize // 4
    for n in range(registers):
        rows[256 + n] = words[n // (kind.itemsize // 4), :, n % (kind.itemsize // 4)].copy()
    factor = next(iter(_packed(_laid_out(a, together), name).shape[:1]))
    first, second = (f"v{at}" if factor == 1 else f"v[{at}:{at + factor - 1}]" for at in (10, 20))
    target = f"a[0:{registers - 1}]"
    case = Case(
        f"v_mfma_{name} {target}, {first}, {second}, {target}", {}, rows, (), tuple(range(256, 256 + registers))
    )
    (outcome,) = run([case])
    assert not outcome.stopped, outcome.stopped
    found = np.stack([outcome.rows[256 + n] for n in range(registers)], axis=1).copy()
    values = found.reshape(64, items, kind.itemsize // 4).transpose(1, 0, 2).copy().view(kind)[:, :, 0]
    gained = _results((values - start).astype(np.float64), side, blocks, doubles)
    assert np.array_equal(gained, np.einsum("bik,bjk->bij", a, b))
