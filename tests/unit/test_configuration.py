"""`intelliperf.toml` and `nightly.toml`: one schema, and messages with the line of what is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from intelliperf.cli import nightly, schema
from intelliperf.cli.nightly import NightOptions
from intelliperf.configuration.document import line_of
from intelliperf.errors import UsageError
from intelliperf.nightly.plan import Device, targets_of

GOOD = """\
# a night
formula = "bankConflict"

[nightly]
workers = 2

[nightly.budget]
usd = 5

[targets.base]
devices = [{ backend = "emulator", target = "mi300x" }]
owners = ["ann"]

[targets.one]
like = "base"
directory = "one"

[targets.one.commands]
small = ["./app", "64"]
large = [
  "./app",  # many
  "4096",
]
"""


def planned(tmp_path: Path, text: str) -> tuple[object, ...]:
    path = tmp_path / "nightly.toml"
    path.write_text(text)
    file, content = schema.night_file(path)
    return targets_of(file, path, content)


def test_a_target_has_what_the_one_it_is_like_says(tmp_path: Path) -> None:
    (target,) = planned(tmp_path, GOOD)
    assert target.name == "one" and target.directory == tmp_path / "one"  # type: ignore[attr-defined]
    assert target.devices == (Device("emulator", "mi300x"),) and target.owners == ("ann",)  # type: ignore[attr-defined]
    assert [name for name, _ in target.commands] == ["small", "large"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("workers = 2", 'workers = "two"', ":5: nightly.workers: input should be a valid integer"),
        ("workers = 2", "worker = 2", ":5: unknown key nightly.worker; did you mean workers?"),
        ("usd = 5", "usd = -5", ":8: nightly.budget.usd: input should be greater than or equal to 0"),
        ('like = "base"', 'like = "bass"', ":15: target one is like 'bass', which is not a target"),
        (
            "[targets.base]",
            '[targets.base]\nlike = "one"',
            ":16: targets are like each other in a circle: base → one → base",
        ),
        ('directory = "one"', "", ":14: target one: give either a directory or a repository"),
        ('directory = "one"', 'directory = "one"\nref = "x"', ":17: target one: ref and path belong to a repository"),
        ('  "./app",  # many\n  "4096",\n', "", ":20: targets.one.commands.large: "),
        ('small = ["./app", "64"]', 'small = "./app 64"', "(one list for each command: program, then arguments)"),
        (
            'backend = "emulator"',
            'backend = "tpu"',
            ":11: targets.base.devices.0.backend: input should be 'auto', 'emu",
        ),
        ('target = "mi300x"', 'target = "mi3000"', ":11: target one: unknown target 'mi3000'; did you mean mi300"),
        ("[nightly]", '[nightly]\n[targets."../x"]', ":5: targets.../x: "),
        ("workers = 2", "workers = ", "line 5"),
        ('owners = ["ann"]', 'owners = ["ann"]\nformulas = ["bankConflit"]', ":13: target one: unknown formula"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(UsageError) as raised:
        planned(tmp_path, GOOD.replace(old, new))
    assert message in str(raised.value)


def test_the_documented_example_is_a_night(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "nightly.md").read_text()
    path = tmp_path / "nightly.toml"
    path.write_text(page.partition("```toml\n")[2].partition("```")[0])
    file, text = schema.night_file(path)
    solver, following = targets_of(file, path, text)
    assert following.commands == solver.commands and following.ref == "next" and len(solver.devices) == 2


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("../one.git", "{above}/one.git"),
        ("/srv/one.git", "/srv/one.git"),
        ("https://example.com/one.git", "https://example.com/one.git"),
        ("git@example.com:team/one.git", "git@example.com:team/one.git"),
        ("./a:b", "{here}/a:b"),
    ],
)
def test_a_repository_s_path_is_relative_to_the_file(tmp_path: Path, given: str, expected: str) -> None:
    (target,) = planned(tmp_path, GOOD.replace('directory = "one"', f'repository = "{given}"'))
    assert target.repository == expected.format(here=tmp_path, above=tmp_path.parent)  # type: ignore[attr-defined]


def test_a_database_s_path_is_relative_to_the_file(tmp_path: Path) -> None:
    path = tmp_path / "nightly.toml"
    path.write_text(GOOD.replace("workers = 2", 'workers = 2\ndatabase = "kept/history.db"'))
    _, plan = nightly._plan(NightOptions(file=path))
    shown = nightly._database(NightOptions(), plan, tmp_path / "nights", path)
    assert shown == str(tmp_path / "kept" / "history.db")
    given = nightly._database(NightOptions(database="other.db"), plan, tmp_path / "nights", path)
    assert given == "other.db", "of the command line, relative to where it is typed"


def test_a_target_that_is_asked_for_has_to_be_there(tmp_path: Path) -> None:
    path = tmp_path / "nightly.toml"
    path.write_text(GOOD)
    file, text = schema.night_file(path)
    with pytest.raises(UsageError, match="no target 'two'; choose one of: base, one"):
        targets_of(file, path, text, ["two"])
    with pytest.raises(UsageError, match="target base has no commands"):
        targets_of(file, path, text, ["base"])


def test_a_line_is_found_inside_values_of_several_lines() -> None:
    assert line_of(GOOD, ["targets", "one", "commands", "large", 1]) == 20  # where the list begins
    assert line_of(GOOD, ["targets", "one", "like"]) == 15
    assert line_of(GOOD, ["nightly", "none"]) is None


def test_the_published_schema_is_that_of_the_models_and_takes_a_good_file(tmp_path: Path) -> None:
    """After a change of the models: write `intelliperf.cli.schema.schema()` to SCHEMA_PATH."""
    published = json.loads(schema.SCHEMA_PATH.read_text())
    assert published == schema.schema()
    from intelliperf.configuration.document import load

    path = tmp_path / "nightly.toml"
    path.write_text(GOOD)
    jsonschema.validate(load(path)[0], published)


def test_a_night_s_directory_does_not_hold_the_database_s_password(tmp_path: Path) -> None:
    kept = nightly._kept(NightOptions(database="postgresql://ann:pass:w@rd@host:5/db"), tmp_path / "n.toml")
    assert kept.database == "postgresql://ann@host:5/db"
    assert nightly._kept(NightOptions(database="a@b.db"), tmp_path).database == "a@b.db"
    assert nightly._kept(NightOptions(), tmp_path).database is None
