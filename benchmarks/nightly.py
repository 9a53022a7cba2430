"""What a night costs beside its tasks: python benchmarks/nightly.py

A hundred targets, all in one repository with 40 files each: a first night that surveys them, then one in which five
have changed. Surveys are played, so that only the night's own work is timed. Fails where it takes more than 60 s to
know that 95 did not change, or where the night's own work is more than 3 % of tasks that take 60 s each.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "unit"))

from scriptednight import Place, ScriptedPool

TARGETS = 100
FILES = 40
CHANGED = 5
MOST_S = 60.0
TASK_S = 60.0
MOST_OVERHEAD = 0.03


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        places = [Place(root, f"target{number}") for number in range(TARGETS)]
        for place in places:
            for number in range(FILES):
                (place.project / f"file{number}.hip").write_text(f"// {place.name} {number}\n" * 200)
            (place.project / ".gitignore").write_text("*.o\n")
        git(root, "init", "-q")
        git(root, "add", *(place.name for place in places))
        git(root, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "start")
        targets = [place.target() for place in places]
        first, _ = timed(places[0], targets)
        for place in places[:CHANGED]:
            place.write("//1000\n// changed\n")
        second, surveyed = timed(places[0], targets)
    overhead = first / (TARGETS * TASK_S)
    print(f"{TARGETS} targets of {FILES} files, first night: {first:.1f} s of its own work, {100 * overhead:.2f} % of")
    print(f"  {TARGETS} surveys of {TASK_S:.0f} s one after the other")
    print(f"{CHANGED} changed: {second:.1f} s until the others are known to be the same and these are surveyed")
    good = second <= MOST_S and overhead <= MOST_OVERHEAD and surveyed == CHANGED
    print("ok" if good else "TOO MUCH")
    return int(not good)


def timed(place: Place, targets: list) -> tuple[float, int]:  # type: ignore[type-arg]
    pool = ScriptedPool()
    started = time.perf_counter()
    place.night(pool, *targets, search=False)
    return time.perf_counter() - started, len(pool.done)


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=root, check=True)


if __name__ == "__main__":
    sys.exit(main())
