"""The one module that talks to model providers, through DSPy.

dspy is imported when a model is opened, not with this module. Keys come from the environment or the
project's `.env`; they are handed to the client and never put into our own environment, so no child
process can inherit them.
"""

from __future__ import annotations

import importlib
import logging
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dotenv import dotenv_values

from intelliperf.codegen.exchange import Prompt, Reply
from intelliperf.codegen.pricing import Prices, usd
from intelliperf.codegen.retry import Backoff, Patience
from intelliperf.errors import ProviderError, UsageError
from intelliperf.records import Usage

_PROBE = "Answer with the single word: ready"
_OK = 200  # HTTP
_NO_KEY = "none"  # what a server without authentication gets
DEFAULT_TIMEOUT_S = 600.0


@dataclass(frozen=True)
class Provider:
    """How one provider is addressed. `prefix` is DSPy's name for it."""

    prefix: str
    keys: tuple[str, ...]
    addresses: tuple[str, ...] = ()  # variables that hold another address
    native: bool = True  # DSPy has a client of its own for it; otherwise LiteLLM is used


PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider("openai", ("OPENAI_API_KEY",), ("OPENAI_BASE_URL", "OPENAI_API_BASE")),
    "anthropic": Provider("anthropic", ("ANTHROPIC_API_KEY",), ("ANTHROPIC_BASE_URL",)),
    "gemini": Provider("gemini", ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
    "openrouter": Provider("openrouter", ("OPENROUTER_API_KEY",)),
    "groq": Provider("groq", ("GROQ_API_KEY",)),
    "deepseek": Provider("deepseek", ("DEEPSEEK_API_KEY",)),
    "xai": Provider("xai", ("XAI_API_KEY",)),
    "ollama": Provider("ollama", ()),
    "vllm": Provider("hosted_vllm", ()),
}


@dataclass(frozen=True)
class ModelSettings:
    """What the user asked for. `model` may carry its provider: `anthropic/claude-…`."""

    model: str
    provider: str | None = None
    api_base: str | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    timeout_s: float = DEFAULT_TIMEOUT_S
    prices: Prices | None = None


@dataclass(frozen=True)
class Connection:
    """Everything a client needs. The key is never shown."""

    provider: str
    prefix: str
    model: str
    native: bool
    key: str = field(repr=False)
    key_source: str  # "OPENAI_API_KEY of the environment", for messages
    api_base: str | None
    settings: ModelSettings

    @property
    def at_home(self) -> bool:
        """Is it the provider's own service, where its price list holds?"""
        return self.api_base is None

    @property
    def address(self) -> str:
        return self.api_base or self.provider


class PromptTooLong(ProviderError):
    """The model's context window is smaller than the prompt."""


def resolve(settings: ModelSettings, environment: Mapping[str, str], project: Path | None = None) -> Connection:
    """Provider, model, key and address, found without any network.

    Raises `ProviderError` where the key is missing, with the variable's name.
    """
    name, model = _provider_and_model(settings)
    known = PROVIDERS.get(name)
    spec = known or Provider(name, (f"{name.upper().replace('-', '_')}_API_KEY",), native=False)
    variables = {**_dotenv(project), **environment}  # the environment wins
    api_base = settings.api_base or next((variables[v] for v in spec.addresses if variables.get(v)), None)
    key, source = "", ""
    for variable in spec.keys:
        if variables.get(variable):
            key = variables[variable].strip()
            source = variable if environment.get(variable) else f"{variable} of .env"
            break
    if not key and spec.keys and api_base is None:
        raise ProviderError(
            f"no key for {name}: set {' or '.join(spec.keys)} in the environment or in {_dotenv_path(project)}, "
            "or run without --model"
        )
    return Connection(
        provider=name,
        prefix=spec.prefix,
        model=model,
        native=spec.native,
        key=key or _NO_KEY,
        key_source=source or "no key",
        api_base=None if api_base is None else _address(api_base),
        settings=settings,
    )


def _provider_and_model(settings: ModelSettings) -> tuple[str, str]:
    head, slash, rest = settings.model.partition("/")
    if settings.provider is None and slash and head in PROVIDERS:
        return head, rest
    provider = (settings.provider or "openai").lower()
    model = settings.model.removeprefix(f"{provider}/")
    if not model or not provider.replace("-", "").replace("_", "").isalnum():
        raise UsageError(f"not a provider and model: {settings.provider or ''} {settings.model!r}")
    return provider, model


