"""The database of nights: opened, brought to today's schema, written in whole transactions, asked.

SQLite is for one machine, PostgreSQL where several write. Every `keep_…` is one transaction: a writer that is
killed leaves all of it or nothing. Raises `HistoryUnavailable` wherever the database is locked, gone, read-only or
of a newer schema.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from intelliperf.errors import HistoryUnavailable, UsageError
from intelliperf.history import rows, schema
from intelliperf.history.asking import Asking, equal, patches_with_target
from intelliperf.history.records import (
    Choice,
    Cost,
    Decision,
    Judgement,
    NightState,
    Patch,
    Regression,
    Standing,
    Survey,
    Tried,
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


class History(Asking):
    """An open database."""

    # ---- a night writes -----------------------------------------------------------------------

    def begin_night(self, host: str, tool_version: str, directory: str) -> int:
        with self.transaction() as connection:
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
        with self.transaction() as connection:
            connection.execute(
                table.update()
                .where(table.c.id == night)
                .values(state=state.value, ended_at=now(), exit_status=exit_status)
            )

    def keep_target(self, name: str, owners: Sequence[str]) -> None:
        with self.transaction() as connection:
            number = _target(connection, name)
            table = schema.targets
            connection.execute(table.update().where(table.c.id == number).values(owners=list(owners)))

    def keep_visit(self, visit: Visit, survey: Survey | None) -> int:
        """The visit's number. A resumed night that keeps it again replaces what it kept before."""
        with self.transaction() as connection:
            target = _target(connection, visit.place.target)
            table = schema.visits
            same = equal(
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
        with self.transaction() as connection:
            number = _target(connection, target)
            table = schema.searches
            connection.execute(table.delete().where(equal(table, target_id=number, **key)))
            values = {"target_id": number, **key, "ending": ending, "directory": directory, "at": now()}
            connection.execute(table.insert().values(**rows.plain(values)))

    def keep_candidates(self, candidates: Sequence[Tried]) -> None:
        """Of one or more searches; what was kept of their runs before is replaced."""
        table = schema.candidates
        with self.transaction() as connection:
            runs = sorted({tried.directory for tried in candidates})
            connection.execute(table.delete().where(table.c.directory.in_(runs)))
            for tried in candidates:
                values = rows.from_tried(tried, _target(connection, tried.target))
                connection.execute(table.insert().values(**rows.plain(values)))

    def keep_patch(self, patch: Patch) -> tuple[Patch, bool]:
        """The patch as it stands, and whether it is new: found for the first time, or stale until now.

        One that is known keeps its decisions and its standing.
        """
        with self.transaction() as connection:
            target = _target(connection, patch.target)
            table = schema.patches
            same = equal(table, target_id=target, identity=patch.identity)
            known = _known_patch(connection, same)
            if known is None:
                _inserted_or_known(connection, table, rows.from_patch(patch, target, now()))
                return _known_patch(connection, same) or patch, True
            if known.standing is not Standing.STALE:
                return known, False
            values = {"diff": patch.diff, "base": patch.base, "directory": patch.directory, "night_id": patch.night}
            where = table.c.id == known.id  # again, for today's head
            connection.execute(table.update().where(where).values(standing=Standing.OPEN.value, **values))
            return _known_patch(connection, same) or patch, True

    def keep_judgement(self, judgement: Judgement) -> None:
        """A resumed night replaces its own verdict on the same patch at the same place."""
        table = schema.verdicts
        place = judgement.place
        with self.transaction() as connection:
            if judgement.night is not None:
                same = equal(
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
        with self.transaction() as connection:
            connection.execute(table.update().where(table.c.id == patch).values(standing=standing.value))

    def keep_cost(self, cost: Cost) -> None:
        table = schema.costs
        with self.transaction() as connection:
            connection.execute(table.delete().where(equal(table, night_id=cost.night, task=cost.task)))
            values = {**encode(cost), "target_id": _target(connection, cost.target), "night_id": cost.night}
            connection.execute(table.insert().values(**_columns(table, values)))

    def keep_regression(self, regression: Regression) -> bool:
        """Was it new? One regression is kept per kernel and visit that showed it."""
        table = schema.regressions
        with self.transaction() as connection:
            same = equal(table, bad_visit=regression.bad, symbol=regression.symbol)
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


def _known_patch(connection: sa.Connection, same: sa.ColumnElement[bool]) -> Patch | None:
    row = connection.execute(patches_with_target().where(same)).mappings().first()
    return None if row is None else rows.to_patch(dict(row))


def _columns(table: sa.Table, values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: rows.plain(value) for name, value in values.items() if name in table.c}


def _counted(table: sa.Table, **values: Any) -> sa.Select[Any]:
    return sa.select(sa.func.count()).select_from(table).where(equal(table, **values))


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
