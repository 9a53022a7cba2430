"""Opening a database of nights, and bringing it to today's schema."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from intelliperf.errors import HistoryUnavailable, UsageError
from intelliperf.history.asking import READING, reading
from intelliperf.history.store import History

_LOCK_WAIT_S = 30
_WRITE = "BEGIN IMMEDIATE"
_MIGRATION_LOCK = 0x496E7465  # any number of our own, for PostgreSQL's advisory locks


def open_history(url: str, read_only: bool = False, anew: bool = True) -> History:
    """`url` as SQLAlchemy has it, `sqlite:////absolute/path` or `postgresql://…`, or the path of an SQLite file.

    Makes or upgrades the schema unless `read_only`. Without `anew`, an SQLite file has to be there already.
    """
    engine = _engine(url, anew and not read_only)
    history = History(engine, _shown(url))
    try:
        with history.errors():
            _bring_up(engine, url, read_only)
    except BaseException:
        history.close()
        raise
    return history


def _engine(url: str, anew: bool) -> sa.Engine:
    try:
        parsed = sa.make_url(url if "://" in url else f"sqlite:///{Path(url).resolve()}")
        if parsed.drivername == "postgresql":
            parsed = parsed.set(drivername="postgresql+psycopg")
        if parsed.get_backend_name() != "sqlite":
            return sa.create_engine(parsed, pool_pre_ping=True)
        if parsed.database:
            if anew:
                Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
            elif not Path(parsed.database).is_file():
                raise HistoryUnavailable(f"there is no database {parsed.database}: run `intelliperf nightly` first")
        engine = sa.create_engine(parsed, connect_args={"timeout": _LOCK_WAIT_S})
    except ModuleNotFoundError as error:
        raise HistoryUnavailable(f"{error}: pip install 'intelliperf[postgresql]'") from error
    except (sa.exc.ArgumentError, sa.exc.NoSuchModuleError) as error:
        raise UsageError(f"--database {url!r} is not a database URL: {error}") from error
    except OSError as error:
        raise HistoryUnavailable(f"cannot open the database {url}: {error.strerror}; choose another --database") from (
            error
        )
    _begin_at_once(engine)
    return engine


def _begin_at_once(engine: sa.Engine) -> None:
    """A writer waits for its lock when it begins; one that only found out when it writes could never wait.

    An open connection writes to a file that was deleted or replaced as if nothing had happened: that is refused.
    """
    path = Path(engine.url.database or ":memory:")
    opened: list[tuple[int, int] | None] = []

    @sa.event.listens_for(engine, "connect")
    def connect(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # the driver's own "begin" would come too late
        connection.execute("PRAGMA foreign_keys = ON")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        if opened and opened[0] != _identity(path):
            raise HistoryUnavailable(f"the database {path} was deleted or replaced while it was open")
        connection.exec_driver_sql("BEGIN" if READING.items() <= connection.get_execution_options().items() else _WRITE)
        if not opened and _identity(path):
            opened.append(_identity(path))


def _identity(path: Path) -> tuple[int, int] | None:
    """Of the file; None where there is none, as in memory."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _bring_up(engine: sa.Engine, url: str, read_only: bool) -> None:
    """To today's schema; what has it already is only looked at, as it may be readable and no more."""
    config = Config()
    config.set_main_option("script_location", "intelliperf.history:migrations")
    scripts = ScriptDirectory.from_config(config)
    head = scripts.get_current_head()
    with reading(engine) as connection:
        current = MigrationContext.configure(connection).get_current_revision()
    if current == head:
        return
    known = {script.revision for script in scripts.walk_revisions()}
    if current is not None and current not in known:
        raise HistoryUnavailable(
            f"the database {_shown(url)} has schema {current}, this intelliperf knows {head}: install the newer one"
        )
    if read_only:
        raise HistoryUnavailable(
            f"the database {_shown(url)} has schema {current}: run `intelliperf nightly` once to upgrade it"
        )
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MIGRATION_LOCK)))
        if MigrationContext.configure(connection).get_current_revision() != head:  # another process was first
            config.attributes["connection"] = connection
            command.upgrade(config, "head")


def _shown(url: str) -> str:
    """Without the password."""
    return sa.make_url(url).render_as_string(hide_password=True) if "://" in url else url
