"""The database of nights: opened, brought to today's schema, written in whole transactions, asked.

SQLite is for one machine, PostgreSQL where several write. Every `keep_…` is one transaction: a writer that is
killed leaves all of it or nothing. Raises `HistoryUnavailable` wherever the database is locked, gone, read-only or
of a newer schema.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from intelliperf.errors import HistoryUnavailable, UsageError
from intelliperf.history import rows, schema
from intelliperf.history.records import (
    Choice,
    Cost,
    Decision,
    Judgement,
    Night,
    NightState,
    Patch,
    Place,
    Point,
    Regression,
    Standing,
    Survey,
    Visit,
)
from intelliperf.project.codec import encode

_STANDING_AFTER = {
    Choice.ACCEPT: Standing.ACCEPTED,
    Choice.REJECT: Standing.REJECTED,
    Choice.REOPEN: Standing.OPEN,
}


def now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class History:
    """An open database."""

    def __init__(self, engine: sa.Engine, shown: str) -> None:
        self._engine = engine
        self.url = shown  # without its password

    def close(self) -> None:
        self._engine.dispose()

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """Turns the driver's errors into one that names the database and a remedy."""
        try:
            yield
        except DBAPIError as error:
            text = str(error.orig).strip().splitlines()[0]
            remedy = "the night's files are kept: `intelliperf nightly --resume` stores them when it is back"
            raise HistoryUnavailable(f"the database {self.url}: {text}; {remedy}") from error
        except SQLAlchemyError as error:
            raise HistoryUnavailable(f"the database {self.url}: {error}") from error

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sa.Connection]:
        with self.errors(), self._engine.begin() as connection:
            yield connection

    # ---- a night writes -----------------------------------------------------------------------

    def begin_night(self, host: str, tool_version: str, directory: str) -> int:
        with self._transaction() as connection:
            values = {
                "host": host,
                "state": NightState.RUNNING.value,
                "started_at": now(),
                "tool_version": tool_version,
                "directory": directory,
            }
            return _inserted(connection, schema.nights, values)

    def end_night(self, night: int, state: NightState, exit_status: int | None) -> None:
        table = schema.nights
        with self._transaction() as connection:
            connection.execute(
                table.update()
                .where(table.c.id == night)
                .values(state=state.value, ended_at=now(), exit_status=exit_status)
            )

    def keep_target(self, name: str, owners: Sequence[str]) -> None:
        with self._transaction() as connection:
            number = _target(connection, name)
            table = schema.targets
            connection.execute(table.update().where(table.c.id == number).values(owners=list(owners)))

    def keep_visit(self, visit: Visit, survey: Survey | None) -> int:
        """The visit's number. A resumed night that keeps it again replaces what it kept before."""
        with self._transaction() as connection:
            target = _target(connection, visit.place.target)
            table = schema.visits
            same = _where(
                table,
                night_id=visit.night,
                target_id=target,
                workload=visit.place.workload,
                device=visit.place.device,
            )
            number = connection.execute(sa.select(table.c.id).where(same)).scalar()
            values = rows.from_visit(visit, target)
            if number is None:
                number = _inserted(connection, table, values)
            else:
                connection.execute(table.update().where(table.c.id == number).values(**rows.plain(values)))
                _clear(connection, number)
            if survey is not None:
                _keep_survey(connection, number, survey)
            return int(number)

    def keep_search(
        self, target: str, fingerprint: str, symbol: str, formula: str, ending: str, directory: str
    ) -> None:
        """A finished search for patches, which an unchanged target does not need again."""
        key = {"fingerprint": fingerprint, "symbol": symbol, "formula": formula}
        with self._transaction() as connection:
            number = _target(connection, target)
            table = schema.searches
            connection.execute(table.delete().where(_where(table, target_id=number, **key)))
            values = {"target_id": number, **key, "ending": ending, "directory": directory, "at": now()}
            connection.execute(table.insert().values(**rows.plain(values)))

    def keep_patch(self, patch: Patch) -> tuple[Patch, bool]:
        """The patch as it stands, and whether it is new. One that is known keeps its decisions and its standing."""
        with self._transaction() as connection:
            target = _target(connection, patch.target)
            table = schema.patches
            same = _where(table, target_id=target, identity=patch.identity)
            known = _known_patch(connection, same)
            if known is None:
                _inserted_or_known(connection, table, rows.from_patch(patch, target, now()))
                return _known_patch(connection, same) or patch, True
            if known.standing is not Standing.STALE:
                return known, False
            values = {"diff": patch.diff, "base": patch.base, "directory": patch.directory}  # again, for today's head
            where = table.c.id == known.id
            connection.execute(table.update().where(where).values(standing=Standing.OPEN.value, **values))
            return _known_patch(connection, same) or patch, False

    def keep_judgement(self, judgement: Judgement) -> None:
        """A resumed night replaces its own verdict on the same patch at the same place."""
        table = schema.verdicts
        place = judgement.place
        with self._transaction() as connection:
            if judgement.night is not None:
                same = _where(
                    table,
                    patch_id=judgement.patch,
                    night_id=judgement.night,
                    workload=place.workload,
                    device=place.device,
                )
                connection.execute(table.delete().where(same))
            connection.execute(table.insert().values(**rows.plain(rows.from_judgement(judgement))))

    def set_standing(self, patch: int, standing: Standing) -> None:
        """By a night that found it merged or stale; people's decisions go through `decide`."""
        table = schema.patches
        with self._transaction() as connection:
            connection.execute(table.update().where(table.c.id == patch).values(standing=standing.value))

    def keep_cost(self, cost: Cost) -> None:
        table = schema.costs
        with self._transaction() as connection:
            connection.execute(table.delete().where(_where(table, night_id=cost.night, task=cost.task)))
            values = {**encode(cost), "target_id": _target(connection, cost.target), "night_id": cost.night}
            connection.execute(table.insert().values(**_columns(table, values)))

    def keep_regression(self, regression: Regression) -> bool:
        """Was it new? One regression is kept per kernel and visit that showed it."""
        table = schema.regressions
        with self._transaction() as connection:
            same = _where(table, bad_visit=regression.bad, symbol=regression.symbol)
            if connection.execute(sa.select(table.c.id).where(same)).first() is not None:
                return False
            target = _target(connection, regression.place.target)
            connection.execute(table.insert().values(**rows.plain(rows.from_regression(regression, target))))
            return True

    # ---- a reviewer decides -------------------------------------------------------------------

    def decide(self, patch: int, reviewer: str, choice: Choice, reason: str, seen: int) -> Decision:
        """Add a decision. `seen` is how many the reviewer had seen (`len(decisions(patch))`).

        Raises `UsageError` where somebody else decided in between: nothing is lost, nothing is overwritten.
        """
        decision = Decision(patch, seen + 1, reviewer, choice, reason, now())
        table = schema.decisions
        try:
            with self._engine.begin() as connection:
                count = connection.execute(_counted(table, patch_id=patch)).scalar_one()
                if count != seen:
                    raise UsageError(f"patch {patch} was decided upon in the meantime: look again")
                values = {**encode(decision), "patch_id": patch}
                connection.execute(table.insert().values(**_columns(table, values)))
                standing = _STANDING_AFTER.get(choice)
                if standing is not None:
                    patches = schema.patches
                    connection.execute(patches.update().where(patches.c.id == patch).values(standing=standing.value))
        except IntegrityError as error:
            raise UsageError(f"patch {patch} was decided upon in the meantime, or is gone: look again") from error
        except SQLAlchemyError:
            with self.errors():
                raise
        return decision

    # ---- both ask -----------------------------------------------------------------------------

    def nights(self, limit: int = 50) -> tuple[Night, ...]:
        """The latest first."""
        table = schema.nights
        found = self._all(sa.select(table).order_by(table.c.id.desc()).limit(limit))
        return tuple(rows.to_night(row) for row in found)

    def visits(self, night: int) -> tuple[Visit, ...]:
        table = schema.visits
        return tuple(rows.to_visit(row) for row in self._all(_visits().where(table.c.night_id == night)))

    def visit(self, number: int) -> Visit:
        """Raises `UsageError` where there is none."""
        found = self._all(_visits().where(schema.visits.c.id == number))
        if not found:
            raise UsageError(f"there is no visit {number} in {self.url}")
        return rows.to_visit(found[0])

    def latest_visit(self, place: Place, fingerprint: str | None = None, before: int | None = None) -> Visit | None:
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

    def series(self, place: Place, symbol: str, limit: int = 400) -> tuple[Point, ...]:
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

    def searched(self, target: str, fingerprint: str) -> frozenset[tuple[str, str]]:
        """(symbol, formula) of the searches that ended on this fingerprint."""
        table = schema.searches
        query = sa.select(table.c.symbol, table.c.formula).join(schema.targets)
        found = self._all(query.where(schema.targets.c.name == target, table.c.fingerprint == fingerprint))
        return frozenset((row["symbol"], row["formula"]) for row in found)

    def patches(
        self, standing: Standing | None = None, target: str | None = None, diffs: bool = True
    ) -> tuple[Patch, ...]:
        """The latest first. Without `diffs`, their `diff` is empty: a list of them does not need megabytes."""
        query = (_patches() if diffs else _patches_without_diffs()).order_by(schema.patches.c.id.desc())
        if standing is not None:
            query = query.where(schema.patches.c.standing == standing.value)
        if target is not None:
            query = query.where(schema.targets.c.name == target)
        return tuple(rows.to_patch(row) for row in self._all(query))

    def patch(self, number: int) -> Patch:
        """Raises `UsageError` where there is none."""
        found = self._all(_patches().where(schema.patches.c.id == number))
        if not found:
            raise UsageError(f"there is no patch {number} in {self.url}")
        return rows.to_patch(found[0])

    def judgements(self, patch: int) -> tuple[Judgement, ...]:
        """Oldest first."""
        table, patches, targets = schema.verdicts, schema.patches, schema.targets
        query = sa.select(table, targets.c.name.label("target")).select_from(table.join(patches).join(targets))
        found = self._all(query.where(table.c.patch_id == patch).order_by(table.c.id))
        return tuple(rows.to_judgement(row) for row in found)

    def judgements_by_patch(self) -> Mapping[int, tuple[Judgement, ...]]:
        """Those of all patches in one query, each patch's oldest first."""
        table, patches, targets = schema.verdicts, schema.patches, schema.targets
        query = sa.select(table, targets.c.name.label("target")).select_from(table.join(patches).join(targets))
        found: dict[int, list[Judgement]] = {}
        for row in self._all(query.order_by(table.c.id)):
            found.setdefault(row["patch_id"], []).append(rows.to_judgement(row))
        return {number: tuple(judgements) for number, judgements in found.items()}

    def decisions(self, patch: int) -> tuple[Decision, ...]:
        """Oldest first."""
        table = schema.decisions
        found = self._all(sa.select(table).where(table.c.patch_id == patch).order_by(table.c.sequence))
        return tuple(rows.to_decision(row) for row in found)

    def regressions(
        self, night: int | None = None, place: Place | None = None, limit: int = 1000
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
        with self._transaction() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def _counters(self, kernels: Sequence[int]) -> Mapping[int, list[Mapping[str, Any]]]:
        table = schema.counters
        counted: dict[int, list[Mapping[str, Any]]] = {number: [] for number in kernels}
        if kernels:
            for row in self._all(sa.select(table).where(table.c.kernel_id.in_(kernels)).order_by(table.c.id)):
                counted[row["kernel_id"]].append(row)
        return counted


# ---- statements -----------------------------------------------------------------------------------


def _where(table: sa.Table, **values: Any) -> sa.ColumnElement[bool]:
    return sa.and_(*(table.c[name] == value for name, value in values.items()))


def _at(table: sa.Table, place: Place) -> sa.ColumnElement[bool]:
    return sa.and_(schema.targets.c.name == place.target, _where(table, workload=place.workload, device=place.device))


def _visits() -> sa.Select[Any]:
    return sa.select(schema.visits, schema.targets.c.name.label("target")).join(
        schema.targets, schema.targets.c.id == schema.visits.c.target_id
    )


def _patches() -> sa.Select[Any]:
    return sa.select(schema.patches, schema.targets.c.name.label("target")).join(
        schema.targets, schema.targets.c.id == schema.patches.c.target_id
    )


def _patches_without_diffs() -> sa.Select[Any]:
    table = schema.patches
    kept = [column for column in table.c if column.name != "diff"]
    return sa.select(*kept, sa.literal("").label("diff"), schema.targets.c.name.label("target")).join(
        schema.targets, schema.targets.c.id == table.c.target_id
    )


def _known_patch(connection: sa.Connection, same: sa.ColumnElement[bool]) -> Patch | None:
    row = connection.execute(_patches().where(same)).mappings().first()
    return None if row is None else rows.to_patch(dict(row))


def _columns(table: sa.Table, values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: rows.plain(value) for name, value in values.items() if name in table.c}


def _counted(table: sa.Table, **values: Any) -> sa.Select[Any]:
    return sa.select(sa.func.count()).select_from(table).where(_where(table, **values))


def _inserted(connection: sa.Connection, table: sa.Table, values: Mapping[str, Any]) -> int:
    made = connection.execute(table.insert().values(**rows.plain(values))).inserted_primary_key
    if made is None:
        raise HistoryUnavailable(f"the database gave a row of {table.name} no number")
    return int(made[0])


def _inserted_or_known(connection: sa.Connection, table: sa.Table, values: Mapping[str, Any]) -> None:
    """Another machine may insert the same at the same moment: the first one stays."""
    with contextlib.suppress(IntegrityError), connection.begin_nested():
        connection.execute(table.insert().values(**rows.plain(values)))


def _target(connection: sa.Connection, name: str) -> int:
    table = schema.targets
    query = sa.select(table.c.id).where(table.c.name == name)
    number = connection.execute(query).scalar()
    if number is None:
        _inserted_or_known(connection, table, {"name": name, "owners": []})
        number = connection.execute(query).scalar_one()
    return int(number)


def _clear(connection: sa.Connection, visit: int) -> None:
    kernels = sa.select(schema.kernels.c.id).where(schema.kernels.c.visit_id == visit)
    connection.execute(schema.counters.delete().where(schema.counters.c.kernel_id.in_(kernels)))
    for table in (schema.kernels, schema.lines, schema.findings):
        connection.execute(table.delete().where(table.c.visit_id == visit))


def _keep_survey(connection: sa.Connection, visit: int, survey: Survey) -> None:
    for kernel in survey.kernels:
        number = _inserted(connection, schema.kernels, rows.from_kernel(kernel, visit))
        if kernel.counters:
            connection.execute(schema.counters.insert(), rows.from_counters(kernel.counters, number))
    for table, items in (
        (schema.lines, [rows.from_line(line, visit) for line in survey.lines]),
        (schema.findings, [rows.from_found(found, visit) for found in survey.findings]),
    ):
        if items:
            connection.execute(table.insert(), rows.plain(items))
