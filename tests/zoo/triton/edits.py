"""Edits of the Triton programs in `tests/triton/programs`: honest ones, and attacks on whoever judges them.

An attack names the words with which the edit gate refuses it; one without such words looks harmless in the text and
has to be caught by running it.
"""

# ruff: noqa: E501
from __future__ import annotations

from dataclasses import dataclass

from intelliperf.records import Declaration

_LOAD = "    values = tl.load(x_ptr + offsets, mask=mask, other=0)\n"
_ADD = "    tl.atomic_add(out_ptr, tl.sum(values))\n"


@dataclass(frozen=True)
class Edit:
    """`changes`: file → (old text, new text) in order; each old text occurs exactly once."""

    name: str
    changes: tuple[tuple[str, str, str], ...]
    kernel: str
    refused: str = ""
    declares: Declaration = Declaration()


def _in(file: str, kernel: str, name: str, *pairs: tuple[str, str], refused: str = "", geometry: bool = False) -> Edit:
    return Edit(name, tuple((file, *pair) for pair in pairs), kernel, refused, Declaration(geometry=geometry))


def _total(name: str, *pairs: tuple[str, str], refused: str = "", geometry: bool = False) -> Edit:
    return _in("contended_sum.py", "total", name, *pairs, refused=refused, geometry=geometry)


LOOP = """    acc = tl.zeros((BLOCK,), dtype=tl.int32)
    for block in range(pid, tl.cdiv(n, BLOCK), 256):
        offsets = block * BLOCK + tl.arange(0, BLOCK)
        acc += tl.load(x_ptr + offsets, mask=offsets < n, other=0)
"""
_OFFSETS = "    offsets = pid * BLOCK + tl.arange(0, BLOCK)\n    mask = offsets < n\n"

