"""Where the finding's kernel is defined, by what each kind of device knows of it."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from types import SimpleNamespace

import pytest
from scripted import tally_evidence

from intelliperf.codegen.rules.problem import NotApplicable, Problem
from intelliperf.codegen.rules.relabel import kernel_definition
from intelliperf.records import Kernel

ADD = "\ntemplate <typename T>\n__global__ void add(T* to) {\n  *to += 1;\n}\n"
SCALE = "__global__ void scale(int* to) {\n  *to *= 2;\n}\n"


def found(kernel: Kernel, sources: dict[str, str]) -> object:
    task = SimpleNamespace(
        finding=SimpleNamespace(profile=SimpleNamespace(kernel=kernel)),
        evidence=(tally_evidence(Path("/somewhere/add.cu"), 4),),
        sources=sources,
    )
    problem = Problem.__new__(Problem)
    problem.task = task  # type: ignore[misc,assignment]
    defined = kernel_definition(problem)
    return str(defined.file), defined.line


def test_a_profiler_that_tells_names_alone_is_enough() -> None:
    sources = {"add.cu": ADD, "scale.cu": SCALE}
    assert found(Kernel("_Z", "void ns::add<float>(float*)"), sources) == ("add.cu", 5)
    assert found(Kernel("_Z", "scale"), sources) == ("scale.cu", 3)


def test_a_line_that_is_known_decides_unless_another_change_has_moved_it() -> None:
    here = Kernel("_Z", "add", Path("/project/add.cu"), 4)
    assert found(here, {"add.cu": ADD, "scale.cu": SCALE}) == ("add.cu", 4)
    assert found(dataclasses.replace(here, line=90), {"add.cu": ADD}) == ("add.cu", 5)


@pytest.mark.parametrize("sources", [{"scale.cu": SCALE}, {"one.cu": ADD, "two.cu": ADD}])
def test_a_name_that_is_defined_nowhere_or_twice_decides_nothing(sources: dict[str, str]) -> None:
    with pytest.raises(NotApplicable, match="not known where the kernel is defined"):
        found(Kernel("_Z", "add"), sources)
