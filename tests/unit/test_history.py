"""The database of nights: what goes in comes out, on SQLite and on a real PostgreSQL."""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext

sys.path.insert(0, str(Path(__file__).parents[1] / "servers"))

from intelliperf.errors import HistoryUnavailable, UsageError
from intelliperf.history import schema
from intelliperf.history.opening import open_history
from intelliperf.history.records import (
    Choice,
    Cost,
    Found,
    Judgement,
    KernelTime,
    LineCounts,
    NightState,
    Patch,
    Regression,
    RegressionKind,
    Revision,
    Standing,
    Survey,
    Tried,
    Visit,
    VisitState,
    WatchedPlace,
)
from intelliperf.history.store import History, now
from intelliperf.records.metrics import Metric, Provenance, Quantity

PLACE = WatchedPlace("saxpy", "small", "emulator:mi300x")
COUNTERS = {
    Metric.SECTORS: Quantity(512.0, Provenance.MEASURED),
    Metric.DRAM_BYTES: Quantity(1.5, Provenance.MODELLED, 0.1),
}
SURVEY = Survey(
    (KernelTime("_Z5saxpyv", "saxpy", 2, 1000.5, 0.01, Provenance.MEASURED, 0.75, COUNTERS),),
    (LineCounts("_Z5saxpyv", "src/a.hip", 7, 3, "y[i] = x[i];", "load", "global", "load", COUNTERS),),
    (Found("memoryAccess", "_Z5saxpyv", "saxpy", "bad", 0.5, Metric.SECTORS, 4.0, 1.0, 2.0, (("src/a.hip", 7),)),),
)
PATCH = Patch(
    "saxpy", "1" * 64, "memoryAccess", "_Z5saxpyv", "saxpy", "rule x", "because", "--- a\n+++ b\n", "abc", "/r"
)


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    import postgres

    with postgres.server() as made:
        yield made


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "history.db")
    return emptied(request.getfixturevalue("server").url)