HONEST: tuple[Edit, ...] = (
    _total("one_program_per_many_blocks", (_OFFSETS + _LOAD + _ADD, (
        "    if pid >= 256:\n        return\n" + LOOP + "    tl.atomic_add(out_ptr, tl.sum(acc))\n"
    ))),
    _total("relaxed_order_of_a_sum", (_ADD, '    tl.atomic_add(out_ptr, tl.sum(values), sem="relaxed")\n')),
    _total("comments_and_layout", (_LOAD, "    # the block's numbers\n\n    values = tl.load(\n        x_ptr + offsets, "
                                  "mask=mask, other=0\n    )\n"), ("def main():\n", "# starts it all\ndef main():\n")),
    _total("larger_blocks", ("(triton.cdiv(n, 128),)](x, out, n, BLOCK=128)",
                             "(triton.cdiv(n, 2048),)](x, out, n, BLOCK=2048, num_warps=8)"), geometry=True),
    _total("helper_of_its_own", ("@triton.jit\ndef total", (
        "@triton.jit\ndef _block_of(x_ptr, start, n, BLOCK: tl.constexpr):\n    at = start + tl.arange(0, BLOCK)\n"
        "    return tl.load(x_ptr + at, mask=at < n, other=0)\n\n\n@triton.jit\ndef total"
    )), (_OFFSETS + _LOAD, "    values = _block_of(x_ptr, pid * BLOCK, n, BLOCK)\n")),
    _total("cache_and_eviction_hints", (_LOAD, _LOAD.replace("other=0", 'other=0, eviction_policy="evict_first"'))),
    _in("contended_lanes.py", "squares", "sum_of_lanes_first", (
        "    tl.atomic_add(out_ptr + tl.zeros((BLOCK,), dtype=tl.int32), x * x, mask=mask)\n",
        "    tl.atomic_add(out_ptr, tl.sum(tl.where(mask, x * x, 0.0), axis=0))\n",
    )),
    _in("contended_lanes.py", "squares", "block_as_a_variable", ("BLOCK = 256", "BLOCK = 1024"), geometry=True),
    _in("contended_max.py", "largest", "maximum_first", (
        "    target = out_ptr + group + cols * 0\n    tl.atomic_max(target, x, mask=keep)\n",
        "    tl.atomic_max(out_ptr + group, tl.max(x, axis=0))\n",
    )),
    Edit("helper_in_another_file", (("helpers.py", "    a = tl.load(a_ptr + at, mask=inside, other=0.0)\n", (
        '    a = tl.load(a_ptr + at, mask=inside, other=0.0, eviction_policy="evict_first")\n'
    )),), "scalar_product"),
    _in("dot_product.py", "scalar_product", "other_configurations", (
        '[triton.Config({"BLOCK": 256}, num_warps=4), triton.Config({"BLOCK": 128}, num_warps=2)]',
        '[triton.Config({"BLOCK": 4096}, num_warps=8), triton.Config({"BLOCK": 1024}, num_stages=1), '
        'triton.Config({"BLOCK": 512})]',
    ), geometry=True),
    _in("lane_chunks.py", "block_sums", "neighbours_read_neighbours", (
        "tl.arange(0, BLOCK) * CHUNK + k)", "k * BLOCK + tl.arange(0, BLOCK))"
    )),
    _in("complex_magnitude.py", "magnitude", "pairs_at_once", (
        "    re = tl.load(z_ptr + 2 * i, mask=ok, other=0.0)\n    im = tl.load(z_ptr + 2 * i + 1, mask=ok, other=0.0)\n",
        "    j = tl.program_id(0) * 2 * BLOCK + tl.arange(0, 2 * BLOCK)\n"
        "    both = tl.load(z_ptr + j, mask=j < 2 * n, other=0.0)\n    re, im = tl.split(tl.reshape(both, (BLOCK, 2)))\n",
    )),
    _in("product.py", "product", "other_layout_of_the_store", (
        "    tl.store(c, acc)\n", "    tl.store(c, tl.trans(tl.trans(acc)))\n"
    )),
    _in("unit_stride.py", "doubled", "versions_by_stride", (
        "    x = tl.load(x_ptr + m * stride_m + n * stride_n, mask=inside)\n",
        "    if stride_m == 1:\n        x = tl.load(x_ptr + m + n * stride_n, mask=inside)\n"
        "    else:\n        x = tl.load(x_ptr + m * stride_m + n * stride_n, mask=inside)\n",
    )),
)  # fmt: skip

_CLOCK = "    values += tl.extra.cuda.globaltimer().to(tl.int32) * 0\n"

