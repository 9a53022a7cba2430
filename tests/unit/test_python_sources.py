"""Which Python files belong to a kernel's sources."""

from __future__ import annotations

from pathlib import Path

from intelliperf.interception.messages import Dispatch
from intelliperf.project.pythonfiles import python_closure, scripts
from intelliperf.project.pythonsource import program
from intelliperf.validation.runs.events import Rule, difference_of_events


def write(tree: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)


def test_the_script_of_a_command_is_found_as_file_and_as_module(tmp_path: Path) -> None:
    write(tmp_path, {"app.py": "", "pkg/__main__.py": "", "pkg/__init__.py": ""})
    assert scripts(("python", "app.py", "--size", "3"), tmp_path, tmp_path) == ["app.py"]
    assert scripts(("python3", "-m", "pkg"), tmp_path, tmp_path) == ["pkg/__main__.py", "pkg/__init__.py"]
    assert scripts(("python", "../other.py", "missing.py"), tmp_path, tmp_path) == []


def test_imports_inside_the_project_are_followed_and_others_are_not(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "app.py": "import torch\nfrom ops import sums\nimport tools.text as text\n",
            "ops/__init__.py": "",
            "ops/sums.py": "from .parts import half\nfrom . import more\n",
            "ops/parts.py": "half = 1\n",
            "ops/more.py": "def later():\n    import late\n",
            "late.py": "",
            "tools/text.py": "broken(",
            "unrelated.py": "",
            "venv/pyvenv.cfg": "",
            "venv/torch.py": "",
        },
    )
    found = python_closure(tmp_path, ["app.py"])
    assert found == (
        *("app.py", "late.py", "ops/__init__.py", "ops/more.py", "ops/parts.py", "ops/sums.py", "tools/text.py"),
    )


def test_a_name_that_is_bound_twice_stands_for_nothing() -> None:
    text = "import triton.language as tl\ntry:\n    import fast as ops\nexcept ImportError:\n    import slow as ops\n"
    module = program({"a.py": text + "language = tl\n"}).modules["a.py"]
    assert module.bindings["tl"] == {"triton.language"}
    assert module.bindings["language"] == {"triton.language"}
    assert module.bindings["ops"] == {"fast", "slow"}


def test_a_compiler_that_sizes_lds_itself_may_do_so_otherwise() -> None:
    def launched(lds: int, block: int = 256) -> Dispatch:
        return Dispatch(
            index=0, nth=0, kernel="k", grid=(4, 1, 1), block=(block, 1, 1), dynamic_lds=lds, target=True, status=0,
            arguments=(), allocations=(),
        )  # fmt: skip

    free = Rule(lambda dispatch: True, free_lds=True)
    assert difference_of_events("candidate", launched(0), launched(16), free) is None
    assert difference_of_events("candidate", launched(0), launched(16), Rule(lambda dispatch: True)) is not None
    assert difference_of_events("candidate", launched(0), launched(16, 512), free) is not None
