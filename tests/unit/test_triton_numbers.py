"""What the JIT's own IR says of the plain numbers that a kernel is handed."""

from __future__ import annotations

from intelliperf.python.site.intelliperf_presented.numbers import Function, multiples, only_read, quantities

# As Triton 3.9 prints it, without most of what has nothing to do with the numbers.
TTIR = """\
module {
  tt.func public @work(%x_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("x"(#loc)), %n: i32 {tt.divisibility = 16 : i32} loc("n"(#loc)), %stride: i32 loc("s"(#loc)), %steps: i32, %eps: f32) attributes {noinline = false} {
    %c1_i32 = arith.constant 1 : i32 loc(#loc1)
    %c32_i32 = arith.constant 32 : i32 loc(#loc1)
    %c127 = arith.constant 127 : i32 loc(#loc1)
    %c128 = arith.constant 128 : i32 loc(#loc1)
    %c4 = arith.constant 4 : i32 loc(#loc1)
    %c0 = arith.constant 0 : i32 loc(#loc1)
    %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32> loc(#loc2)
    %1 = tt.splat %n : i32 -> tensor<128xi32> loc(#loc3)
    %2 = arith.cmpi slt, %0, %1 : tensor<128xi32> loc(#loc3)
    %up = arith.addi %n, %c127 : i32 loc(#loc4)
    %blocks = arith.divsi %up, %c128 : i32 loc(#loc4)
    %turns = arith.remsi %blocks, %stride : i32 loc(#loc4)
    %quarter = arith.divsi %stride, %c4 : i32 loc(#loc5)
    %3 = scf.for %k = %c0 to %steps step %c32_i32 iter_args(%acc = %0) -> (tensor<128xi32>)  : i32 {
      scf.yield %acc : tensor<128xi32> loc(#loc6)
    } loc(#loc6)
    %4 = tt.get_num_programs x : i32 loc(#loc7)
    tt.return loc(#loc)
  } loc(#loc)
}
"""  # noqa: E501
TYPES = ("float*", "int32", "int32", "int32", "float")


def facts() -> dict[int, dict[str, object]]:
    return {int(one["parameter"]): one for one in quantities(Function(TTIR, "work"), TYPES)}


def test_a_mask_says_that_any_value_is_meant_and_a_ceiling_division_promises_nothing_wherever_it_leads() -> None:
    assert facts()[1] == {
        "parameter": 1, "offset": 0, "bytes": 4, "encoding": "signed",
        "divisors": [], "open": False, "compared": True, "constants": [],
    }  # fmt: skip


def test_what_is_divided_by_a_constant_may_be_promised_to_be_its_multiple() -> None:
    assert facts()[2]["divisors"] == [4] and facts()[2]["compared"] is False


def test_the_end_of_a_loop_without_a_mask_may_be_promised_to_be_a_multiple_of_the_step() -> None:
    assert facts()[3]["divisors"] == [32] and facts()[3]["compared"] is True


def test_numbers_of_floating_point_are_told_apart() -> None:
    assert facts()[4]["encoding"] == "float" and 0 not in facts()


def test_what_the_jit_took_a_number_for_and_what_the_kernel_compares_with_are_known() -> None:
    function = Function(TTIR, "work")
    assert multiples(function) == {1: 16}
    assert function.reads_grid and function.compared == {4, 128}


def test_nothing_is_said_where_the_arguments_are_not_those_of_the_code_object() -> None:
    assert quantities(Function(TTIR, "work"), TYPES[:-1]) == []
    assert quantities(Function("", "work"), TYPES) == []


POINTERS = """\
module {
  tt.func public @copy(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %c: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %1 = tt.splat %a : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %2 = tt.addptr %1, %0 : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %3 = tt.splat %b : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %4:2 = scf.for %k = %c0 to %n step %c1 iter_args(%from = %2, %to = %3) -> (tensor<128x!tt.ptr<f32>>, tensor<128x!tt.ptr<f32>>)  : i32 {
      %5 = tt.load %from : tensor<128x!tt.ptr<f32>>
      tt.store %to, %5 : tensor<128x!tt.ptr<f32>>
      scf.yield %from, %to : tensor<128x!tt.ptr<f32>>, tensor<128x!tt.ptr<f32>>
    }
    %6 = tt.atomic_rmw fadd, acq_rel, gpu, %c, %f, %true : (!tt.ptr<f32>, f32, i1) -> f32
    tt.return
  }
}
"""  # noqa: E501
COPIED = ("float*", "float*", "float*", "int32")


def test_what_nothing_is_stored_through_is_found_also_where_a_loop_carries_it() -> None:
    assert only_read(Function(POINTERS, "copy"), COPIED) == [0]
    assert only_read(Function(POINTERS, "copy"), COPIED[:-1]) == []


def test_nothing_is_known_of_pointers_that_a_branch_chooses() -> None:
    branch = "    %7 = scf.if %true -> (!tt.ptr<f32>) {\n"
    chosen = POINTERS.replace("    %6 =", branch + "    %6 =")
    assert only_read(Function(chosen, "copy"), COPIED) == []