REFUSED: tuple[Edit, ...] = (
    _total("import_in_the_body", (_LOAD, "    import os\n" + _LOAD), refused="an import"),
    _total("module_through_the_library", (_LOAD, _LOAD + '    tl.core.os.system("true")\n'), refused="tl.core|triton.language.core"),
    _total("class_of_a_constant", (_LOAD, _LOAD + "    BLOCK.__class__.__mro__\n"), refused="looks into __"),
    _total("look_up_by_a_name", (_LOAD, _LOAD + '    getattr(tl, "sto" + "re")(out_ptr, 0)\n'), refused="getattr"),
    _total("inline_assembly", (_LOAD, _LOAD + (
        '    values = tl.inline_asm_elementwise("", "=r,r", [values], tl.int32, True, 1)\n'
    )), refused="inline assembly"),
    _total("clock", (_LOAD, _LOAD + _CLOCK), refused="globaltimer"),
    _total("printing", (_LOAD, _LOAD + '    tl.static_print("PASS")\n'), refused="printing"),
    _total("monkey_patch", ("@triton.jit\ndef total", "tl.sum = lambda x: 0\n\n\n@triton.jit\ndef total"),
           refused="code outside kernels"),
    _total("patched_timer", ("def main():\n", "torch.cuda.synchronize = print\n\n\ndef main():\n"), refused="code outside kernels"),
    _total("default_that_runs", ("n, BLOCK: tl.constexpr):", 'n, BLOCK: tl.constexpr = print("x")):'),
           refused="code outside kernels"),
    _total("annotation_that_runs", ("def total(x_ptr,", "def total(x_ptr: exit(),"), refused="annotation"),
    _total("decorator", ("@triton.jit\ndef total", "@triton.jit(debug=False)\ndef total"), refused="code outside kernels"),
    _total("import_of_the_file", ("import triton\n", "import triton\nimport os\n"), refused="import"),
    _total("smaller_problem", ("n = 1_000_003", "n = 1_003"), refused="code outside kernels"),
    _total("smaller_problem_as_geometry", ("n = 1_000_003", "n = 1_003"), refused="code outside kernels", geometry=True),
    _total("check_of_the_host", ('"right" if int(out) == int(x.sum()) else "WRONG"', '"right"'), refused="code outside kernels",
           geometry=True),
    _total("fewer_launches", ("    torch.cuda.synchronize()\n", ""), refused="code outside kernels", geometry=True),
    _total("argument_of_a_launch", ("](x, out, n, BLOCK=128)", "](x, out, n - 3, BLOCK=128)"), refused="code outside kernels",
           geometry=True),
    _total("undeclared_geometry", ("BLOCK=128)", "BLOCK=256)"), refused="--allow-geometry"),
    _total("grid_that_runs", ("[(triton.cdiv(n, 128),)]", '[(triton.cdiv(n, 128), print("x") or 1)]'),
           refused="code outside kernels", geometry=True),
    _total("other_encoding", ('"""Sums numbers;', '# -*- coding: utf-7 -*-\n"""Sums numbers;'), refused="encoded"),
    _total("interpreter_line", ('"""Sums numbers;', '#!/bin/sh\n"""Sums numbers;'), refused="interpreter"),
    _total("text_that_triton_reads_otherwise", (_LOAD, '    """\ndef total(x_ptr, out_ptr, n, BLOCK):\n    """\n' + _LOAD),
           refused="several lines"),
    _total("library_under_another_name", (_LOAD, "    tl = x_ptr\n" + _LOAD), refused="rebinds tl"),
    _total("new_global", (_LOAD, "    global SEEN\n    SEEN = 1\n" + _LOAD), refused="global statement"),
    _total("global_of_the_host", (_LOAD, _LOAD + "    values = values + torch.sum\n"), refused="torch"),
    _total("attribute_is_written", (_LOAD, _LOAD + "    values.handle = 1\n"), refused="writes to"),
    _total("size_taken_for_granted", ("mask = offsets < n", "mask = offsets < 1000003"), refused="no longer depends on"),
    _total("program_scope", (_ADD, '    tl.atomic_add(out_ptr, tl.sum(values), scope="cta")\n'), refused="fewer programs"),
    _total("volatile_instead_of_atomic", (_ADD, (
        "    tl.store(out_ptr, tl.load(out_ptr, volatile=True) + tl.sum(values))\n"
    )), refused="volatile"),
    _total("pointer_as_a_number", (_LOAD, _LOAD + "    values = tl.where(x_ptr.to(tl.int64) % 64 == 0, values, 0)\n"),
           refused="pointer becomes a number"),
    _total("promise_about_an_argument", (_LOAD, "    n = tl.multiple_of(n, 16)\n" + _LOAD), refused="promise about n"),
    _total("narrow_sum", ("tl.sum(values))", "tl.sum(values.to(tl.int16)))"), refused="narrower type"),
    _total("formatted_string", (_LOAD, _LOAD + '    tl.static_assert(True, f"{BLOCK.__class__}")\n'), refused="candidate"),
    _total("function_of_the_compiler", ("@triton.jit\ndef total", (
        "@triton.constexpr_function\ndef half(x):\n    return x // 2\n\n\n@triton.jit\ndef total"
    )), refused="code outside kernels"),
    _total("helper_with_a_default", ("@triton.jit\ndef total", (
        "@triton.jit\ndef _half(x, y=print(1)):\n    return x // 2\n\n\n@triton.jit\ndef total"
    )), refused="defaults"),
    _total("name_of_python_itself", ("@triton.jit\ndef total", (
        "@triton.jit\ndef __builtins__(x, y):\n    return x // 2\n\n\n@triton.jit\ndef total"
    )), refused="looks for"),
    _total("doctest", (_LOAD, '    ">>> import os"\n' + _LOAD), refused="test runner"),
    _in("product.py", "product", "less_precise_product", ("tl.load(b), acc)", 'tl.load(b), acc, input_precision="tf32")'),
        refused="less precise"),
    _in("product.py", "product", "narrow_accumulator", ("(BM, BN), dtype=tl.float32", "(BM, BN), dtype=tl.float16"),
        refused="narrower type"),
    _in("product.py", "product", "narrow_result_of_a_product", ("tl.load(b), acc)", "tl.load(b), acc, out_dtype=tl.float16)"),
        refused="less precise"),
    _in("spilled_rows.py", "softmax", "narrow_exponentials", ("e = tl.exp(x - tl.max(x, axis=0))", (
        "e = tl.exp((x - tl.max(x, axis=0)).to(tl.bfloat16).to(tl.float32))"
    )), refused="narrower type"),
    _in("spilled_rows.py", "softmax", "library_of_the_device", ("tl.exp(x - ", "tl.extra.hip.libdevice.fast_expf(x - "),
        refused="not known to be harmless"),
    _in("dot_product.py", "scalar_product", "key_of_the_tuner", ('key=["n"]', "key=[]"), refused="code outside kernels", geometry=True),
    _in("dot_product.py", "scalar_product", "hook_of_a_configuration", (
        '{"BLOCK": 256}, num_warps=4)', '{"BLOCK": 256}, num_warps=4, pre_hook=print)'
    ), refused="code outside kernels", geometry=True),
    Edit("body_that_the_kernel_does_not_reach", (("helpers.py", "return x + 1", "return x + 2"),), "scalar_product",
         "does not reach"),
    _in("lane_chunks.py", "block_sums", "exact_lanes_as_a_product", (
        "    tl.store(out_ptr + pid, tl.sum(acc, axis=0))\n",
        "    ones = tl.full((16, BLOCK), 1.0, tl.float32)\n"
        "    tl.store(out_ptr + pid, tl.max(tl.dot(ones, tl.join(acc, acc))))\n",
    ), refused="input_precision='ieee'"),
)  # fmt: skip

