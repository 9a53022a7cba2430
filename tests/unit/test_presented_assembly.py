"""Inline assembly of another maker's GPU, in the text of Triton's IR."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from intelliperf.python.site.intelliperf_presented import assembly

MODULE = """
#loc = loc("/home/somebody/app.py":5:0)
#loc3 = loc("/home/somebody/app.py":8:34)
#loc4 = loc("/usr/lib/helpers.py":2:4)
#loc5 = loc(callsite(#loc3 at #loc))
#loc9 = loc("v"(#loc5))
module {
    %v = tt.elementwise_inline_asm "TEXT" {constraints = "WANTED", pure = true} %x : tensor<8xf32> loc(#loc9)
}
"""


class _Target:
    arch = "gfx942"


class _Backend:
    target = _Target()
    assembler: Callable[[object, object], object] = staticmethod(lambda source, metadata: "object")

    def add_stages(self, stages: dict[str, Callable[..., object]], options: object, language: object) -> None:
        stages["llir"] = lambda source, metadata: "ir"
        stages["hsaco"] = lambda source, metadata: self.assembler(source, metadata)


def _built(text: str, constraints: str, backend: type[_Backend] = _Backend) -> object:
    kind = type("Followed", (backend,), {})
    assembly.follow(kind)
    stages: dict[str, Callable[..., object]] = {}
    kind().add_stages(stages, None, None)
    assert stages["llir"](MODULE.replace("TEXT", text).replace("WANTED", constraints), {}) == "ir"
    return stages["hsaco"]("assembly", {})


@pytest.mark.parametrize("constraints", ["=v,v", "=&v,0,s", "=a,{v1},n,~{vcc}", "=v,^VA,i", "=r,r"])
def test_assembly_for_the_gpu_at_hand_is_compiled(constraints: str) -> None:
    assert _built("v_exp_f32 $0, $1", constraints.replace("^", "")) == "object"


@pytest.mark.parametrize("constraints", ["=f,f", "=r,h", "=v,l,~{memory}"])
def test_registers_that_the_chip_lacks_are_refused_by_line(constraints: str) -> None:
    with pytest.raises(assembly.ForeignAssembly, match=r"app.py:8: inline assembly 'ex2.approx.f32 \$0, \$1;': gfx942"):
        _built("ex2.approx.f32 $0, $1;", constraints)


class _Refusing(_Backend):
    @staticmethod
    def assembler(source: object, metadata: object) -> object:
        raise RuntimeError("AMD assembler rejected it")


def test_what_the_assembler_refuses_is_told_by_line() -> None:
    with pytest.raises(assembly.ForeignAssembly, match=r"app.py:8: .*: gfx942's assembler does not accept the kernel"):
        _built("add.u32 $0, $1, 1;", "=r,r", _Refusing)
