"""Providers through dspy's real clients, against a local server that speaks the real wire formats."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rewrite_task import GOOD_REPLY, MISPLACED_REPLY, Shelf, task
from servers.provider_server import Conversation, ProviderServer

from intelliperf.codegen.budget import Budget
from intelliperf.codegen.exchange import Prompt
from intelliperf.codegen.model import ModelRewriter, model_rewriter
from intelliperf.codegen.pricing import Prices
from intelliperf.codegen.prompts import rewrite_prompt
from intelliperf.codegen.providers import ModelSettings, PromptTooLong, ProviderModel, resolve
from intelliperf.codegen.retry import Backoff, Patience
from intelliperf.errors import BudgetExhausted, ProviderError, UsageError
from intelliperf.records import Attempt

KEY = "test-key-1"
WIRES = ["openai", "anthropic"]


def prompt() -> Prompt:
    return rewrite_prompt(task(), ())


class Waits(list[float]):
    def patience(self, tries: int = 3) -> Patience:
        return Patience(Backoff(tries=tries), self.append, lambda: 0.0)


def conversation(*replies: dict[str, Any], **given: Any) -> Conversation:
    return Conversation(list(replies), **{"key": KEY, "models": ["demo-model"], **given})


def client(server: ProviderServer, provider: str = "openai", waits: Waits | None = None, **given: Any) -> ProviderModel:
    settings = ModelSettings("demo-model", provider, api_base=given.pop("api_base", server.url), timeout_s=2.0, **given)
    environment = {f"{provider.upper()}_API_KEY": KEY}
    return ProviderModel(resolve(settings, environment), (waits if waits is not None else Waits()).patience())


@pytest.fixture(autouse=True)
def quiet_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing may be written to the home directory, and no variable of this machine may matter."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in [name for name in os.environ if name.endswith(("_API_KEY", "_API_BASE", "_BASE_URL"))]:
        monkeypatch.delenv(name)
    yield
    assert not (tmp_path / ".dspy_cache").exists()


@pytest.mark.parametrize("provider", WIRES)
def test_a_reply_comes_back_word_by_word_with_its_tokens(provider: str) -> None:
    with ProviderServer(conversation({"text": GOOD_REPLY, "usage": [1234, 56]})) as server:
        reply = client(server, provider).ask(prompt())
    assert reply.text == GOOD_REPLY
    assert reply.finish == "stop"
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (1234, 56)
    assert reply.usage.usd is None  # nobody publishes this server's prices
    (call,) = server.conversation.calls
    assert call.model == "demo-model"
    assert all(turn["content"] in call.text for turn in prompt().messages())


@pytest.mark.parametrize("provider", WIRES)
def test_a_malformed_reply_comes_back_too_and_costs_one_call(provider: str) -> None:
    with ProviderServer(conversation({"text": "No sections here."})) as server:
        reply = client(server, provider).ask(prompt())
    assert reply.text == "No sections here."
    assert len(server.conversation.calls) == 1


@pytest.mark.parametrize("provider", WIRES)
@pytest.mark.parametrize(("finish", "ours"), [("length", "length"), ("refusal", "content_filter")])
def test_a_reply_that_is_cut_off_or_withheld_says_so(provider: str, finish: str, ours: str) -> None:
    with ProviderServer(conversation({"text": "[[ ## ratio", "finish": finish})) as server:
        assert client(server, provider).ask(prompt()).finish == ours


@pytest.mark.parametrize("provider", WIRES)
def test_a_repair_round_is_one_conversation(provider: str) -> None:
    with ProviderServer(conversation({"text": MISPLACED_REPLY}, {"text": GOOD_REPLY})) as server:
        proposal = ModelRewriter(client(server, provider), Shelf(), Budget()).propose(task(), ())
    assert proposal is not None and proposal.candidate is not None
    roles = [turn["role"] for turn in server.conversation.calls[1].body["messages"] if turn["role"] != "system"]
    assert roles == ["user", "assistant", "user"]


@pytest.mark.parametrize("provider", WIRES)
def test_half_a_surrogate_pair_in_a_reply_does_no_harm(provider: str) -> None:
    with ProviderServer(conversation({"text": "a \ud800 b"}, {"text": GOOD_REPLY})) as server:
        proposal = ModelRewriter(client(server, provider), Shelf(), Budget()).propose(task(), ())
    assert proposal is not None and proposal.candidate is not None


@pytest.mark.parametrize("provider", WIRES)
def test_a_rate_limit_is_waited_for_as_long_as_the_provider_asks(provider: str) -> None:
    waits = Waits()
    steps = [{"status": 429, "retry_after": 7}, {"status": 500}, {"text": GOOD_REPLY}]
    with ProviderServer(conversation(*steps)) as server:
        assert client(server, provider, waits).ask(prompt()).text == GOOD_REPLY
    assert waits == [7.0, 2.0]


@pytest.mark.parametrize("status", [429, 500, 503, 529])
def test_a_provider_that_stays_busy_ends_the_run_after_all_retries(status: int) -> None:
    waits = Waits()
    with (
        ProviderServer(conversation(*[{"status": status, "message": "busy today"}] * 9)) as server,
        pytest.raises(ProviderError, match=rf"\(HTTP {status}\): .*busy today"),
    ):
        client(server, "anthropic", waits).ask(prompt())
    assert len(waits) == 2 and len(server.conversation.calls) == 3


def test_a_provider_that_asks_for_an_hour_is_not_waited_for() -> None:
    waits = Waits()
    with (
        ProviderServer(conversation({"status": 429, "retry_after": 3600})) as server,
        pytest.raises(ProviderError, match="limiting the rate"),
    ):
        client(server, waits=waits).ask(prompt())
    assert waits == []


def test_an_exhausted_quota_is_not_retried() -> None:
    step = {"status": 429, "type": "insufficient_quota", "code": "insufficient_quota", "message": "check your plan"}
    waits = Waits()
    with (
        ProviderServer(conversation(step, step, step)) as server,
        pytest.raises(ProviderError, match="check your plan"),
    ):
        client(server, waits=waits).ask(prompt())
    assert waits == []


def test_silence_and_dropped_connections_are_tried_again() -> None:
    waits = Waits()
    with ProviderServer(conversation({"hang_s": 30}, {"drop": True}, {"text": GOOD_REPLY})) as server:
        settings = ModelSettings("demo-model", "openai", server.url, timeout_s=0.3)
        model = ProviderModel(resolve(settings, {"OPENAI_API_KEY": KEY}), waits.patience())
        assert model.ask(prompt()).text == GOOD_REPLY
    assert len(waits) == 2


@pytest.mark.parametrize("provider", WIRES)
def test_a_reply_that_is_cut_off_empty_or_a_web_page_is_asked_for_again(provider: str) -> None:
    waits = Waits()
    page = {"raw": "<html><body>sign in</body></html>"}
    garbled = ({**page, "status": 502}, page, {"raw": ""}, {"raw": "{}"}, {"text": GOOD_REPLY, "cut_after": 99})
    with ProviderServer(conversation(*garbled, {"text": GOOD_REPLY})) as server:
        model = client(server, provider)
        model = ProviderModel(model.connection, waits.patience(tries=9))
        assert model.ask(prompt()).text == GOOD_REPLY
    assert len(waits) == len(garbled)


def test_a_page_in_place_of_every_answer_is_named() -> None:
    with (
        ProviderServer(conversation(*[{"raw": "<html>sign in</html>"}] * 3)) as server,
        pytest.raises(ProviderError, match=r"sends no answer that can be read \(HTTP 200\)"),
    ):
        client(server).ask(prompt())


def test_the_default_patience_lasts_for_minutes() -> None:
    backoff = Backoff()
    waited = sum(backoff.delay(failures, None, 0.0) or 0.0 for failures in range(1, backoff.tries))
    assert 120 < waited < backoff.total_s


def test_a_prompt_beyond_the_context_window_is_told_apart() -> None:
    step = {"status": 400, "code": "context_length_exceeded", "message": "maximum context length is 8192 tokens"}
    with ProviderServer(conversation(step)) as server, pytest.raises(PromptTooLong):
        client(server).ask(prompt())


@pytest.mark.parametrize("provider", WIRES)
def test_the_check_is_one_small_call(provider: str) -> None:
    with ProviderServer(conversation()) as server:
        assert client(server, provider).check().text == "ready"
    assert len(server.conversation.probes) == 1 and len(server.conversation.calls) == 0
    assert len(server.conversation.probes[0].text) < 100


@pytest.mark.parametrize("provider", WIRES)
def test_the_check_names_a_refused_key_by_its_variable_and_never_shows_it(provider: str) -> None:
    with (
        ProviderServer(conversation(key="another")) as server,
        pytest.raises(ProviderError, match=rf"does not accept the key \({provider.upper()}_API_KEY\)") as caught,
    ):
        client(server, provider).check()
    assert KEY not in str(caught.value) and "\n" not in str(caught.value)


def test_a_key_that_the_provider_repeats_is_not_shown_in_messages() -> None:
    told: list[str] = []
    step = {"status": 500, "message": f"internal: key {KEY} looks odd"}
    with ProviderServer(conversation(step, step)) as server, pytest.raises(ProviderError, match="looks odd") as caught:
        connection = resolve(ModelSettings("demo-model", api_base=server.url), {"OPENAI_API_KEY": KEY})
        ProviderModel(connection, Patience(Backoff(tries=2), lambda _: None, lambda: 0.0, told.append)).ask(prompt())
    assert KEY not in str(caught.value) + told[0] and "internal: key (key) looks odd; trying again" in told[0]


@pytest.mark.parametrize("provider", WIRES)
def test_the_check_names_an_unknown_model(provider: str) -> None:
    with (
        ProviderServer(conversation(models=["else"])) as server,
        pytest.raises(ProviderError, match=r"has no model demo-model \(HTTP 404\).*check --model"),
    ):
        client(server, provider).check()


def test_the_check_does_not_wait_for_a_server_that_is_not_there() -> None:
    with ProviderServer(conversation()) as server:
        address = server.url
    waits = Waits()
    with pytest.raises(ProviderError, match="cannot talk to http://127.0.0.1:.*refused"):
        client(server, waits=waits, api_base=address).check()
    assert waits == []


def test_the_check_waits_a_little_for_a_busy_provider() -> None:
    waits = Waits()
    with ProviderServer(conversation(probe=[{"status": 503}, {"text": "ready"}])) as server:
        assert client(server, waits=waits).check().text == "ready"
    assert len(waits) == 1


def test_a_model_of_the_responses_api_is_asked_there() -> None:
    refusal = {"status": 404, "message": "This model is only supported in v1/responses and not in v1/chat/completions."}
    steps = [{"text": GOOD_REPLY}, {"text": "[[ ##", "finish": "length"}]
    with ProviderServer(conversation(*steps, probe=[refusal, {"text": "ready"}])) as server:
        model = client(server)
        assert model.check().text == "ready"
        assert model.ask(prompt()).text == GOOD_REPLY
        assert model.ask(prompt()).finish == "length"
    assert [call.path for call in server.conversation.calls] == ["/v1/responses"] * 2


def test_the_rewriter_is_checked_before_any_work(tmp_path: Path) -> None:
    settings = ModelSettings("demo-model", "openai", "http://127.0.0.1:9/v1")
    with pytest.raises(ProviderError, match="cannot talk to"):
        model_rewriter(settings, {}, tmp_path, Shelf(), Budget())


def test_a_budget_in_money_is_refused_where_the_price_is_unknown(tmp_path: Path) -> None:
    with ProviderServer(conversation()) as server:
        settings = ModelSettings("demo-model", "openai", server.url)
        with pytest.raises(UsageError, match="price of openai/demo-model is not known"):
            model_rewriter(settings, {"OPENAI_API_KEY": KEY}, tmp_path, Shelf(), Budget(usd=1))


def test_a_budget_in_money_ends_the_run_in_order(tmp_path: Path) -> None:
    step = {"text": "Sorry.", "usage": [1_000_000, 0]}
    with ProviderServer(conversation(step, step, step)) as server:
        settings = ModelSettings("demo-model", "openai", server.url, prices=Prices(0.4, 2.0))
        rewriter = model_rewriter(settings, {"OPENAI_API_KEY": KEY}, tmp_path, Shelf(), Budget(usd=0.5))
        assert rewriter is not None
        first = rewriter.propose(task(), ())
        assert first is not None and first.usage.usd == pytest.approx(0.8)
        with pytest.raises(BudgetExhausted, match=r"\$0.5 is spent \(\$0.8"):
            rewriter.propose(task(), (Attempt(1, None, None, first.declined, first.usage),))
    assert len(server.conversation.calls) == 2


def test_the_published_price_holds_at_home_only() -> None:
    model = resolve(ModelSettings("gpt-4o-mini"), {"OPENAI_API_KEY": KEY})
    assert model.at_home
    assert not resolve(ModelSettings("gpt-4o-mini"), {"OPENAI_BASE_URL": "http://proxy/v1"}).at_home


@pytest.mark.parametrize(
    ("settings", "provider", "model"),
    [
        (ModelSettings("gpt-5"), "openai", "gpt-5"),
        (ModelSettings("anthropic/claude-x"), "anthropic", "claude-x"),
        (ModelSettings("claude-x", "anthropic"), "anthropic", "claude-x"),
        (ModelSettings("anthropic/claude-x", "anthropic"), "anthropic", "claude-x"),
        (ModelSettings("meta-llama/Llama-3", "openai"), "openai", "meta-llama/Llama-3"),
        (ModelSettings("meta-llama/Llama-3"), "openai", "meta-llama/Llama-3"),
    ],
)
def test_a_model_may_carry_its_provider(settings: ModelSettings, provider: str, model: str) -> None:
    connection = resolve(settings, {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY})
    assert (connection.provider, connection.model) == (provider, model)


def test_a_missing_key_is_named_by_its_variable(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match=r"set ANTHROPIC_API_KEY in the environment or in .*\.env"):
        resolve(ModelSettings("claude-x", "anthropic"), {}, tmp_path)
    with pytest.raises(ProviderError, match="SOME_CLOUD_API_KEY"):
        resolve(ModelSettings("m", "some-cloud"), {}, tmp_path)


def test_a_server_of_ones_own_needs_no_key(tmp_path: Path) -> None:
    with ProviderServer(conversation(key=None)) as server:
        connection = resolve(ModelSettings("demo-model", "openai", server.root), {}, tmp_path)
        assert connection.api_base == server.url  # a bare host gets /v1
        assert ProviderModel(connection, Waits().patience()).check().text == "ready"


def test_keys_come_from_the_projects_dotenv_and_stay_out_of_our_environment(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("OPENAI_API_KEY='from-file'\nOPENAI_BASE_URL=http://proxy:1/v1\n")
    connection = resolve(ModelSettings("m"), {}, tmp_path)
    assert connection.key == "from-file" and connection.api_base == "http://proxy:1/v1"
    assert connection.key_source == "OPENAI_API_KEY of .env"
    assert resolve(ModelSettings("m"), {"OPENAI_API_KEY": "shell"}, tmp_path).key == "shell"
    assert "OPENAI_API_KEY" not in os.environ and "from-file" not in repr(connection)
    (tmp_path / ".env").unlink()


@pytest.mark.parametrize("address", ["localhost:8000", "ftp://x/v1", "http://"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="not an http or https address"):
        resolve(ModelSettings("m", "openai", address), {})


def test_a_model_that_needs_more_output_tokens_says_so() -> None:
    settings = ModelSettings("gpt-5", max_tokens=100)
    with pytest.raises(ProviderError, match="16000"):
        ProviderModel(resolve(settings, {"OPENAI_API_KEY": KEY}))


def test_our_part_of_a_call_is_short() -> None:
    steps = [{"text": GOOD_REPLY}] * 12
    with ProviderServer(conversation(*steps)) as server:
        model, request = client(server), prompt()
        model.ask(request)
        started = time.perf_counter()
        for _ in range(10):
            model.ask(request)
        each_s = (time.perf_counter() - started) / 10
    assert each_s < 0.25


@pytest.mark.slow
def test_the_vendors_own_clients_understand_the_server() -> None:
    import anthropic
    import openai

    text = "x" * 600
    steps = [{"text": "one", "usage": [5, 6]}, {"text": "two"}, {"text": "cut", "finish": "length"}, {"status": 429}]
    with ProviderServer(conversation(*steps)) as server:
        ours = openai.OpenAI(api_key=KEY, base_url=server.url, max_retries=0)
        answer = ours.chat.completions.create(model="demo-model", messages=[{"role": "user", "content": text}])
        assert answer.choices[0].message.content == "one"
        assert answer.usage is not None and answer.usage.completion_tokens == 6
        assert ours.responses.create(model="demo-model", input=text).output_text == "two"
        assert [model.id for model in ours.models.list()] == ["demo-model"]
        theirs = anthropic.Anthropic(api_key=KEY, base_url=server.root, max_retries=0)
        message = theirs.messages.create(
            model="demo-model", max_tokens=10, messages=[{"role": "user", "content": text}]
        )
        assert message.stop_reason == "max_tokens"
        with pytest.raises(anthropic.RateLimitError):
            theirs.messages.create(model="demo-model", max_tokens=10, messages=[{"role": "user", "content": text}])
        with pytest.raises(openai.AuthenticationError):
            openai.OpenAI(api_key="no", base_url=server.url, max_retries=0).models.list()
        ours.close()
        theirs.close()


def test_the_server_runs_from_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "reply.md").write_text(GOOD_REPLY)
    (tmp_path / "talk.json").write_text(json.dumps({"replies": [{"file": "reply.md"}]}))
    script = Path(__file__).parents[1] / "servers" / "provider_server.py"
    argv = [sys.executable, str(script), "--conversation", str(tmp_path / "talk.json")]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        url = running.stdout.readline().strip()
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x" * 600}]}).encode()
        with urllib.request.urlopen(urllib.request.Request(f"{url}/chat/completions", body), timeout=10) as answer:
            assert json.load(answer)["choices"][0]["message"]["content"] == GOOD_REPLY
        running.terminate()


def test_a_call_reaches_the_named_server_and_nothing_else_on_the_network(tmp_path: Path) -> None:
    """No price lists, no telemetry, no cache in the home directory, no LiteLLM where dspy can do without."""
    code = """
import os, sys
seen = []
sys.addaudithook(lambda event, args: seen.append(args) if event in ("socket.connect", "socket.getaddrinfo") else None)
from intelliperf.codegen.providers import ModelSettings, ProviderModel, resolve
model = ProviderModel(resolve(ModelSettings("demo-model", "openai", sys.argv[1]), os.environ))
assert model.check().text == "ready"
foreign = [args for args in seen if "127.0.0.1" not in repr(args)]
print(foreign, "litellm" in sys.modules, os.listdir(os.environ["HOME"]))
"""
    with ProviderServer(conversation()) as server:
        done = subprocess.run(
            [sys.executable, "-c", code, server.url],
            env={"HOME": str(tmp_path), "OPENAI_API_KEY": KEY, "PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert (done.stdout.strip(), done.stderr) == ("[] False []", "")