def _dotenv_path(project: Path | None) -> str:
    return str(project / ".env") if project else ".env"


def _dotenv(project: Path | None) -> dict[str, str]:
    if project is None or not (project / ".env").is_file():
        return {}
    try:
        return {key: value for key, value in dotenv_values(project / ".env").items() if value is not None}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {project / '.env'}: {error}") from error


def _address(api_base: str) -> str:
    """The base URL; `/v1`, which both wire formats live under, is added to a bare host."""
    parts = urlsplit(api_base)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise UsageError(f"--api-base {api_base!r} is not an http or https address")
    return f"{api_base.rstrip('/')}/v1" if parts.path in ("", "/") else api_base.rstrip("/")


class ProviderModel:
    """A model at a provider: implements `LanguageModel`."""

    def __init__(self, connection: Connection, patience: Patience | None = None) -> None:
        self.connection = connection
        self._patience = patience or Patience()
        self._signature, self._dspy = _load()
        self._errors = importlib.import_module("dspy.utils.exceptions")
        self._api = "chat"
        self._clients = threading.local()  # each remembers its latest reply
        self._clients.lm, self._clients.api = self._opened(self._api), self._api

    @property
    def _lm(self) -> Any:
        """The calling thread's client."""
        if getattr(self._clients, "api", None) != self._api:
            self._clients.lm, self._clients.api = self._opened(self._api), self._api
        return self._clients.lm

    def _opened(self, api: str) -> Any:
        """DSPy's client; `api` is "chat" or "responses"."""
        connection, settings = self.connection, self.connection.settings
        options: dict[str, Any] = {"api_key": connection.key, "timeout": settings.timeout_s}
        if connection.api_base is not None:
            options["api_base"] = connection.api_base
        try:
            return self._dspy.LM(
                f"{connection.prefix}/{connection.model}",
                model_type=api,
                cache=False,  # the run's journal remembers replies, and nothing is written to the home directory
                num_retries=0,  # retries are ours
                temperature=settings.temperature,
                max_tokens=settings.max_tokens,
                engine="lm15" if connection.native else "auto",
                **options,
            )
        except (self._errors.LMError, ValueError) as error:
            raise ProviderError(_first_line(error)) from error

    @property
    def name(self) -> str:
        return f"{self.connection.provider}/{self.connection.model}"

    def check(self) -> Reply:
        """One cheap call that proves address, key, model and quota before any work is done.

        Raises `ProviderError`; nothing is retried but a busy provider, twice. A model that says it
        is served by OpenAI's responses API only is asked there from now on.
        """
        brief = Patience(Backoff(tries=3, ceiling_s=5.0, patience_s=30.0), self._patience.sleep, self._patience.jitter)
        try:
            return self._answered(lambda: self._lm(_PROBE), brief, connecting=True)
        except ProviderError as error:
            if "v1/responses" not in str(error) or self._api == "responses":
                raise
        self._api = "responses"
        return self._answered(lambda: self._lm(_PROBE), brief, connecting=True)

    def ask(self, prompt: Prompt) -> Reply:
        """The model's reply to the prompt, whatever it says."""
        predict = self._dspy.Predict(self._signature.RewriteKernel)
        adapter = self._signature.EditAdapter(prompt)

        def call() -> None:
            with self._dspy.context(lm=self._lm, adapter=adapter):
                try:
                    predict(**dict(prompt.sections))
                except self._errors.AdapterParseError:
                    return  # a reply came; that it is malformed is for the rewriter to say

        return self._answered(call, self._patience)

    def _answered(self, call: Any, patience: Patience, connecting: bool = False) -> Reply:
        started = time.monotonic()

        def transient(error: Exception) -> bool:
            refused = isinstance(error, self._errors.LMTransportError) and connecting
            garbled = getattr(error, "status", None) == _OK  # a proxy's page, or nothing, in place of an answer
            return (garbled or bool(self._errors.is_retryable_lm_error(error))) and not refused

        def answered() -> None:
            call()
            entry = self._lm.history[-1]
            if not _words(entry) and not entry["usage"].get("completion_tokens"):
                raise self._errors.LMProviderError("the answer is empty", status=_OK)

        try:
            patience.call(answered, self._errors.LMError, transient, _retry_after_s, self._said)
        except self._errors.ContextWindowExceededError as error:
            raise PromptTooLong(f"{self.name}: the prompt does not fit the context window") from error
        except self._errors.LMError as error:
            raise ProviderError(self._explained(error)) from error
        except ImportError as error:
            raise ProviderError(f"{self.connection.provider} needs a package that is missing: {error}") from error
        return self._reply(self._lm.history[-1], time.monotonic() - started)

    def _reply(self, entry: Mapping[str, Any], seconds: float) -> Reply:
        used = entry["usage"]
        tokens = int(used.get("prompt_tokens") or 0), int(used.get("completion_tokens") or 0)
        price = usd(entry.get("cost"), self.connection.settings.prices, self.connection.at_home, tokens)
        return Reply(
            text=_words(entry).encode("utf-8", "replace").decode("utf-8"),  # JSON may hold half a surrogate pair
            finish=_finish_reason(entry["response"]),
            model=str(entry["response_model"] or self.connection.model),
            usage=Usage(tokens[0], tokens[1], price, round(seconds, 3)),
        )

    def _explained(self, error: Exception) -> str:
        """One line: who refused what, and what to do about it."""
        where, errors = self.connection, self._errors
        status = getattr(error, "status", None)
        code = f" (HTTP {status})" if status else ""
        said = self._said(error)
        if isinstance(error, errors.LMAuthError):
            return f"{where.address} does not accept the key ({where.key_source}){code}: {said}"
        if isinstance(error, errors.LMBillingError):
            return f"{where.address} refuses for lack of credit or quota{code}: {said}"
        if isinstance(error, errors.LMUnsupportedModelError) or status == 404:
            return f"{where.address} has no model {where.model}{code}: {said}; check --model and --api-base"
        if isinstance(error, errors.LMRateLimitError):
            return f"{where.address} is still limiting the rate after all retries{code}: {said}"
        if isinstance(error, (errors.LMTransportError, errors.LMTimeoutError)):
            return f"cannot talk to {where.address}: {said}; is it up, and is the address right?"
        if status == _OK:
            return f"{where.address} sends no answer that can be read{code}: {said}"
        if isinstance(error, errors.LMServerError):
            return f"{where.address} fails on its side{code}: {said}"
        return f"{where.address} refused the request{code}: {said}"

    def _said(self, error: Exception) -> str:
        """The provider's words, without the key that some of them repeat."""
        key = self.connection.key
        words = _first_line(error)
        return words if key == _NO_KEY else words.replace(key, "(key)")


