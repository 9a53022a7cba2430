"""The model rewriter against a scripted model: attempts, repair, journal, budget."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from rewrite_task import GOOD_REPLY, MISPLACED_REPLY, REFUSAL, Shelf, task

from intelliperf.codegen.budget import Budget, total
from intelliperf.codegen.exchange import Prompt, Reply
from intelliperf.codegen.model import ModelRewriter, model_rewriter
from intelliperf.codegen.pricing import Prices, usd
from intelliperf.codegen.providers import PromptTooLong
from intelliperf.codegen.retry import Backoff, Patience
from intelliperf.codegen.syntax.source import same_code
from intelliperf.errors import BudgetExhausted, ProviderError, UsageError
from intelliperf.protocols import Proposal, Task
from intelliperf.records import Attempt, Candidate, OriginKind, Outcome, Usage, Verdict, content_hash


class Script:
    """A language model that says what it was given to say, and remembers what it was asked."""

    name = "openai/scripted"

    def __init__(self, *replies: str | Reply | BaseException) -> None:
        self.replies = list(replies)
        self.asked: list[Prompt] = []

    def ask(self, prompt: Prompt) -> Reply | None:
        self.asked.append(prompt)
        if not self.replies:
            return None
        reply = self.replies.pop(0)
        if isinstance(reply, BaseException):
            raise reply
        return reply if isinstance(reply, Reply) else Reply(reply, "stop", "scripted-1", Usage(1000, 100, 0.01, 2.0))


def proposed(rewriter: ModelRewriter, *attempts: Attempt) -> Proposal:
    proposal = rewriter.propose(task(), attempts)
    assert proposal is not None
    return proposal


def declined(rewriter: ModelRewriter, index: int, *attempts: Attempt) -> Attempt:
    proposal = proposed(rewriter, *attempts)
    assert proposal.declined is not None
    return Attempt(index, None, None, proposal.declined, proposal.usage)


def test_a_good_reply_becomes_a_candidate_with_its_origin_and_cost() -> None:
    model = Script(GOOD_REPLY)
    proposal = proposed(ModelRewriter(model, Shelf(), Budget()))
    assert proposal.candidate is not None and proposal.declined is None
    assert "keys[i] >= 0" in proposal.candidate.edits[0].text
    assert proposal.candidate.rationale == "The same few addresses are hit by every lane."
    assert proposal.candidate.origin.kind is OriginKind.MODEL
    assert proposal.candidate.origin.prompt_hash == model.asked[0].hash
    assert proposal.usage == Usage(1000, 100, 0.01, 2.0)


def test_what_the_lint_refuses_is_repaired_within_the_attempt() -> None:
    model = Script(GOOD_REPLY, GOOD_REPLY.replace(">= 0", "> -1"))

    def lint(candidate: Candidate, given: Task) -> str:
        return "src/tally.hip:6: no" if ">= 0" in candidate.edits[0].text else ""

    proposal = proposed(ModelRewriter(model, Shelf(), Budget(), lint=lint))
    assert proposal.candidate is not None and "keys[i] > -1" in proposal.candidate.edits[0].text
    assert model.asked[1].repairs[0].problem == "the judge would refuse it at once: src/tally.hip:6: no"
    assert proposal.usage.input_tokens == 2000


def test_what_the_lint_refuses_again_and_again_is_left_to_the_judge() -> None:
    model = Script(*[GOOD_REPLY] * 9)
    proposal = proposed(ModelRewriter(model, Shelf(), Budget(), lint=lambda candidate, given: "no"))
    assert proposal.candidate is not None and len(model.asked) == 3


SMALL = """\
[[ ## rationale ## ]]
Zero is a key, too.

[[ ## different ## ]]
It keeps the key 0.

[[ ## base ## ]]
attempt 1

[[ ## edits ## ]]
FILE: src/tally.hip
<<<<<<< SEARCH
    if (i < n && keys[i] >= 0)
=======
    if (i < n && keys[i] >= -9)
>>>>>>> REPLACE
"""


def test_a_follow_up_may_be_a_block_against_an_earlier_attempt() -> None:
    first = proposed(ModelRewriter(Script(GOOD_REPLY), Shelf(), Budget())).candidate
    attempt = Attempt(1, first, Verdict(Outcome.NOT_FASTER, "0.9x"), None)
    candidate = proposed(ModelRewriter(Script(SMALL), Shelf(), Budget()), attempt).candidate
    assert candidate is not None
    (edit,) = candidate.edits
    assert "keys[i] >= -9)\n        atomicAdd" in edit.text
    assert edit.base_hash == content_hash(task().sources[edit.path])
    assert candidate.rationale == "Zero is a key, too.\nDifferent from before: It keeps the key 0."
    model = Script(SMALL, GOOD_REPLY)
    proposed(ModelRewriter(model, Shelf(), Budget()))
    assert model.asked[1].repairs[0].problem == "base: there is no attempt 1 of this finding with edits"


def test_a_malformed_reply_gets_one_repair_round_with_the_precise_reason() -> None:
    model = Script(MISPLACED_REPLY, GOOD_REPLY)
    proposal = proposed(ModelRewriter(model, Shelf(), Budget()))
    assert proposal.candidate is not None
    turns = model.asked[1].messages()
    assert [turn["role"] for turn in turns] == ["system", "user", "assistant", "user"]
    assert turns[2]["content"] == MISPLACED_REPLY
    assert "line 5 reads '    if (i < n)', not '    if (i <  n)' (only white space differs)" in turns[3]["content"]
    assert proposal.usage.input_tokens == 2000 and proposal.usage.usd == 0.02


def test_a_reply_that_changes_comments_alone_is_answered_within_the_attempt() -> None:
    remark = GOOD_REPLY.replace("if (i < n && keys[i] >= 0)", "if (i < n)  // most of them\n")
    model = Script(remark, GOOD_REPLY)
    proposal = proposed(ModelRewriter(model, Shelf(), Budget()))
    assert proposal.candidate is not None and "keys[i] >= 0" in proposal.candidate.edits[0].text
    assert "comments and white space alone" in model.asked[1].repairs[0].problem


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("int a; // one\n", "int   a;\n/* two */\n", True),
        ("int a;\r\n", "int a;\n", True),
        ('puts("a  b");', 'puts("a b");', False),
        ("#define A\nint b;", "#define A int b;", False),
        ("#define A \\\n  1\n", "#define A 1\n", False),  # the same, which is not seen
        ("a + +b;", "a ++b;", False),
        ("x = '\"'; // no", "x = '\"';", True),
        ('puts("// no");', 'puts("");', False),
    ],
)
def test_code_is_the_same_where_comments_and_white_space_alone_differ(before: str, after: str, same: bool) -> None:
    assert same_code(before, after) == same


def test_a_reply_that_is_malformed_twice_is_a_declined_attempt() -> None:
    model = Script("Sorry.", "I cannot.", GOOD_REPLY)
    proposal = proposed(ModelRewriter(model, Shelf(), Budget()))
    assert proposal.candidate is None and proposal.declined is not None
    assert "could not be applied, twice" in proposal.declined.reason
    assert "rationale" in proposal.declined.reason
    assert len(model.asked) == 2


def test_a_reply_that_was_cut_off_is_not_used_even_if_it_parses() -> None:
    cut = Reply(GOOD_REPLY, "length", "scripted-1", Usage(10, 10))
    model = Script(cut, GOOD_REPLY)
    assert proposed(ModelRewriter(model, Shelf(), Budget())).candidate is not None
    assert "cut off" in model.asked[1].messages()[3]["content"]


def test_a_withheld_reply_is_a_declined_attempt() -> None:
    model = Script(Reply("", "content_filter", "scripted-1", Usage(10, 0)))
    proposal = proposed(ModelRewriter(model, Shelf(), Budget()))
    assert proposal.declined is not None and "content filter" in proposal.declined.reason


def test_a_model_that_sees_no_change_twice_in_a_row_is_not_asked_again() -> None:
    model = Script(REFUSAL, REFUSAL, GOOD_REPLY)
    rewriter = ModelRewriter(model, Shelf(), Budget())
    first = declined(rewriter, 1)
    second = declined(rewriter, 2, first)
    assert rewriter.propose(task(), (first, second)) is None
    assert len(model.asked) == 2


def test_the_next_attempt_is_told_why_the_last_one_failed() -> None:
    model = Script(GOOD_REPLY, GOOD_REPLY)
    rewriter = ModelRewriter(model, Shelf(), Budget())
    candidate = proposed(rewriter).candidate
    assert candidate is not None
    wrong = Attempt(1, candidate, Verdict(Outcome.WRONG_OUTPUT, "bins[3]: 12, expected 40"), None, diff="+if")
    proposed(rewriter, wrong)
    assert "WRONG_OUTPUT" in model.asked[1].messages()[1]["content"]
    assert "bins[3]: 12, expected 40" in model.asked[1].messages()[1]["content"]


def test_prompt_and_reply_are_in_the_journal_before_anything_else_happens() -> None:
    shelf = Shelf()

    class Watching(Script):
        def ask(self, prompt: Prompt) -> Reply | None:
            assert shelf.order == [(prompt.hash, False)]
            return super().ask(prompt)

    model = Watching(GOOD_REPLY)
    proposed(ModelRewriter(model, shelf, Budget()))
    entry = shelf.entries[model.asked[0].hash]
    assert entry["messages"] == model.asked[0].messages()
    assert entry["reply"]["text"] == GOOD_REPLY
    assert [with_reply for _, with_reply in shelf.order] == [False, True]


def test_a_resumed_run_pays_for_no_reply_twice() -> None:
    shelf = Shelf()
    before = proposed(ModelRewriter(Script(MISPLACED_REPLY, GOOD_REPLY), shelf, Budget()))
    again = Script()
    after = proposed(ModelRewriter(again, shelf, Budget(tokens=1)))
    assert again.asked == []
    assert after == before


def test_a_run_killed_before_the_reply_came_asks_again() -> None:
    shelf = Shelf()
    with pytest.raises(KeyboardInterrupt):
        ModelRewriter(Script(KeyboardInterrupt()), shelf, Budget()).propose(task(), ())
    model = Script(GOOD_REPLY)
    assert proposed(ModelRewriter(model, shelf, Budget())).candidate is not None
    assert len(model.asked) == 1


def test_a_prompt_that_is_too_long_is_sent_once_more_with_less_in_it() -> None:
    long = {"src/tally.hip": task().sources["src/tally.hip"], "src/b.hip": "void tally();\n" * 300 + "\n"}
    attempts = [Attempt(1, None, None, declined(ModelRewriter(Script(REFUSAL), Shelf(), Budget()), 1).declined)]
    verdict = Verdict(Outcome.CRASHED, "c" * 9000)
    candidate = proposed(ModelRewriter(Script(GOOD_REPLY), Shelf(), Budget())).candidate
    attempts.append(Attempt(2, candidate, verdict, None))
    model = Script(PromptTooLong("too long"), GOOD_REPLY)
    proposal = ModelRewriter(model, Shelf(), Budget()).propose(task(sources=long), attempts)
    assert proposal is not None and proposal.candidate is not None
    sizes = [sum(len(turn["content"]) for turn in prompt.messages()) for prompt in model.asked]
    assert sizes[1] < sizes[0]


def test_a_provider_that_fails_ends_the_run() -> None:
    with pytest.raises(ProviderError, match="still limiting"):
        ModelRewriter(Script(ProviderError("still limiting")), Shelf(), Budget()).propose(task(), ())


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        (Budget(tokens=1100), "1,100 tokens is spent"),
        (Budget(usd=0.01), "budget of \\$0.01 is spent"),
        (Budget(minutes=0.0), "0 minutes is spent"),
    ],
)
def test_a_spent_budget_stops_the_next_call(budget: Budget, message: str) -> None:
    spent = Attempt(1, None, None, declined(ModelRewriter(Script(REFUSAL), Shelf(), Budget()), 1).declined)
    paid = Attempt(spent.index, None, None, spent.declined, Usage(1000, 100, 0.01))
    model = Script(GOOD_REPLY)
    with pytest.raises(BudgetExhausted, match=message):
        ModelRewriter(model, Shelf(), budget).propose(task(), (paid,))
    assert model.asked == []


def test_the_repair_round_is_not_made_beyond_the_budget() -> None:
    model = Script("Sorry.", GOOD_REPLY)
    with pytest.raises(BudgetExhausted):
        ModelRewriter(model, Shelf(), Budget(tokens=1000)).propose(task(), ())
    assert len(model.asked) == 1


def test_minutes_count_from_the_start_of_the_run() -> None:
    now = [100.0]
    budget = Budget(minutes=2, clock=lambda: now[0])
    budget.check(Usage())
    now[0] += 121
    with pytest.raises(BudgetExhausted):
        budget.check(Usage())


def test_a_budget_in_money_needs_a_known_price() -> None:
    Budget(tokens=5).require_price(False, "m")
    with pytest.raises(UsageError, match="--budget-tokens"):
        Budget(usd=1.0).require_price(False, "m")
    with pytest.raises(BudgetExhausted, match="not known"):
        Budget(usd=1.0).check(Usage(10, 10, None))


def test_a_sum_with_an_unknown_price_is_unknown() -> None:
    assert total([Usage(1, 1, 0.5), Usage()]).usd == 0.5
    assert total([Usage(1, 1, 0.5), Usage(1, 1, None)]).usd is None
    assert total([]).usd is None


def test_prices_are_the_users_then_the_published_ones_at_home_else_unknown() -> None:
    assert usd(0.5, None, True, (10, 10)) == 0.5
    assert usd(0.5, None, False, (10, 10)) is None
    assert usd(0.5, Prices.parse("3,15"), False, (1_000_000, 100_000)) == pytest.approx(4.5)
    for wrong in ("3", "a,b", "-1,2", "nan,1"):
        with pytest.raises(UsageError):
            Prices.parse(wrong)


def test_waits_double_and_never_undercut_the_providers_word() -> None:
    backoff = Backoff(tries=5, first_s=1, ceiling_s=3)
    assert [backoff.delay(n, None, 1.0) for n in range(1, 6)] == [1, 2, 3, 3, None]
    assert backoff.delay(1, None, 0.0) == 0.5
    assert backoff.delay(1, 20.0, 0.5) == 20.5
    assert backoff.delay(1, 3600.0, 0.5) is None


def test_only_transient_failures_are_tried_again() -> None:
    slept: list[float] = []
    told: list[str] = []
    patience = Patience(Backoff(tries=3), slept.append, lambda: 1.0, told.append)
    failures = [ValueError("busy"), ValueError("busy"), None]

    def action() -> str:
        failure = failures.pop(0)
        if failure is not None:
            raise failure
        return "done"

    assert patience.call(action, ValueError, lambda _: True, lambda _: None) == "done"
    assert slept == [2.0, 4.0]
    assert told[0] == "busy; trying again in 2 s (2 of 3)"
    failures[:] = [ValueError("wrong")]
    with pytest.raises(ValueError, match="wrong"):
        patience.call(action, ValueError, lambda _: False, lambda _: None)


def test_a_provider_that_has_kept_us_too_long_is_given_up() -> None:
    now = [0.0]

    def action() -> str:
        now[0] += 500.0
        raise ValueError("no answer")

    def sleep(seconds: float) -> None:
        now[0] += seconds

    patience = Patience(Backoff(tries=9, total_s=1200), sleep, lambda: 0.0, clock=lambda: now[0])
    with pytest.raises(ValueError, match="no answer"):
        patience.call(action, ValueError, lambda _: True, lambda _: None)
    assert now[0] < 1600


def test_without_a_model_there_is_no_rewriter() -> None:
    assert model_rewriter(None, {"OPENAI_API_KEY": "k"}, Path("/nowhere"), Shelf(), Budget()) is None


def test_importing_the_rewriters_imports_no_model_library() -> None:
    code = (
        "import sys, intelliperf.codegen, intelliperf.codegen.model, intelliperf.codegen.replay;"
        "print(sorted({'dspy', 'litellm', 'openai', 'anthropic', 'httpx'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"