def emptied(server_url: str) -> str:
    """The server's database, without what an earlier test left in it."""
    engine = sa.create_engine(server_url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        connection.execute(sa.text("DROP SCHEMA public CASCADE"))
        connection.execute(sa.text("CREATE SCHEMA public"))
    engine.dispose()
    return server_url


@pytest.fixture
def history(url: str) -> Iterator[History]:
    made = open_history(url)
    yield made
    made.close()


def visit(night: int, fingerprint: str = "f" * 64, **changes: Any) -> Visit:
    made = Visit(
        night=night,
        place=PLACE,
        state=VisitState.SURVEYED,
        fingerprint=fingerprint,
        parts={"sources": "a"},
        revision=Revision("abc", False, {"a.hip": "1"}),
        tool_version="1",
        at=now(),
        seconds=1.0,
        directory="/runs/1",
    )
    return dataclasses.replace(made, **changes)


def test_what_a_night_kept_is_read_back(history: History) -> None:
    night = history.begin_night("here", "1", "/night")
    number = history.keep_visit(visit(night), SURVEY)
    assert history.survey(number) == SURVEY
    assert history.visits(night) == (dataclasses.replace(visit(night), at=history.visit(number).at, id=number),)
    assert history.latest_visit(PLACE, "f" * 64) == history.visit(number)
    assert history.latest_visit(PLACE, "e" * 64) is None
    (point,) = history.series(PLACE, "_Z5saxpyv")
    assert (point.visit, point.total_ns, point.counters) == (number, 1000.5, COUNTERS)
    history.keep_cost(Cost(night, "saxpy", "task", 10, 20, None, 1.5, 1.0))
    assert history.costs(night) == (Cost(night, "saxpy", "task", 10, 20, None, 1.5, 1.0),)
    regression = Regression(
        PLACE, "_Z5saxpyv", "saxpy", RegressionKind.MODEL, 1.0, 2.0, "device_time_ns", "slower", number, number,
        "abc", "def", ("def later",), ({"file": "a.hip", "line": 7},), night,
    )  # fmt: skip
    assert history.keep_regression(regression) and not history.keep_regression(regression)
    assert [dataclasses.replace(r, id=None) for r in history.regressions(night, PLACE)] == [regression]
    history.end_night(night, NightState.DONE, 4)
    assert [(n.state, n.exit_status) for n in history.nights()] == [(NightState.DONE, 4)]


def test_a_resumed_night_keeps_nothing_twice(history: History) -> None:
    night = history.begin_night("here", "1", "/night")
    first = history.keep_visit(visit(night), SURVEY)
    assert history.keep_visit(visit(night, seconds=2.0), SURVEY) == first
    assert history.survey(first) == SURVEY and len(history.visits(night)) == 1


def test_text_that_no_database_takes_is_kept_readable_and_a_diff_exactly(history: History) -> None:
    night = history.begin_night("here", "1", "/night")
    odd = "nul \0 and byte \udcff"
    number = history.keep_visit(visit(night, problem=odd), SURVEY)
    assert history.visit(number).problem == "nul \\x00 and byte \\udcff"
    kept, _ = history.keep_patch(dataclasses.replace(PATCH, diff=odd, rationale=odd))
    assert kept.diff == odd and kept.rationale == "nul \\x00 and byte \\udcff"


def test_a_rejected_patch_stays_rejected_when_it_is_found_again(history: History) -> None:
    patch, new = history.keep_patch(PATCH)
    assert new and patch.id is not None and patch.standing is Standing.OPEN
    history.decide(patch.id, "ann", Choice.REJECT, "too clever", seen=0)
    again, new = history.keep_patch(dataclasses.replace(PATCH, base="later"))
    assert not new and again.standing is Standing.REJECTED and again.id == patch.id
    assert [(d.reviewer, d.reason) for d in history.decisions(patch.id)] == [("ann", "too clever")]


def test_of_two_reviewers_at_once_the_second_hears_of_the_first(history: History) -> None:
    patch, _ = history.keep_patch(PATCH)
    assert patch.id is not None
    history.decide(patch.id, "ann", Choice.ACCEPT, "", seen=0)
    with pytest.raises(UsageError, match="in the meantime"):
        history.decide(patch.id, "bob", Choice.REJECT, "", seen=0)
    assert history.patch(patch.id).standing is Standing.ACCEPTED
    history.decide(patch.id, "bob", Choice.REJECT, "now I see", seen=1)
    assert history.patch(patch.id).standing is Standing.REJECTED


def test_verdicts_belong_to_their_patch(history: History) -> None:
    night = history.begin_night("here", "1", "/night")
    patch, _ = history.keep_patch(PATCH)
    judged = Judgement(
        patch.id or 0, night, PLACE, "abc", "ACCEPTED", "fine", ({"name": "x"},), ({"ratio": 2.0},), ("y",), now()
    )
    history.keep_judgement(judged)
    history.keep_judgement(judged)
    assert history.judgements(patch.id or 0) == (judged,)


def test_what_a_search_tried_is_kept_once_with_its_exact_diff(history: History) -> None:
    night = history.begin_night("here", "1", "/night")
    tried = Tried("saxpy", night, "/r", 1, "saxpy", "memoryAccess", "rule x", "NOT_FASTER", "1.00×", "+ \0 \udcff\n")
    other = dataclasses.replace(tried, number=2, outcome="DECLINED", detail="no \0 loop", diff="")
    history.keep_candidates((tried, other))
    history.keep_candidates((tried, other))
    assert history.candidates("/r") == (tried, dataclasses.replace(other, detail="no \\x00 loop"))
    assert history.candidates("/elsewhere") == ()


def write_nights(url: str, count: int) -> None:
    history = open_history(url)
    for number in range(count):
        night = history.begin_night(f"host {os.getpid()}", "1", "/night")
        history.keep_visit(visit(night, fingerprint=f"{os.getpid()}-{number}"), SURVEY)
        history.keep_patch(PATCH)
    history.close()


def test_concurrent_writers_lose_nothing(url: str) -> None:
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=write_nights, args=(url, 6)) for _ in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(120)
    assert [writer.exitcode for writer in writers] == [0] * 4
    history = open_history(url)
    assert len(history.nights()) == 24 and len(history.series(PLACE, "_Z5saxpyv")) == 24
    assert len(history.patches()) == 1 and history.owners() == {"saxpy": ()}
    history.close()


def test_a_killed_writer_leaves_whole_visits_only(url: str) -> None:
    open_history(url).close()
    context = multiprocessing.get_context("fork")
    writer = context.Process(target=write_nights, args=(url, 10_000))
    writer.start()
    reader = open_history(url)
    while not reader.series(PLACE, "_Z5saxpyv"):
        time.sleep(0.02)
    time.sleep(0.2)
    os.kill(writer.pid or 0, signal.SIGKILL)
    writer.join(30)
    for night in reader.nights(100_000):
        for kept in reader.visits(night.id):
            assert reader.survey(kept.id or 0) == SURVEY
    assert reader.begin_night("after", "1", "/night") > 0  # no lock is left
    reader.close()