def _words(entry: Mapping[str, Any]) -> str:
    output = entry["outputs"][0] if entry["outputs"] else ""
    return (output.get("text") if isinstance(output, dict) else output) or ""


def _retry_after_s(error: Exception) -> float | None:
    seconds = getattr(error, "retry_after", None)
    return None if seconds is None else float(seconds)


def _load() -> tuple[Any, Any]:
    """Our signature and dspy, without price lists from the network or advice in the terminal."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # dspy and litellm: the packaged price list
    os.environ.setdefault("LITELLM_TELEMETRY", "False")
    dspy = importlib.import_module("dspy")
    logging.getLogger("dspy").setLevel(logging.ERROR)
    logging.getLogger("LiteLLM").setLevel(logging.ERROR)
    return importlib.import_module("intelliperf.codegen.signature"), dspy


def _first_line(error: Exception) -> str:
    """What the provider said, without the client library's own advice below it."""
    message = str(getattr(error, "message", "") or error)
    return next((line.strip() for line in message.splitlines() if line.strip()), type(error).__name__)


def _finish_reason(response: Any) -> str:
    """Of DSPy's own response, or of the first choice of an OpenAI-shaped one."""
    first = response[0] if isinstance(response, (list, tuple)) and response else response
    reason = getattr(first, "finish_reason", None)
    choices = getattr(first, "choices", None)
    if reason is None and choices:
        reason = getattr(choices[0], "finish_reason", None)
    return str(reason or "unknown")
