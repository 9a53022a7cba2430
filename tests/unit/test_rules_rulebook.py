"""The rule-based rewriter's order of proposals, with rules that need no compiler."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rewrite_task import task

from intelliperf.codegen.rulebook import RULES, RuleRewriter
from intelliperf.codegen.rules.problem import NotApplicable, Problem, Rewrite
from intelliperf.codegen.syntax.clang import ClangParser
from intelliperf.formulas.atomic_contention import AtomicContention
from intelliperf.formulas.bank_conflict import BankConflict
from intelliperf.formulas.memory_access import MemoryAccess
from intelliperf.records import Attempt, Measurement, Outcome, Provenance, Scope, Verdict


@dataclass(frozen=True)
class Touch:
    """Appends a line to every source, or declines."""

    name: str
    reason: str = ""
    idle: bool = False

    def rewrite(self, problem: Problem) -> Rewrite:
        if self.reason:
            raise NotApplicable(self.reason)
        (path,) = problem.task.sources
        source = problem.source(path)
        if not self.idle:
            source.insert(len(source.data), "// touched\n")
        return Rewrite((source,), "touch it")


PARSER = ClangParser(("clang",))


def attempts_of(rewriter: RuleRewriter, rules: tuple[str, ...]) -> list[Attempt]:
    attempts: list[Attempt] = []
    while (proposal := rewriter.propose(task(rules=rules), attempts)) is not None:
        verdict = Verdict(Outcome.NOT_FASTER, "") if proposal.candidate else None
        attempts.append(Attempt(len(attempts), proposal.candidate, verdict, proposal.declined))
    return attempts


def test_each_named_rule_is_proposed_once_in_the_tasks_order() -> None:
    rewriter = RuleRewriter(PARSER, (Touch("a"), Touch("b", "it is too hot"), Touch("c"), Touch("d")))
    first, second = attempts_of(rewriter, ("c", "b"))

    assert first.candidate is not None and first.candidate.origin.name == "c"
    assert first.candidate.edits[0].text.endswith("// touched\n")
    assert second.declined is not None and second.declined.reason == "it is too hot."


def test_an_accepted_candidate_gives_every_rule_another_chance() -> None:
    rewriter = RuleRewriter(PARSER, (Touch("a", "it is too hot"), Touch("b")))
    declined, proposed = attempts_of(rewriter, ("a", "b"))
    assert rewriter.propose(task(rules=("a", "b")), [declined, proposed]) is None
    accepted = replace(proposed, verdict=accepted_verdict())
    again = rewriter.propose(task(rules=("a", "b")), [declined, accepted])
    assert again is not None and again.declined is not None and again.declined.origin.name == "a"


def accepted_verdict() -> Verdict:
    gain = Measurement(Scope.KERNEL, 2.0, 1.0, 2.0, 1.9, 2.1, Provenance.MODELLED, 1)
    return Verdict(Outcome.ACCEPTED, "", measurements=(gain,), compared_bytes=1, compared_dispatches=1)


def test_a_rewrite_that_changes_nothing_is_declined() -> None:
    (only,) = attempts_of(RuleRewriter(PARSER, (Touch("a", idle=True),)), ("a",))
    assert only.declined is not None and "already" in only.declined.reason


def test_every_rule_that_a_formula_names_exists() -> None:
    known = {rule.name for rule in RULES}
    for formula in (AtomicContention(), BankConflict(), MemoryAccess()):
        assert formula.rules and set(formula.rules) <= known
