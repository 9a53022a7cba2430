"""Attacks on the edit gate, and honest patches that it has to let through, over six programs of different shape."""

from __future__ import annotations

from pathlib import Path

import pytest
from editattacks import ATTACKS
from edithonest import HONEST
from editpatches import Patch
from editprograms import PROGRAMS
from readers import Gate

from intelliperf.records import Declaration
from intelliperf.validation.edits.gate import StaticVerdict

pytestmark = pytest.mark.slow

DECLARED = {
    "": Declaration(),
    "geometry": Declaration(geometry=True, reason="test"),
    "kernels": Declaration(kernels=True, reason="test"),
}


@pytest.fixture(scope="module")
def gates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Gate]:
    root: Path = tmp_path_factory.mktemp("programs")
    return {name: Gate(root / name, program.texts, program.kernel) for name, program in PROGRAMS.items()}


def verdict(gates: dict[str, Gate], patch: Patch) -> StaticVerdict:
    program, path, declared, changes = patch
    return gates[program].replaced(*changes, declares=DECLARED[declared], path=path)


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_refused(gates, name):
    found = verdict(gates, ATTACKS[name])
    assert found.refusal or found.unread
    assert len((found.refusal or found.unread).splitlines()) == 1


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_patch_is_let_through(gates, name):
    found = verdict(gates, HONEST[name])
    assert (found.refusal, found.unread) == ("", "")
