"""Candidates from a language model: one prompt, one reply, and few repair rounds per attempt.

A reply that cannot be applied is repaired once; one that the lint refuses (syntax, forbidden edits) twice.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from intelliperf.codegen.budget import Budget, total
from intelliperf.codegen.edits import apply_blocks
from intelliperf.codegen.exchange import Exchanges, LanguageModel, Prompt, Reply, exchange_of, reply_of
from intelliperf.codegen.prompts import COMPACT, FULL, rewrite_prompt
from intelliperf.codegen.providers import ModelSettings, PromptTooLong, ProviderModel, resolve
from intelliperf.codegen.reply import MalformedReply, ParsedReply, parse_reply
from intelliperf.codegen.retry import Patience
from intelliperf.codegen.syntax.outline import encoded
from intelliperf.codegen.syntax.pythonoutline import functions
from intelliperf.codegen.syntax.source import same_code
from intelliperf.project.constants import defined
from intelliperf.project.pythonsource import SUFFIX
from intelliperf.protocols import Proposal, Task
from intelliperf.records import Attempt, Candidate, Declined, FileEdit, Origin, OriginKind, Usage, content_hash

_MALFORMED = 2  # replies that cannot be applied, until the attempt is given up
_LINTED = 3  # replies that the lint refuses, until the judge has to say so
_REFUSALS = 2  # after so many replies in a row that no change can help, asking on only costs money
_SEES_NOTHING = "the model sees no change that would help: "
_CUT = (
    "the reply was cut off at the provider's limit of output tokens; send shorter edits and a shorter rationale, "
    "and search blocks instead of whole functions"
)


Lint = Callable[[Candidate, Task], str]  # what is wrong with its text, with the line; empty where nothing is


class _OutOfReplies(Exception):
    """A recording has come to its end."""


class ModelRewriter:
    """Implements `Rewriter`. Each attempt starts from the best accepted state, which the task holds."""

    def __init__(
        self,
        model: LanguageModel,
        exchanges: Exchanges,
        budget: Budget,
        kind: OriginKind = OriginKind.MODEL,
        lint: Lint = lambda candidate, task: "",
    ) -> None:
        self._lint = lint
        self._model = model
        self._exchanges = exchanges
        self._budget = budget
        self._kind = kind

    @property
    def name(self) -> str:
        """The word for this source of candidates; the model's own name is in each candidate's origin."""
        return self._kind.value

    @property
    def model_name(self) -> str:
        return self._model.name

    def propose(self, task: Task, attempts: Sequence[Attempt]) -> Proposal | None:
        """The next candidate, or a declined attempt with the reason.

        Raises `BudgetExhausted` before a call that the budget does not allow, `ProviderError` after
        all retries.
        """
        if self._refusals_in_a_row(attempts) >= _REFUSALS:
            return None
        try:
            return self._proposal(task, attempts)
        except _OutOfReplies:
            return None

    def _proposal(self, task: Task, attempts: Sequence[Attempt]) -> Proposal:
        spent: list[Usage] = []
        prompt = rewrite_prompt(task, attempts, FULL)
        malformed = linted = 0
        while True:
            if not prompt.repairs:
                reply, prompt = self._first_reply(prompt, task, attempts, spent)
            else:
                reply = self._reply(prompt, attempts, spent)
            origin = Origin(self._kind, self._model.name, prompt.hash)
            if reply.finish == "content_filter":
                why = "the provider withheld the reply (content filter)"
                return Proposal(None, Declined(origin, why), total(spent))
            try:
                parsed = self._parsed(reply)
                if not parsed.blocks:
                    return Proposal(None, Declined(origin, _SEES_NOTHING + parsed.rationale), total(spent))
                candidate = _candidate(parsed, task, attempts, origin)
            except MalformedReply as error:
                malformed += 1
                if malformed == _MALFORMED:
                    why = f"the reply could not be applied, twice: {error}"
                    return Proposal(None, Declined(origin, why), total(spent))
                prompt = prompt.repaired(reply.text, str(error))
                continue
            problem = self._lint(candidate, task)
            linted += bool(problem)
            if not problem:
                return Proposal(candidate, None, total(spent))
            if linted == _LINTED:  # what the lint refuses is not built for tuning either
                return Proposal(replace(candidate, tunables=()), None, total(spent))
            prompt = prompt.repaired(reply.text, f"the judge would refuse it at once: {problem}")

    def _parsed(self, reply: Reply) -> ParsedReply:
        if reply.finish == "length":
            raise MalformedReply(_CUT)
        return parse_reply(reply.text)

    def _first_reply(
        self, prompt: Prompt, task: Task, attempts: Sequence[Attempt], spent: list[Usage]
    ) -> tuple[Reply, Prompt]:
        """With less source and history where the model's context window is too small for all of it."""
        try:
            return self._reply(prompt, attempts, spent), prompt
        except PromptTooLong:
            smaller = rewrite_prompt(task, attempts, COMPACT)
            if smaller == prompt:
                raise
            return self._reply(smaller, attempts, spent), smaller

    def _reply(self, prompt: Prompt, attempts: Sequence[Attempt], spent: list[Usage]) -> Reply:
        """From the journal if this very prompt was answered before, else from the model.

        The prompt is in the journal before it is sent, the reply before it is looked at.
        """
        kept = reply_of(self._exchanges.exchange(prompt.hash))
        if kept is None:
            self._budget.check(total([*(attempt.usage for attempt in attempts), *spent]))
            self._exchanges.keep_exchange(prompt.hash, exchange_of(prompt, self._model.name, None))
            answered = self._model.ask(prompt)
            if answered is None:
                raise _OutOfReplies
            kept = answered
            self._exchanges.keep_exchange(prompt.hash, exchange_of(prompt, self._model.name, kept))
        spent.append(kept.usage)
        return kept

    def _refusals_in_a_row(self, attempts: Sequence[Attempt]) -> int:
        count = 0
        for attempt in reversed(attempts):
            declined = attempt.declined
            if declined is None or declined.origin.kind is not self._kind:
                break
            if not declined.reason.startswith(_SEES_NOTHING):
                break
            count += 1
        return count


