"""What both nights and reviewers ask the database. Raises `HistoryUnavailable` wherever it is locked or gone."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from intelliperf.errors import HistoryUnavailable, UsageError
from intelliperf.history import rows, schema
from intelliperf.history.records import (
    Choice,
    Cost,
    Decision,
    Judgement,
    Night,
    Patch,
    Point,
    Regression,
    Spoken,
    Standing,
    Survey,
    Tried,
    Visit,
    WatchedPlace,
)

READING = {"intelliperf_reading": True}  # of a connection: waits for no writer, where the database lets it


@contextlib.contextmanager
def reading(engine: sa.Engine) -> Iterator[sa.Connection]:
    with engine.connect().execution_options(**READING) as connection, connection.begin():
        yield connection


class Asking:
    """An open database that is only read."""

    def __init__(self, engine: sa.Engine, shown: str) -> None:
        self._engine = engine
        self.url = shown  # without its password

    def close(self) -> None:
        self._engine.dispose()

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """Turns the driver's errors into one that names the database."""
        try:
            yield
        except DBAPIError as error:
            text = str(error.orig).strip().splitlines()[0]
            raise HistoryUnavailable(f"the database {self.url}: {text}") from error
        except SQLAlchemyError as error:
            raise HistoryUnavailable(f"the database {self.url}: {error}") from error

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sa.Connection]:
        with self.errors(), self._engine.begin() as connection:
            yield connection

    def nights(self, limit: int = 50) -> tuple[Night, ...]:
        """The latest first."""
        table = schema.nights
        found = self._all(sa.select(table).order_by(table.c.id.desc()).limit(limit))
        return tuple(rows.to_night(row) for row in found)

    def night(self, number: int) -> Night | None:
        found = self._all(sa.select(schema.nights).where(schema.nights.c.id == number))
        return rows.to_night(found[0]) if found else None

    def visits(self, night: int) -> tuple[Visit, ...]:
        table = schema.visits
        return tuple(rows.to_visit(row) for row in self._all(_visits().where(table.c.night_id == night)))

    def visit(self, number: int) -> Visit:
        """Raises `UsageError` where there is none."""
        found = self._all(_visits().where(schema.visits.c.id == number))
        if not found:
            raise UsageError(f"there is no visit {number} in {self.url}")
        return rows.to_visit(found[0])

    def latest_visit(
        self, place: WatchedPlace, fingerprint: str | None = None, before: int | None = None
    ) -> Visit | None:
        """The latest that was surveyed: with that fingerprint, in a night before that one, where they are given."""
        table = schema.visits
        query = _visits().where(_at(table, place), table.c.state == "surveyed").order_by(table.c.id.desc()).limit(1)
        if fingerprint is not None:
            query = query.where(table.c.fingerprint == fingerprint)
        if before is not None:
            query = query.where(table.c.night_id < before)
        found = self._all(query)
        return rows.to_visit(found[0]) if found else None

    def survey(self, visit: int) -> Survey:
        """What a visit saw; of an unchanged one, that of the visit it is the same as."""
        tables = (schema.kernels, schema.lines, schema.findings)
        kernels, lines, findings = (
            self._all(sa.select(t).where(t.c.visit_id == visit).order_by(t.c.id)) for t in tables
        )
        counted = self._counters([row["id"] for row in kernels])
        return Survey(
            tuple(rows.to_kernel(row, counted[row["id"]]) for row in kernels),
            tuple(rows.to_line(row) for row in lines),
            tuple(rows.to_found(row) for row in findings),
        )

    def series(self, place: WatchedPlace, symbol: str, limit: int = 400) -> tuple[Point, ...]:
        """The kernel's surveyed visits at that place, oldest first."""
        visits, kernels = schema.visits, schema.kernels
        query = (
            sa.select(
                visits, kernels.c.id.label("kernel_id"), *(kernels.c[n] for n in ("total_ns", "noise", "provenance"))
            )
            .join(kernels, kernels.c.visit_id == visits.c.id)
            .join(schema.targets, schema.targets.c.id == visits.c.target_id)
            .where(_at(visits, place), kernels.c.symbol == symbol)
            .order_by(visits.c.id.desc())
            .limit(limit)
        )
        found = self._all(query)
        counted = self._counters([row["kernel_id"] for row in found])
        return tuple(rows.to_point(row, counted[row["kernel_id"]]) for row in reversed(found))

    def searched(self, target: str, fingerprint: str) -> Mapping[tuple[str, str], str]:
        """(symbol, formula) of the searches that ended on this fingerprint, and when."""
        table = schema.searches
        query = sa.select(table.c.symbol, table.c.formula, table.c.at).join(schema.targets)
        found = self._all(query.where(schema.targets.c.name == target, table.c.fingerprint == fingerprint))
        return {(row["symbol"], row["formula"]): row["at"] for row in found}

    def patches(
        self, standing: Standing | None = None, target: str | None = None, diffs: bool = True
    ) -> tuple[Patch, ...]:
        """The latest first. Without `diffs`, their `diff` is empty: a list of them does not need megabytes."""
        query = (patches_with_target() if diffs else _patches_without_diffs()).order_by(schema.patches.c.id.desc())
        if standing is not None:
            query = query.where(schema.patches.c.standing == standing.value)
        if target is not None:
            query = query.where(schema.targets.c.name == target)
        return tuple(rows.to_patch(row) for row in self._all(query))

    def patch(self, number: int) -> Patch:
        """Raises `UsageError` where there is none."""
        found = self._all(patches_with_target().where(schema.patches.c.id == number))
        if not found:
            raise UsageError(f"there is no patch {number} in {self.url}")
        return rows.to_patch(found[0])

    def judgements(self, patch: int) -> tuple[Judgement, ...]:
        """Oldest first."""
        table, patches, targets = schema.verdicts, schema.patches, schema.targets
        query = sa.select(table, targets.c.name.label("target")).select_from(table.join(patches).join(targets))
        found = self._all(query.where(table.c.patch_id == patch).order_by(table.c.id))
        return tuple(rows.to_judgement(row) for row in found)

    def latest_verdicts(self, standing: Standing | None = None) -> Mapping[int, tuple[tuple[int, str], ...]]:
        """By patch, number and time of the last verdict of each place: what has to be read again where they differ."""
        table = schema.verdicts
        query = sa.select(table.c.patch_id, table.c.id, table.c.at).where(table.c.id.in_(_last_verdicts()))
        if standing is not None:
            query = query.join(schema.patches).where(schema.patches.c.standing == standing.value)
        found: dict[int, tuple[tuple[int, str], ...]] = {}
        for row in self._all(query.order_by(table.c.id)):
            found[row["patch_id"]] = (*found.get(row["patch_id"], ()), (row["id"], row["at"]))
        return found

    def latest_judgements(self, patches: Sequence[int]) -> Mapping[int, tuple[Judgement, ...]]:
        """By patch, the last of each place, oldest first."""
        table, proposed, targets = schema.verdicts, schema.patches, schema.targets
        last = _last_verdicts().where(table.c.patch_id.in_(patches))
        query = sa.select(table, targets.c.name.label("target")).select_from(table.join(proposed).join(targets))
        found: dict[int, tuple[Judgement, ...]] = {}
        for row in self._all(query.where(table.c.id.in_(last)).order_by(table.c.id)):
            found[row["patch_id"]] = (*found.get(row["patch_id"], ()), rows.to_judgement(row))
        return found

    def candidates(self, directory: str) -> tuple[Tried, ...]:
        """What the search of that run tried, in its order."""
        table = schema.candidates
        query = sa.select(table, schema.targets.c.name.label("target")).join(schema.targets)
        found = self._all(query.where(table.c.directory == directory).order_by(table.c.number))
        return tuple(rows.to_tried(row) for row in found)

    def decisions(self, patch: int) -> tuple[Decision, ...]:
        """Oldest first."""
        table = schema.decisions
        found = self._all(sa.select(table).where(table.c.patch_id == patch).order_by(table.c.sequence))
        return tuple(rows.to_decision(row) for row in found)

    def log(self, limit: int = 500) -> tuple[tuple[Decision, str], ...]:
        """All decisions on all patches, the latest first, each with its patch's target and kernel in words."""
        table, patches, targets = schema.decisions, schema.patches, schema.targets
        query = sa.select(table, targets.c.name.label("target"), patches.c.kernel.label("kernel"))
        query = query.select_from(table.join(patches).join(targets)).order_by(table.c.id.desc()).limit(limit)
        return tuple(
            (rows.to_decision({k: v for k, v in row.items() if k not in ("target", "kernel")}), _named(row))
            for row in self._all(query)
        )

    def spoken(self, target: str) -> tuple[Spoken, ...]:
        """Every decision on the target's patches, each patch's oldest first."""
        patches = {patch.id: patch for patch in self.patches(target=target)}
        table = schema.decisions
        query = sa.select(table).where(table.c.patch_id.in_(list(patches))).order_by(table.c.patch_id, table.c.sequence)
        decisions = [rows.to_decision(row) for row in self._all(query)] if patches else []
        last = {one.patch: one.sequence for one in decisions if one.choice is not Choice.COMMENT}
        return tuple(Spoken(patches[one.patch], one, last.get(one.patch) == one.sequence) for one in decisions)

    def regressions(
        self, night: int | None = None, place: WatchedPlace | None = None, limit: int = 1000
    ) -> tuple[Regression, ...]:
        """The latest first."""
        table = schema.regressions
        query = sa.select(table, schema.targets.c.name.label("target")).join(schema.targets)
        if night is not None:
            query = query.where(table.c.night_id == night)
        if place is not None:
            query = query.where(_at(table, place))
        found = self._all(query.order_by(table.c.id.desc()).limit(limit))
        return tuple(rows.to_regression(row) for row in found)

    def costs(self, night: int) -> tuple[Cost, ...]:
        table = schema.costs
        query = sa.select(table, schema.targets.c.name.label("target")).join(schema.targets)
        return tuple(
            rows.to_cost(row) for row in self._all(query.where(table.c.night_id == night).order_by(table.c.id))
        )

    def owners(self) -> Mapping[str, tuple[str, ...]]:
        found = self._all(sa.select(schema.targets).order_by(schema.targets.c.name))
        return {row["name"]: tuple(row["owners"]) for row in found}

    def _all(self, query: sa.Select[Any]) -> Sequence[Mapping[str, Any]]:
        with self.errors(), reading(self._engine) as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def _counters(self, kernels: Sequence[int]) -> Mapping[int, list[Mapping[str, Any]]]:
        table = schema.counters
        counted: dict[int, list[Mapping[str, Any]]] = {number: [] for number in kernels}
        if kernels:
            for row in self._all(sa.select(table).where(table.c.kernel_id.in_(kernels)).order_by(table.c.id)):
                counted[row["kernel_id"]].append(row)
        return counted


