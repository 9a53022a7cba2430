"""The package as a library: every name that it promises, and the examples of its page on AMD's own recordings."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from rocprofdata import DATA

from intelliperf.errors import ProtocolError
from intelliperf.profiling import rocprofv3
from intelliperf.profiling.rocprofv3 import read_agents, read_counters, read_samples, read_trace

PAGE = Path(__file__).parents[2] / "docs" / "rocprofv3.md"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(rocprofv3.__file__).parents[3])}
_NAMES = re.compile(r"`([A-Za-z_]\w*)(?:\([^`]*\))?`")
_NO_NAMES = {"symbol", "wanted", "MissingMetric", "BackendUnavailable"}  # of a record, of an argument, of our errors


def recording(place: Path) -> Path:
    out = place / "out"
    out.mkdir()
    for name in ("kernel_trace", "counter_collection", "memory_copy_trace", "pc_sampling_host_trap"):
        shutil.copy(DATA / f"sdk_{name}.csv", out / f"run_{name}.csv")
    return out


@pytest.mark.parametrize("text", [rocprofv3.__doc__ or "", PAGE.read_text()], ids=["docstring", "page"])
def test_every_name_that_is_promised_imports(text: str) -> None:
    named = {
        name for name in _NAMES.findall(text) if name not in _NO_NAMES and not hasattr(rocprofv3.JsonRecording, name)
    }
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL)) or text.split("\n\n")[1]
    calls = [node for node in ast.walk(ast.parse(textwrap.dedent(code))) if isinstance(node, ast.Call)]
    named |= {node.func.id for node in calls if isinstance(node.func, ast.Name)} - {"Application", "Path", "print"}
    assert len(named) >= 10
    assert {name for name in named if name not in rocprofv3.__all__ or not hasattr(rocprofv3, name)} == set()
    assert all(hasattr(rocprofv3, name) for name in rocprofv3.__all__)


def test_the_examples_that_read_run_on_recordings_of_amd(tmp_path: Path) -> None:
    recording(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    reading = "\n".join(block for block in blocks if "find_rocprof" not in block)
    done = subprocess.run(
        [sys.executable, "-c", reading],
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) > 5


def test_a_directory_and_a_file_give_the_same_records(tmp_path: Path) -> None:
    out = recording(tmp_path)
    assert read_trace(out / "run_kernel_trace.csv").dispatches[0].symbol == read_trace(out).dispatches[0].symbol
    assert read_counters(out / "run_counter_collection.csv")[0].values == read_counters(out)[0].values
    assert len(read_samples(out)) == len(read_samples(out / "run_pc_sampling_host_trap.csv")) > 0
    with pytest.raises(ProtocolError, match="no \\*pc_sampling_stochastic.csv and no"):
        read_samples(out / "run_kernel_trace.csv")


def test_no_package_but_the_standard_library_is_imported() -> None:
    code = (
        "import sys; import intelliperf.profiling.rocprofv3; "
        "print([name for name in ('pandas', 'numpy', 'pydantic', 'typer') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert read_agents(Path("/nowhere")) == ()
