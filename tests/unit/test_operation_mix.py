from __future__ import annotations

from intelliperf.emulator.ir.mix import OperationCounter
from intelliperf.emulator.ir.module import parse_module


def mixed(*lines: str, repeats: bool = False) -> dict[str, int]:
    """What there is of each kind in one block."""
    body = "\n".join(f"  {line}" for line in lines)
    (function,) = parse_module(f"define void @f(ptr %p, i32 %n, float %x) {{\nturn:\n{body}\n}}\n").functions
    counts = OperationCounter().count(function.blocks[0].instructions, repeats)
    return {kind: count for kind, count in counts.items() if count}


def test_a_sum_takes_in_a_product_that_was_made_in_a_vector() -> None:
    product = "%v = fmul contract <2 x float> %a, %b"
    parts = ("%e = extractelement <2 x float> %v, i64 0", "%g = extractelement <2 x float> %v, i64 1")
    sums = ("%s = fadd contract float %e, %x", "%t = fadd contract float %g, %s")
    assert mixed(product, *parts, *sums, "ret void") == {"f32": 2}
    assert mixed(product.replace(" contract", ""), *parts, *sums, "ret void") == {"f32": 4}


def test_the_inverse_of_a_root_is_one_operation() -> None:
    root = "%r = call float @llvm.sqrt.f32(float %x)"
    assert mixed(root, "%i = fdiv float 1.000000e+00, %r", "ret void")["special"] == 1
    assert mixed(root, "%i = fdiv float %x, %r", "ret void")["special"] == 2


def test_an_accurate_function_takes_more_than_the_approximation_and_a_double_more_than_that() -> None:
    call = "call {}{} @llvm.exp.{}({} %x)"
    assert mixed(f"%e = {call.format('arcp ', 'float', 'f32', 'float')}", "ret void") == {"special": 1}
    accurate = mixed(f"%e = {call.format('', 'float', 'f32', 'float')}", "ret void")
    assert mixed("%e = call float @expf(float %x)", "ret void") == accurate
    double = mixed(f"%e = {call.format('', 'double', 'f64', 'double')}", "ret void")
    assert 0 < accurate["f32"] < double["f64"]


def test_a_quotient_and_its_remainder_are_one_division() -> None:
    assert mixed("%q = sdiv i32 %n, %m", "%r = srem i32 %n, %m", "ret void") == {"idiv": 1}
    assert mixed("%q = sdiv i32 %n, %m", "%r = srem i32 %m, %n", "ret void") == {"idiv": 2}


def turn(step: str, more: int = 0) -> list[str]:
    return [
        "%k = phi i32 [ 0, %entry ], [ %next, %turn ]",
        "%s = fadd float %x, %x",
        *(f"%a{i} = fadd float %x, %x" for i in range(more)),
        f"%next = add nuw nsw i32 %k, {step}",
        "%end = icmp eq i32 %next, %n",
        "br i1 %end, label %done, label %turn",
    ]


def test_counting_the_turns_of_a_short_loop_costs_nothing_since_compilers_unroll_it() -> None:
    assert mixed(*turn("1"), repeats=True) == {"f32": 1}
    assert mixed(*turn("1")) == {"f32": 1, "int": 2, "branch": 1}


def test_a_loop_whose_step_is_not_known_or_whose_body_is_long_is_counted_whole() -> None:
    assert mixed(*turn("%n"), repeats=True) == {"f32": 1, "int": 2, "branch": 1}
    assert mixed(*turn("1", more=40), repeats=True) == {"f32": 41, "int": 2, "branch": 1}
