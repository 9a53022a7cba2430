"""A recorded run played again: same prompts by hash, changed ones in order, and never a network."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rewrite_task import GOOD_REPLY, MISPLACED_REPLY, REFUSAL, Shelf, task
from test_model import Script

from intelliperf.codegen.budget import Budget
from intelliperf.codegen.exchange import exchange_of, reply_of
from intelliperf.codegen.model import ModelRewriter
from intelliperf.codegen.prompts import rewrite_prompt
from intelliperf.codegen.replay import RecordedModel, read_exchanges, replay_rewriter
from intelliperf.errors import ProtocolError, UsageError
from intelliperf.project.journal import Journal
from intelliperf.records import Attempt, OriginKind, Usage


def record(run: Path, *replies: str) -> list[Attempt]:
    """A run of that many attempts, in a real journal."""
    attempts: list[Attempt] = []
    with Journal(run) as journal:
        rewriter = ModelRewriter(Script(*replies), journal, Budget())
        while (proposal := rewriter.propose(task(), attempts)) is not None and proposal.declined is not None:
            attempts.append(Attempt(len(attempts) + 1, None, None, proposal.declined, proposal.usage))
    return attempts


def test_a_run_plays_again_reply_by_reply(tmp_path: Path) -> None:
    record(tmp_path, REFUSAL, MISPLACED_REPLY, GOOD_REPLY)
    rewriter = replay_rewriter(tmp_path, Shelf(), Budget())
    first = rewriter.propose(task(), ())
    assert first is not None and first.declined is not None
    second = rewriter.propose(task(), (Attempt(1, None, None, first.declined),))
    assert second is not None and second.candidate is not None
    assert second.candidate.origin.kind is OriginKind.REPLAY
    assert second.candidate.origin.name == "openai/scripted"
    assert rewriter.name == "replay"


def test_a_prompt_that_changed_takes_the_next_reply_in_the_recorded_order(tmp_path: Path) -> None:
    record(tmp_path, MISPLACED_REPLY, GOOD_REPLY)
    changed = task(knowledge="Another word.")
    proposal = replay_rewriter(tmp_path, Shelf(), Budget()).propose(changed, ())
    assert proposal is not None and proposal.candidate is not None


def test_a_run_killed_right_after_a_reply_came_does_not_pay_for_it_again(tmp_path: Path) -> None:
    code = """
import os, signal, sys
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from rewrite_task import GOOD_REPLY, task
from test_model import Script
from intelliperf.codegen.budget import Budget
from intelliperf.codegen.model import ModelRewriter
from intelliperf.project.journal import Journal

class Fatal(Journal):
    def keep_exchange(self, prompt_hash, exchange):
        super().keep_exchange(prompt_hash, exchange)
        if exchange["reply"] is not None:
            os.kill(os.getpid(), signal.SIGKILL)

ModelRewriter(Script(GOOD_REPLY), Fatal(Path(sys.argv[1])), Budget()).propose(task(), ())
"""
    here = Path(__file__).parent
    killed = subprocess.run([sys.executable, "-c", code, str(tmp_path), str(here)], timeout=60, check=False)
    assert killed.returncode == -signal.SIGKILL
    model = Script()
    with Journal(tmp_path) as journal:
        proposal = ModelRewriter(model, journal, Budget()).propose(task(), ())
    assert proposal is not None and proposal.candidate is not None
    assert model.asked == []


def test_after_the_last_reply_there_is_nothing_more(tmp_path: Path) -> None:
    record(tmp_path, GOOD_REPLY)
    rewriter = replay_rewriter(tmp_path, Shelf(), Budget())
    assert rewriter.propose(task(), ()) is not None
    assert rewriter.propose(task(knowledge="again"), ()) is None


def test_a_prompt_whose_reply_never_came_is_not_played(tmp_path: Path) -> None:
    prompt = rewrite_prompt(task(), ())
    with Journal(tmp_path) as journal:
        journal.keep_exchange(prompt.hash, exchange_of(prompt, "m", None))
    assert len(RecordedModel(read_exchanges(tmp_path))) == 0


def test_an_exchange_survives_the_journal(tmp_path: Path) -> None:
    prompt = rewrite_prompt(task(), ())
    reply = Script(GOOD_REPLY).ask(prompt)
    assert reply is not None
    with Journal(tmp_path) as journal:
        journal.keep_exchange(prompt.hash, exchange_of(prompt, "m", reply))
        assert reply_of(journal.exchange(prompt.hash)) == reply
        assert reply_of(journal.exchange("other")) is None


@pytest.mark.parametrize("content", ["{", "[]", json.dumps({"version": 99})])
def test_a_foreign_file_is_refused_by_name(tmp_path: Path, content: str) -> None:
    (tmp_path / "exchanges").mkdir()
    (tmp_path / "exchanges" / "abc.json").write_text(content)
    with pytest.raises(ProtocolError, match=r"abc\.json"):
        read_exchanges(tmp_path)


def test_a_directory_without_replies_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no recorded model replies"):
        read_exchanges(tmp_path)


def test_a_replay_costs_nothing(tmp_path: Path) -> None:
    record(tmp_path, GOOD_REPLY)
    entry: dict[str, Any] = json.loads(next((tmp_path / "exchanges").glob("*.json")).read_text())
    assert entry["reply"]["usd"] == 0.01
    proposal = replay_rewriter(tmp_path, Shelf(), Budget()).propose(task(), ())
    assert proposal is not None and proposal.usage == Usage()
