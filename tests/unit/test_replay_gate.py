"""What is known of a version's launches, without any device."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from intelliperf.records import Kernel
from intelliperf.validation import replaygate
from intelliperf.validation.replaygate import Recorder, ReplayGate, file_name


def test_launches_of_a_kernel_that_is_recorded_after_a_version_was_seen_are_learnt_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, later = Kernel("first", "first"), Kernel("later", "later")
    names = {file_name(kernel): kernel.symbol for kernel in (first, later)}
    seen: list[list[str]] = []

    class File:
        def __init__(self, path: Path) -> None:
            self.recording = SimpleNamespace(symbol=names[path.stem], compiled_late=False)

        def __enter__(self) -> File:
            return self

        def __exit__(self, *_: object) -> None:
            return None

    def relaunched(_setting: object, _version: object, recordings: list[Any]) -> dict[str, str]:
        seen.append(sorted(one.symbol for one in recordings))
        return dict.fromkeys(seen[-1], "as recorded")

    monkeypatch.setattr(replaygate, "RecordingFile", File)
    monkeypatch.setattr(replaygate, "relaunched", relaunched)
    monkeypatch.setattr(replaygate, "make_ready", lambda _source, path: path)
    monkeypatch.setattr(replaygate, "deviations", lambda *_: ())
    monkeypatch.setattr(replaygate, "shapes_of", lambda _: "as recorded")
    backend = cast(Any, SimpleNamespace(replayed=lambda version, plan: (version, plan.name)))
    gate = ReplayGate(backend, cast(Any, None), Recorder(tmp_path, tmp_path, 0), 1.0)
    original, candidate = cast(Any, "original"), cast(Any, "candidate")
    for kernel in (first, later):
        (tmp_path / f"{file_name(kernel)}{replaygate.SUFFIX}").touch()
        stands_in = gate.stand_in(original, candidate, kernel, tmp_path, True)
        assert stands_in == (candidate, file_name(kernel))
    assert seen == [["first"], ["first", "later"]]
