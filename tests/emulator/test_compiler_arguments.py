"""Command lines of the drop-ins, parsed; nothing is compiled."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from intelliperf.dropins.arguments import parse
from intelliperf.dropins.depfile import prerequisites
from intelliperf.dropins.queries import answer
from intelliperf.dropins.spelling import unmarked_everywhere
from intelliperf.emulator.compiler.libraries import absent_calls, is_absent, is_provided
from intelliperf.emulator.driver import main
from intelliperf.errors import UsageError


def test_nvcc_options_with_values_in_every_spelling() -> None:
    words = "-arch=sm_90 -gencode arch=compute_80,code=sm_80 --generate-code=arch=compute_70,code=sm_70 -std c++17 "
    words += "-I inc,inc2 -DA=1 -D B -Xcompiler -fopenmp,-Wall --compiler-options=-O1 -Xptxas -v -lineinfo "
    words += "-use_fast_math --expt-relaxed-constexpr -rdc=true -ccbin g++ -maxrregcount=32 -t4 "
    words += "-lcublas -L/x -Xlinker -s -o out a.cu b.cpp c.o"
    command = parse("nvcc", words.split())
    assert [(s.path, s.language) for s in command.sources] == [("a.cu", "cuda"), ("b.cpp", "c++")]
    assert command.front == [
        "-std=c++17", "-I", "inc", "-I", "inc2", "-DA=1", "-DB", "-Wall", "-D__CUDA_FAST_MATH__=1",
    ]  # fmt: skip
    assert command.link == ["-lcublas", "-L/x", "-Xlinker", "-s", "c.o"]
    assert (command.openmp, command.relocatable_device_code, command.output) == (True, True, "out")
    assert command.optimisation == "-O1"
    assert {"sm_90", "sm_80", "compute_70"} <= set(command.architectures)


def test_lists_of_nvcc_are_parted_at_their_commas_unless_these_are_escaped() -> None:
    command = parse("nvcc", ["-DX=1\\,2", "-DY=3,Z=4", r'-DNAME="a,\"b"', "-Ia,b", "-D", r"P=\"c\"", "-c", "a.cu"])
    assert command.front == [
        "-DX=1,2", "-DY=3", "-DZ=4", r'-DNAME="a,\"b"', "-I", "a", "-I", "b", r"-DP=\"c\"",
    ]  # fmt: skip
    assert parse("hipcc", ["-DX=1,2", "a.cpp"], "hip").front == ["-DX=1,2"]


def test_hipcc_takes_every_cpp_source_as_hip() -> None:
    command = parse("hipcc", ["-c", "a.cpp", "--offload-arch=gfx90a", "-x", "c++", "b.cpp"], "hip")
    assert [s.language for s in command.sources] == ["hip", "c++"]
    assert command.architectures == ["gfx90a"]
    assert command.front == []


def test_options_for_dependencies_are_no_front_end_flags() -> None:
    words = ["-x", "hip", "-MD", "-MT", "$(o)", "-MFa.d", "-MP", "-c", "a.hip", "-o", "a.o"]
    command = parse("clang++", words)
    rule = command.dependencies
    assert (rule.wanted, rule.file, rule.targets, rule.phony) == (True, "a.d", ["$(o)"], True)
    assert command.front == []


def test_response_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("-DX='a b' -c main.hip", encoding="utf-8")
    command = parse("hipcc", [f"@{tmp_path / 'words'}"], "hip")
    assert (command.front, command.stage) == (["-DX=a b"], "object")


@pytest.mark.parametrize("option", ["-ptx", "--cubin", "-fatbin"])
def test_device_code_alone_is_made_in_the_form_that_is_asked_for(option: str) -> None:
    command = parse("nvcc", [option, "a.cu"])
    assert (command.device_only, command.module_form) == (True, option.strip("-"))


def test_other_products_of_nvcc_are_refused_by_name() -> None:
    with pytest.raises(UsageError, match="--cuda"):
        parse("nvcc", ["--cuda", "a.cu"])


def test_an_output_that_cannot_be_written_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    (tmp_path / "a.cu").write_text("", encoding="utf-8")
    assert main(["nvcc", "-c", str(tmp_path / "a.cu"), "-o", str(tmp_path / "file" / "a.o")]) == 1
    assert "nvcc: error: " in capsys.readouterr().err


def test_an_option_without_its_value_is_an_error() -> None:
    with pytest.raises(UsageError, match="-o needs a value"):
        parse("hipcc", ["a.hip", "-o"])


def test_vendor_libraries_are_told_apart() -> None:
    assert is_provided("-lcudart")
    assert is_provided("/opt/rocm/lib/libamdhip64.so.6")
    assert not is_provided("-lm")
    assert is_provided("-l:libcublas.so.12")
    assert is_provided("-lcufft")
    assert is_absent("-l:libcusolver.so.11")
    assert not is_absent("-lpthread")


def test_a_call_of_an_absent_library_is_named_with_its_caller() -> None:
    message = (
        "/usr/bin/ld: a.o: in function `transform(float*)':\na.cu:7: undefined reference to `cusolverDnCreate'\n"
        "/usr/bin/ld: a.cu:9: undefined reference to `own_function(int)'\n"
    )
    (call,) = absent_calls(message)
    assert call.startswith("transform(float*) calls cusolverDnCreate: libcusolver has no stand-in")


def test_an_inlined_call_of_an_absent_library_is_named_once() -> None:
    message = "".join(
        f"ld: /tmp/a.o: in function `{caller}':\n/project/a.cu:{line}: undefined reference to `cusolverDnCreate'\n"
        for caller, line in (("solve()", 5), ("main", 5), ("other()", 9))
    )
    assert [call.split()[0] for call in absent_calls(message)] == ["solve()", "other()"]


def test_prerequisites_of_a_make_rule_are_unescaped() -> None:
    assert prerequisites("unit: a.hip \\\n  my\\ dir/b.h c$$d.h\n") == ("a.hip", "my dir/b.h", "c$d.h")


def test_headers_stay_outside_of_what_makes_unmarked_functions_the_devices_too() -> None:
    text = '#pragma once\n#include <vector>\nint f();\n  #  include "own.h"\nint g();\n'
    seen = unmarked_everywhere(text)
    begin, end = "SIMT_UNMARKED_EVERYWHERE", "SIMT_UNMARKED_ON_THE_HOST"
    depth, number, shown = 0, 0, {}
    for line in seen.splitlines():
        depth += {begin: 1, end: -1}.get(line, 0)
        if line.startswith("#line "):
            number = int(line.split()[1]) - 1
        else:
            number += 1
            shown[line.strip()] = (number, depth)
    assert (shown["int f();"], shown["int g();"]) == ((3, 1), (5, 1))
    assert (shown["#include <vector>"][1], shown['#  include "own.h"'][1], depth) == (0, 0, 0)


def test_a_question_to_a_compiler_loads_nothing_that_translates_device_code() -> None:
    code = (
        "import sys; from intelliperf.emulator.driver import main; main(['nvcc', '--version'])\n"
        "assert 'intelliperf.emulator.ir' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=60)


@pytest.mark.parametrize(
    ("word", "said"), [("--help", "compute_90"), ("--list-gpu-arch", "compute_90"), ("--list-gpu-code", "sm_90")]
)
def test_nvcc_names_its_architectures_to_build_files(word: str, said: str) -> None:
    assert said in (answer("nvcc", [word]) or "").split()
