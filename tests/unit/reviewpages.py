"""The review page's application, and what a browser would send to it."""

from __future__ import annotations

import re

from starlette.testclient import TestClient

from intelliperf.history.records import Judgement, Patch, WatchedPlace
from intelliperf.history.store import History
from intelliperf.project.codec import encode
from intelliperf.records import Measurement, Provenance, Scope
from intelliperf.review.server import Reviewing, application
from intelliperf.review.sessions import Sessions

BASE = "http://127.0.0.1:8000"


def site(history: History, sessions: Sessions) -> TestClient:
    hosts = ("127.0.0.1:8000",)
    return TestClient(application(Reviewing(history, sessions, hosts)), base_url=BASE, follow_redirects=False)


def csrf(client: TestClient, path: str = "/patch/1") -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', client.get(path).text)
    assert found is not None
    return found[1]


def decide(client: TestClient, action: str, reason: str = "", seen: int = 0, path: str = "/patch/1/decide"):  # type: ignore[no-untyped-def]
    fields = {"csrf": csrf(client), "action": action, "reason": reason, "seen": str(seen)}
    return client.post(path, data=fields)


def add_patch(history: History, number: int, measurement: Measurement, kernel: str = "k", diff: str = "") -> int:
    patch, _new = history.keep_patch(
        Patch("many", f"{number:064d}", "memoryAccess", "_Z", kernel, "rule r", "why", diff, None, "/gone")
    )
    place = WatchedPlace("many", "app", "cuda")
    measured = (encode(measurement),)
    history.keep_judgement(
        Judgement(patch.id or 0, None, place, None, "ACCEPTED", "right", (), measured, (), "2026-01-01T00:00:00Z")
    )
    return patch.id or 0


def gain(ratio: float, provenance: Provenance) -> Measurement:
    return Measurement(Scope.APPLICATION, 100 * ratio, 100, ratio, ratio * 0.98, ratio * 1.02, provenance, 5)
