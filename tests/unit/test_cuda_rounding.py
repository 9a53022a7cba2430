"""PTX whose arithmetic rounds up or down, and the scratch build that holds it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scripted import TextBackend, application

from intelliperf.cli.judging import rounded_build
from intelliperf.cuda.rounding import rounded_ptx
from intelliperf.project.scratch import Workspace
from intelliperf.project.versions import Version

EXCHANGED = {
    "	add.f32 	%f22, %f30, %f21;": "	add.rp.f32 	%f22, %f30, %f21;",
    "@%p1 fma.rn.ftz.f32 %f1, %f2, %f3, %f4;": "@%p1 fma.rp.ftz.f32 %f1, %f2, %f3, %f4;",
    "{ mul.rn.ftz.sat.f32 %f1, %f2, %f3; sub.f64 %fd1, %fd2, %fd3; }": (
        "{ mul.rp.ftz.sat.f32 %f1, %f2, %f3; sub.rp.f64 %fd1, %fd2, %fd3; }"
    ),
    "	sqrt.rn.f64 	%fd1, %fd2;": "	sqrt.rp.f64 	%fd1, %fd2;",
    "	cvt.rn.f32.f64 	%f1, %fd1;": "	cvt.rp.f32.f64 	%f1, %fd1;",
    "	cvt.rn.ftz.f32.s32 	%f1, %r1;": "	cvt.rp.ftz.f32.s32 	%f1, %r1;",
}
KEPT = (
    "	add.s32 	%r1, %r2, %r3;",
    "	add.rz.f32 	%f1, %f2, %f3;",
    "	div.approx.f32 	%f1, %f2, %f3;",
    "	div.full.ftz.f32 	%f1, %f2, %f3;",
    "	cvt.rni.f32.f32 	%f1, %f2;",
    "	cvt.rn.f16.f32 	%h1, %f2;",
    "	cvt.f64.f32 	%fd1, %f2;",
    "	atom.global.add.f32 	%f1, [%rd1], %f2;",
    "	fma.rn.f32 	%f1, %f2, %f3, 0f4B400000;",
    "	add.rn.f64 	%fd1, %fd2, 0dC338000000000000;",
)


@pytest.mark.parametrize("before", EXCHANGED)
def test_arithmetic_that_rounds_to_nearest_rounds_another_way(before):
    assert rounded_ptx(before, "up") == EXCHANGED[before]
    assert rounded_ptx(before, "down") == EXCHANGED[before].replace(".rp", ".rm")


@pytest.mark.parametrize("line", KEPT)
def test_what_is_meant_so_or_has_no_rounding_is_kept(line):
    assert rounded_ptx(line, "up") == line


class RoundingBackend(TextBackend):
    def rounded_build(self, way: str) -> dict[str, str]:
        return {"WAY": way} if way != "nowhere" else {}


def test_the_original_is_built_again_beside_itself_with_what_the_backend_adds(tmp_path):
    project = application(tmp_path / "project", "text", ("/bin/sh", "-c", 'echo "$WAY" >app; test "$WAY" != fails'))
    state = Version(Workspace.create(project, tmp_path / "work" / "reference"), (), {})
    built = rounded_build(RoundingBackend(), state, "up", 20.0)
    assert built is not None
    assert (built.project / "app").read_text() == "up\n"
    assert built == replace(project, project=built.project, directory=built.project)
    assert not (state.workspace.tree / "app").exists()
    assert rounded_build(RoundingBackend(), state, "nowhere", 20.0) is None
    assert rounded_build(RoundingBackend(), state, "fails", 20.0) is None
