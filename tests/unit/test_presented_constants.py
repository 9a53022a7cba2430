"""Other constants for the compilation of a kernel, and which of them both versions are compiled for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from intelliperf.project.versions import OTHER_CONSTANTS
from intelliperf.python.site.intelliperf_presented import constants
from intelliperf.validation.otherconstants import OtherConstants, of_both


@pytest.mark.parametrize(
    "known, expected",
    [
        ({"GROUP": 16, "BLOCK": 128}, [{"GROUP": 32}, {"BLOCK": 256}]),
        ({"BM": 32, "BN": 32, "BK": 64}, [{"BM": 64, "BN": 64}, {"BK": 128}]),
        ({"D": 80, "BLOCK_D": 128}, [{"D": 160, "BLOCK_D": 256}]),
        ({"N": 1024, "STEPS": 10}, [{"N": 2048, "STEPS": 11}]),
        ({"HEADS": 4, "DIM": 24, "WIDTH": 96}, [{"HEADS": 8, "WIDTH": 192}, {"DIM": 48, "WIDTH": 192}]),
        ({"BM": 32, "BN": 32, "TILE": 1024}, [{"BM": 64, "BN": 64, "TILE": 4096}]),
        ({"A": 2, "B": 7, "C": 31, "D": 301}, [{"A": 4}, {"B": 14}, {"C": 62}]),
        ({}, []),
    ],
)
def test_a_constant_is_doubled_with_what_follows_from_it(known: dict[str, int], expected: list[dict[str, int]]) -> None:
    assert constants.alternatives(known) == expected


def test_what_differs_is_put_into_words() -> None:
    words = constants.told({"D": 160, "BLOCK_D": 256}, {"D": 80, "BLOCK_D": 128})
    assert words == "D = 160 instead of 80 and BLOCK_D = 256 instead of 128"


def _version(tree: Path, made: list[str], failed: list[str]) -> Path:
    (tree / OTHER_CONSTANTS).parent.mkdir(parents=True)
    (tree / OTHER_CONSTANTS).write_text(json.dumps({"kernel": "total", "made": made, "failed": failed}) + "\n")
    return tree


def test_only_what_both_versions_are_compiled_for_is_looked_at(tmp_path: Path) -> None:
    blocks, group, parts = "BLOCK = 64 instead of 32", "GROUP = 32 instead of 16", "PARTS = 8 instead of 4"
    original = _version(tmp_path / "original", [blocks, group, parts], [])
    candidate = _version(tmp_path / "candidate", [group, parts], [blocks])
    assert of_both(original, candidate, "total", [(4, 1, 1, 256, 1, 1)]) == OtherConstants(
        (group,), f"launches with {blocks}, for which the candidate is not compiled or has other constants"
    )
    assert of_both(original, candidate, "another", []) == OtherConstants()
    assert of_both(tmp_path, candidate, "total", []) == OtherConstants()
