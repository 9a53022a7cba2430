"""Kernels that a compiler made: the report leads to the model's lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from intelliperf.emulator.generated import generated_note, model_lines
from intelliperf.errors import ProtocolError
from intelliperf.project.versions import GENERATED_LOG


def written(project: Path, text: str) -> Path:
    log = project / GENERATED_LOG
    log.parent.mkdir(parents=True)
    log.write_text(text)
    return project


def test_a_generated_kernel_is_led_back_to_lines_of_the_model(tmp_path: Path) -> None:
    entry = {"kernel": "triton_red_0", "lines": [f"{tmp_path}/model.py:11", f"{tmp_path}/model.py:12"]}
    lines = model_lines(written(tmp_path, json.dumps(entry) + "\n"))
    assert lines == {"triton_red_0": ("model.py:11", "model.py:12")}
    assert "made this kernel from model.py:11, model.py:12: its text is not" in generated_note(lines["triton_red_0"])


def test_a_damaged_log_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ProtocolError, match=r"generated\.jsonl"):
        model_lines(written(tmp_path, "{}\n"))


def test_most_projects_have_no_generated_kernels(tmp_path: Path) -> None:
    assert model_lines(tmp_path) == {}