def connection_of(url: str) -> sa.Engine:
    spelled = url.replace("postgresql://", "postgresql+psycopg://") if "://" in url else f"sqlite:///{url}"
    return sa.create_engine(spelled)


def test_a_database_of_the_first_schema_is_upgraded_with_what_it_holds(url: str) -> None:
    config = Config()
    config.set_main_option("script_location", "intelliperf.history:migrations")
    engine = connection_of(url)
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        connection.execute(schema.targets.insert().values(name="old", owners=["me"]))
    with pytest.raises(HistoryUnavailable, match="run `intelliperf nightly` once to upgrade"):
        open_history(url, read_only=True)
    history = open_history(url)
    assert history.owners() == {"old": ("me",)} and history.regressions() == ()
    history.close()
    engine.dispose()


def test_the_migrations_lead_to_the_tables_of_the_schema(url: str) -> None:
    from alembic.autogenerate import compare_metadata

    open_history(url).close()
    engine = connection_of(url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, schema.metadata) == []
    engine.dispose()


def test_a_newer_schema_is_refused_by_name(url: str) -> None:
    open_history(url).close()
    engine = connection_of(url)
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(HistoryUnavailable, match="schema 9999.*install the newer"):
        open_history(url)


@pytest.mark.postgresql
def test_a_server_that_goes_away_is_named_without_its_password(server: Any) -> None:
    history = open_history(emptied(server.url))
    server.stop()
    try:
        with pytest.raises(HistoryUnavailable, match=r"intelliperf:\*\*\*@127") as raised:
            history.begin_night("here", "1", "/night")
        assert "secret" not in str(raised.value)
    finally:
        server.start()
    assert history.begin_night("here", "1", "/night") > 0
    history.close()


def test_a_database_that_may_only_be_read_answers_and_takes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    open_history(str(path)).close()
    reader = open_history(str(path), read_only=True)
    assert reader.nights() == ()
    engine = sa.create_engine(f"sqlite:///file:{path}?mode=ro&uri=true")
    with pytest.raises(HistoryUnavailable, match="readonly database"):
        History(engine, str(path)).begin_night("here", "1", "/night")
    reader.close()
    engine.dispose()


def test_a_locked_read_only_or_foreign_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    foreign = tmp_path / "foreign.db"
    foreign.write_bytes(b"not a database at all, but long enough to be looked at" * 100)
    with pytest.raises(HistoryUnavailable, match="not a database"):
        open_history(str(foreign))
    with pytest.raises(HistoryUnavailable, match="there is no database"):
        open_history(str(tmp_path / "none.db"), read_only=True)
    with pytest.raises(HistoryUnavailable, match="there is no database"):
        open_history(str(tmp_path / "no" / "where.db"), anew=False)
    assert not (tmp_path / "no").exists()
    with pytest.raises(UsageError, match="not a database URL"):
        open_history("nosuch://x")
    monkeypatch.setattr("intelliperf.history.opening._LOCK_WAIT_S", 0.1)
    path = tmp_path / "locked.db"
    open_history(str(path)).close()
    waiting = open_history(str(path))
    holder = connection_of(str(path))
    with holder.connect() as connection:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        with pytest.raises(HistoryUnavailable, match="database is locked"):
            waiting.begin_night("here", "1", "/night")
        reader = open_history(str(path))
        assert reader.nights() == (), "who only reads waits for no writer"
        reader.close()
    waiting.close()
    holder.dispose()


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_is_deleted_or_replaced_in_mid_run_takes_nothing_silently(tmp_path: Path, replaced: bool) -> None:
    """An open SQLite connection writes on into a deleted file without an error."""
    path = tmp_path / "history.db"
    history = open_history(str(path))
    history.begin_night("here", "1", "/night")
    path.unlink()
    if replaced:
        open_history(str(path)).close()
    with pytest.raises(HistoryUnavailable, match="deleted or replaced"):
        history.begin_night("here", "1", "/night")
    with pytest.raises(HistoryUnavailable, match="deleted or replaced"):
        history.nights()
    assert path.exists() is replaced, "and no empty one is made in its place"
    history.close()
    again = open_history(str(path))
    assert again.begin_night("here", "1", "/night") == 1
    again.close()
