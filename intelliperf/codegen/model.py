"""Candidates from a language model: one prompt, one reply, at most one repair round per attempt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from intelliperf.protocols import Proposal, Task
from intelliperf.records import Attempt, Candidate, Declined, Origin, OriginKind, Usage

_ROUNDS = 2  # the reply, and one repair of a malformed one
_REFUSALS = 2  # after so many replies in a row that no change can help, asking on only costs money
_SEES_NOTHING = "the model sees no change that would help: "
_CUT = (
    "the reply was cut off at the provider's limit of output tokens; send shorter edits and a shorter rationale, "
    "and search blocks instead of whole functions"
)


class _OutOfReplies(Exception):
    """A recording has come to its end."""


class ModelRewriter:
    """Implements `Rewriter`. Each attempt starts from the best accepted state, which the task holds."""

    def __init__(
        self, model: LanguageModel, exchanges: Exchanges, budget: Budget, kind: OriginKind = OriginKind.MODEL
    ) -> None:
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
        problem = ""
        for turn in range(_ROUNDS):
            if turn == 0:
                reply, prompt = self._first_reply(prompt, task, attempts, spent)
            else:
                reply = self._reply(prompt, attempts, spent)
            origin = Origin(self._kind, self._model.name, prompt.hash)
            if reply.finish == "content_filter":
                return Proposal(
                    None, Declined(origin, "the provider withheld the reply (content filter)"), total(spent)
                )
            try:
                parsed = self._parsed(reply)
                if not parsed.blocks:
                    return Proposal(None, Declined(origin, _SEES_NOTHING + parsed.rationale), total(spent))
                edits = apply_blocks(parsed.blocks, task.sources, definitions)
            except MalformedReply as error:
                problem = str(error)
                prompt = prompt.repaired(reply.text, problem)
                continue
            return Proposal(Candidate(edits, parsed.rationale, origin, parsed.declares), None, total(spent))
        origin = Origin(self._kind, self._model.name, prompt.hash)
        return Proposal(None, Declined(origin, f"the reply could not be applied, twice: {problem}"), total(spent))

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
    return ModelRewriter(model, exchanges, budget)
