"""One project, one run of it, the database that holds it, and a browser that has signed in."""

from __future__ import annotations

from pathlib import Path

import pytest
from reviewed import make_history, make_project, make_run
from reviewpages import site
from starlette.testclient import TestClient

from intelliperf.history.store import History
from intelliperf.review.sessions import Sessions


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path)


@pytest.fixture
def run(tmp_path: Path, project: Path) -> Path:
    return make_run(tmp_path, project)


@pytest.fixture
def history(tmp_path: Path, run: Path) -> History:
    return make_history(tmp_path, run)


@pytest.fixture
def client(history: History) -> TestClient:
    sessions = Sessions("Ann")
    opened = site(history, sessions)
    assert opened.get(f"/login?token={sessions.token}").status_code == 303
    return opened
