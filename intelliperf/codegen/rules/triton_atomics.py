"""An atomic whose old value is unused, as the rules that combine atomics look at it."""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass

from intelliperf.codegen.rules.problem import NotApplicable
from intelliperf.codegen.rules.triton import Kernel, argument, statement_at
from intelliperf.records import SourceEvidence

SUM = ("atomic_add",)
LEAST_BYTES = 4  # of an element: narrower ones would add up with less precision than they did
_OPTIONS = ("sem", "scope")


@dataclass(frozen=True)
class Atomic:
    statement: ast.Expr
    call: ast.Call
    word: str
    address: ast.expr
    value: ast.expr
    mask: ast.expr | None


def atomic_at(kernel: Kernel, evidence: SourceEvidence, words: Collection[str]) -> Atomic:
    """The atomic on the blamed line, one of `words`. Raises `NotApplicable`."""
    statement, _ = statement_at(kernel, evidence.line)
    return atomic_of(kernel, statement, evidence, words)


def atomic_of(kernel: Kernel, statement: ast.stmt, evidence: SourceEvidence, words: Collection[str]) -> Atomic:
    where = kernel.where(statement)
    call = statement.value if isinstance(statement, ast.Expr) else None
    word = kernel.called(call) if isinstance(call, ast.Call) else ""
    if not isinstance(statement, ast.Expr) or not isinstance(call, ast.Call) or not word.startswith("atomic_"):
        raise NotApplicable(f"{where} is not an atomic whose old value is unused")
    if word not in words:
        raise NotApplicable(f"{where}: several {word}s cannot be combined into one here")
    if evidence.element_bytes and evidence.element_bytes < LEAST_BYTES:
        raise NotApplicable(f"{where}: adding up in {8 * evidence.element_bytes} bits would lose precision")
    address, value, mask = (argument(call, n, name) for n, name in enumerate(("pointer", "val", "mask")))
    if address is None or value is None:
        raise NotApplicable(f"{where}: the atomic's arguments cannot be told")
    return Atomic(statement, call, word, address, value, mask)


def options_of(kernel: Kernel, call: ast.Call) -> list[str]:
    """Its order and scope, as it names them."""
    return [f"{k.arg}={kernel.text(k.value)}" for k in call.keywords if k.arg in _OPTIONS]
