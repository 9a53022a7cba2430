"""What autotuners choose: the original's choice for each version that tunes over the same configurations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from intelliperf.python.site.intelliperf_presented import choices


def _kernel() -> None:
    """What is tuned."""


class _Tuner:
    def __init__(self, *configurations: str) -> None:
        self.configs = configurations
        self.base_fn = _kernel
        self.cache: dict[Any, Any] = {}


choices.remember(_Tuner)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INTELLIPERF_TUNED", str(tmp_path / "jit" / "tuned"))
    monkeypatch.setenv("INTELLIPERF_TUNED_BEFORE", str(tmp_path / "original"))
    return tmp_path


def _chosen(tuner: _Tuner, key: Any, fastest: str) -> str:
    tuner.cache[key] = fastest
    return str(tuner.cache[key])


def _become_the_originals(files: Path) -> None:
    (files / "jit" / "tuned").rename(files / "original")


def test_a_candidate_gets_the_originals_choice(files: Path) -> None:
    assert _chosen(_Tuner("small", "large"), (512, "fp16"), "large") == "large"
    _become_the_originals(files)
    assert _chosen(_Tuner("small", "large"), (512, "fp16"), "small") == "large"


def test_another_size_and_other_configurations_are_tuned_anew(files: Path) -> None:
    _chosen(_Tuner("small", "large"), (512,), "large")
    _become_the_originals(files)
    assert _chosen(_Tuner("small", "large"), (511,), "small") == "small"
    assert _chosen(_Tuner("small", "large", "huge"), (512,), "small") == "small"


def test_later_runs_of_a_version_choose_as_its_first_did(files: Path) -> None:
    assert _chosen(_Tuner("small", "large"), (512,), "small") == "small"
    assert _chosen(_Tuner("small", "large"), (512,), "large") == "small"