def _named(row: Mapping[str, Any]) -> str:
    return f"{row['kernel']} in {row['target']}"


def equal(table: sa.Table, **values: Any) -> sa.ColumnElement[bool]:
    return sa.and_(*(table.c[name] == value for name, value in values.items()))


def _at(table: sa.Table, place: WatchedPlace) -> sa.ColumnElement[bool]:
    return sa.and_(schema.targets.c.name == place.target, equal(table, workload=place.workload, device=place.device))


def _last_verdicts() -> sa.Select[Any]:
    table = schema.verdicts
    return sa.select(sa.func.max(table.c.id)).group_by(table.c.patch_id, table.c.workload, table.c.device)


def _visits() -> sa.Select[Any]:
    return sa.select(schema.visits, schema.targets.c.name.label("target")).join(
        schema.targets, schema.targets.c.id == schema.visits.c.target_id
    )


def patches_with_target() -> sa.Select[Any]:
    return sa.select(schema.patches, schema.targets.c.name.label("target")).join(
        schema.targets, schema.targets.c.id == schema.patches.c.target_id
    )


def _patches_without_diffs() -> sa.Select[Any]:
    table = schema.patches
    kept = [column for column in table.c if column.name != "diff"]
    return sa.select(*kept, sa.literal("").label("diff"), schema.targets.c.name.label("target")).join(
        schema.targets, schema.targets.c.id == table.c.target_id
    )
