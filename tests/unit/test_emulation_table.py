"""The lines that `intelliperf emulate` prints: a table where the terminal has room for one."""

from __future__ import annotations

import dataclasses
import io
from pathlib import Path

import pytest
from formula_profiles import DEVICE, evidence, profile
from rich.console import Console

from intelliperf.emulator.table import Emulation, KernelLines, plain_text, print_emulation
from intelliperf.protocols import ApplicationProfile
from intelliperf.records import AccessKind, MemorySpace

SCATTERED = evidence(
    7, AccessKind.LOAD, MemorySpace.GLOBAL, REQUESTS=10, SECTORS=320, SECTORS_IDEAL=40, TIME_SHARE=0.75
)
SCATTERED = dataclasses.replace(SCATTERED, text="total += matrix[(row + 1) * columns + column];", unsure="or line 9")
KERNEL = profile({})
SEEN = Emulation(DEVICE, ApplicationProfile((KERNEL,), 1000.0, 0), (KernelLines(KERNEL, (SCATTERED,)),))
FIGURES = ["75 %", "global load 4B", "10", "32 (4) !"]


def shown(width: int) -> list[str]:
    out = io.StringIO()
    print_emulation(SEEN, Path("/p"), Console(file=out, force_terminal=True, color_system=None, width=width))
    return out.getvalue().splitlines()


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
def test_no_figure_is_cut_and_no_line_outruns_the_terminal(width: int) -> None:
    lines = shown(width)
    words = " ".join(" ".join(lines).split())

    assert all(len(line) <= width for line in lines)
    assert all(figure in words for figure in FIGURES) and "…" not in words
    assert "app.hip:7:1" in words and "or line 9" in words


def test_a_wide_terminal_has_columns_and_a_narrow_one_names_each_figure() -> None:
    assert any("access" in line and "requests" in line for line in shown(120))
    narrow = " ".join(" ".join(shown(60)).split())
    assert "time 75 %, global load 4B, requests 10, sectors/req (ideal) 32 (4) !" in narrow


def test_a_pipe_gets_two_lines_per_access() -> None:
    assert plain_text(SEEN, Path("/p")).splitlines()[-2:] == [
        "  app.hip:7:1 (or line 9): total += matrix[(row + 1) * columns + column];",
        "      time 75 %, global load 4B, requests 10, sectors/req (ideal) 32 (4) !",
    ]
