"""The documentation: generated pages, links, commands that exist, figures that are those of the measurements."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from intelliperf.cli.app import COMMANDS
from intelliperf.formulas import BOTTLENECKS

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("docs") / "reference"
    script("generate").write(directory)
    return directory


def test_every_formula_has_a_page_with_the_reason_for_each_threshold(reference: Path) -> None:
    for formula in BOTTLENECKS:
        text = (reference / "formulas" / f"{formula.name}.md").read_text("utf-8")
        assert formula.minimum_excess.reason in text and formula.knowledge.strip() in text
        for rule in formula.rules:
            assert (reference / "rules" / f"{rule}.md").is_file()


def test_the_command_line_s_page_has_every_command(reference: Path) -> None:
    text = (reference / "cli.md").read_text("utf-8")
    for command in COMMANDS:
        assert f"## intelliperf {command.__name__}\n" in text
    assert "--run-timeout SECONDS" in text


def test_every_link_leads_somewhere(reference: Path) -> None:
    for page in (*PAGES, *reference.rglob("*.md")):
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text("utf-8")):
            if "://" not in target and page.name != "SECURITY.md":
                place = page.parent / target
                if "reference/" in target:
                    place = reference / target.partition("reference/")[2]
                assert place.exists(), f"{page.name} links to {target}"


def test_the_readme_fits_on_three_screens_and_names_commands_that_exist() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 150
    named = set(re.findall(r"^    intelliperf ([a-z]+)", text, re.MULTILINE))
    assert named <= {command.__name__ for command in COMMANDS}


def test_the_time_model_s_errors_are_those_of_the_corpus() -> None:
    tables = [(ROOT / "benchmarks" / "hardware" / name).read_text("utf-8") for name in ("CORPUS.md", "FRESH.md")]
    shown = re.findall(r"\d+ of \d+ \(\d+ %\)", (ROOT / "docs" / "time-model.md").read_text("utf-8"))
    assert len(shown) == 15 and all(figure in "".join(tables) for figure in shown)


def test_words_that_a_native_engineer_would_not_write_are_found() -> None:
    prose = script("prose")
    assert prose.complaints_of("x.md", "The run goes on where it stopped.")
    assert prose.complaints_of("x.py", '"""Somebody\'s patch."""\n')
    assert prose.complaints_of("x.py", "# A patch is no proof.\n")
    assert not prose.complaints_of("x.py", "# There is no proof.\n")
    assert not prose.complaints_of("x.py", "comes_again = 1\n"), "names are not prose"
