"""How long the review page takes with 1,000 runs in the database: python benchmarks/review.py

Fails where the inbox takes more than 200 ms, one patch more than 300 ms, or a page more than 500 KB: medians of
ten requests through the whole application, without a network. Processor time stands beside it, since other work on
the machine lengthens the former alone. Every patch was judged in three nights.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

from starlette.testclient import TestClient

from intelliperf.history.opening import open_history
from intelliperf.history.records import Judgement, Patch, WatchedPlace
from intelliperf.history.store import History
from intelliperf.project.codec import encode
from intelliperf.records import Check, CheckStatus, Measurement, Provenance, Scope
from intelliperf.review.server import Reviewing, application
from intelliperf.review.sessions import Sessions

RUNS = 1_000
_REQUESTS = 10
_LIMITS = {"/": (0.2, 500_000), "/?q=kernel+tolerance&page=20": (0.2, 500_000), f"/patch/{RUNS}": (0.3, 500_000)}
_NIGHTS = 3
_GATES = 17  # as many as an accepted candidate passes on the emulator


def fill(history: History) -> None:
    """Patches of 300 lines, each with a verdict of as many gates as the emulator has; the last one with 5 MB."""
    for number in range(RUNS):
        length = 60_000 if number == RUNS - 1 else 300
        lines = "".join(f"+  float value_{n} = input[{n}] * 2.0f;  // <{'x' * 40}>\n" for n in range(length))
        patch, _new = history.keep_patch(
            Patch(
                target=f"target{number % 40}",
                identity=f"{number:064d}",
                formula="memoryAccess",
                symbol="_Z6kernel",
                kernel=f"kernel_{number}",
                origin="rule interchange_index",
                rationale="Neighbouring threads walk along contiguous memory. " * 4,
                diff=f"--- a/k.hip\n+++ b/k.hip\n@@ -0,0 +1,{length} @@\n{lines}",
                base=None,
                directory=f"/no/such/run-{number}",
            )
        )
        checks = [Check(f"gate {n}", CheckStatus.PASSED, "none new in 3,380 of 3,392 blocks") for n in range(_GATES)]
        checks.append(Check("tolerance", CheckStatus.PASSED, "out: rtol 0.00017, atol 0"))
        ratio = 1 + number / RUNS
        kind = Provenance.MEASURED if number % 3 else Provenance.MODELLED
        gains = [
            Measurement(scope, 1e6 * ratio, 1e6, ratio, ratio * 0.99, ratio * 1.01, kind, 9)
            for scope in (Scope.KERNEL, Scope.APPLICATION)
        ]
        for night in range(_NIGHTS):
            history.keep_judgement(
                Judgement(
                    patch=patch.id or 0,
                    night=None,
                    place=WatchedPlace(patch.target, "app", "emulator:mi300x"),
                    commit=None,
                    outcome="ACCEPTED",
                    detail="the same buffers",
                    checks=tuple(encode(check) for check in checks),
                    measurements=tuple(encode(gain) for gain in gains),
                    not_checked=("unit tests: no --unittest-command was given",),
                    at=f"2026-01-0{night + 1}T00:00:00Z",
                )
            )


def main() -> int:
    failed = False
    with tempfile.TemporaryDirectory() as place:
        history = open_history(str(Path(place) / "history.db"))
        fill(history)
        sessions = Sessions("benchmark")
        started = time.perf_counter()
        client = TestClient(application(Reviewing(history, sessions, ())), follow_redirects=False)
        print(f"start: {1000 * (time.perf_counter() - started):.1f} ms")
        client.get(f"/login?token={sessions.token}")
        for path, (limit_s, limit_bytes) in _LIMITS.items():
            seconds, worked = [], []
            for _ in range(_REQUESTS):
                started, begun = time.perf_counter(), time.process_time()
                answer = client.get(path)
                seconds.append(time.perf_counter() - started)
                worked.append(time.process_time() - begun)
                assert answer.status_code == 200
            middle, size = statistics.median(seconds), len(answer.content)
            good = middle <= limit_s and size <= limit_bytes
            failed |= not good
            print(
                f"{path:30} {1000 * middle:6.1f} ms, {1000 * statistics.median(worked):6.1f} of the processor  "
                f"{size / 1000:6.1f} KB  {'ok' if good else 'TOO MUCH'}"
            )
        history.close()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