def _candidate(parsed: ParsedReply, task: Task, attempts: Sequence[Attempt], origin: Origin) -> Candidate:
    """Edits against the task's sources, also where the blocks refer to an earlier attempt's text.

    Raises `MalformedReply` where there is no such attempt, or the blocks do not fit.
    """
    texts = dict(task.sources)
    if parsed.base is not None:
        made = next((a.candidate for a in attempts if a.index == parsed.base and a.candidate is not None), None)
        if made is None:
            raise MalformedReply(f"base: there is no attempt {parsed.base} of this finding with edits")
        if any(edit.base_hash != content_hash(task.sources.get(edit.path, "")) for edit in made.edits):
            raise MalformedReply(f"base: attempt {parsed.base} was made for another source than the one shown")
        texts |= {edit.path: edit.text for edit in made.edits}
    changed = {edit.path: edit.text for edit in apply_blocks(parsed.blocks, texts, definitions)}
    final = {path: changed.get(path, text) for path, text in texts.items()}
    edits = tuple(
        FileEdit(path, content_hash(task.sources[path]), text)
        for path, text in final.items()
        if text != task.sources[path]
    )
    if not edits:
        raise MalformedReply("the edits lead back to the source as it is shown")
    if all(_says_the_same(edit.path, task.sources[edit.path], edit.text) for edit in edits):
        raise MalformedReply("the edits change comments and white space alone: the same program would be built")
    for tunable in parsed.tunables:
        try:
            defined(edits, tunable.name)
        except ValueError as error:
            raise MalformedReply(str(error)) from error
    different = f"\nDifferent from before: {parsed.different}" if parsed.different else ""
    return Candidate(edits, parsed.rationale + different, origin, parsed.declares, parsed.tunables)


def _says_the_same(path: str, before: str, after: str) -> bool:
    if not path.endswith(SUFFIX):
        return same_code(before, after)
    try:
        return ast.dump(ast.parse(before)) == ast.dump(ast.parse(after))
    except (SyntaxError, ValueError):
        return False


def definitions(path: str, text: str, name: str) -> list[tuple[int, int]]:
    """Where functions of that name are defined, for whole-function replacements.

    Raises `MalformedReply` for one that shares its first or last line with other code: whole lines
    are replaced, and nothing else may go with them.
    """
    wanted = name.rpartition("::")[2]
    found = [region for region in functions(path, text) if region.name == wanted]
    data = encoded(text)
    for region in found:
        before = data[data.rfind(b"\n", 0, region.start) + 1 : region.start]
        after = data[region.end :].partition(b"\n")[0]
        if before.strip() or after.strip():
            raise MalformedReply(f"{path}: {name} shares a line with other code; use a SEARCH block")
    return [(region.first_line, region.last_line) for region in found]


def model_rewriter(
    settings: ModelSettings | None,
    environment: Mapping[str, str],
    project: Path,
    exchanges: Exchanges,
    budget: Budget,
    patience: Patience | None = None,
    lint: Lint = lambda candidate, task: "",
) -> ModelRewriter | None:
    """The rewriter, checked with one cheap call; None where no model was named.

    Raises `ProviderError` where the model cannot be used, `UsageError` where the budget needs a
    price that nobody knows.
    """
    if settings is None:
        return None
    if budget.minutes:
        settings = replace(settings, timeout_s=min(settings.timeout_s, budget.minutes * 60))
    model = ProviderModel(resolve(settings, environment, project), patience)
    probe = model.check()
    budget.require_price(probe.usage.usd is not None, model.name)
    return ModelRewriter(model, exchanges, budget, lint=lint)