# Nothing in these texts is forbidden: they compute something else, or only by luck the same.
WRONG: tuple[Edit, ...] = (
    _total("tail_is_dropped", ("mask = offsets < n", "mask = offsets < n - n % 128")),
    _total("mask_off_by_one", ("mask = offsets < n", "mask = offsets <= n")),
    _total("store_for_an_atomic", (_ADD, "    tl.store(out_ptr, tl.load(out_ptr) + tl.sum(values))\n")),
    _total("blocks_are_skipped", (_OFFSETS + _LOAD + _ADD, (
        "    if pid >= 256:\n        return\n" + LOOP.replace("tl.cdiv(n, BLOCK)", "tl.cdiv(n, BLOCK) - 1")
        + "    tl.atomic_add(out_ptr, tl.sum(acc))\n"
    ))),
    _total("added_twice", (_ADD, _ADD + "    tl.atomic_add(out_ptr, tl.where(pid == 7812, 1, 0))\n")),
    _in("spilled_rows.py", "softmax", "maximum_left_out", ("tl.exp(x - tl.max(x, axis=0))", "tl.exp(x)")),
    _in("complex_magnitude.py", "magnitude", "neighbour_read_beyond_the_end", (
        "    im = tl.load(z_ptr + 2 * i + 1, mask=ok, other=0.0)\n", "    im = tl.load(z_ptr + 2 * i + 1)\n"
    )),
    _in("product.py", "product", "last_step_left_out", ("for _ in range(0, K, BK)", "for _ in range(0, K - BK, BK)")),
)  # fmt: skip
