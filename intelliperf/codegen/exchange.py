"""What is said to a model and what comes back, and the two seams between: the model and the journal."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from intelliperf.codegen.texts import instructions, text
from intelliperf.records import Usage


@dataclass(frozen=True)
class Repair:
    """A reply that could not be used as it is, and the precise reason."""

    reply: str
    problem: str


@dataclass(frozen=True)
class Prompt:
    """One request. `sections` are the signature's input fields in order; `repairs` the turns after them."""

    attempt: int
    sections: tuple[tuple[str, str], ...]
    repairs: tuple[Repair, ...] = ()
    language: str = ""  # of the instructions: see `texts.instructions`

    def messages(self) -> list[dict[str, str]]:
        """Exactly what is sent, as chat turns."""
        body = "\n\n".join(f"[[ ## {name} ## ]]\n{value}" for name, value in self.sections)
        turns = [{"role": "system", "content": instructions(self.language)}, {"role": "user", "content": body}]
        for repair in self.repairs:
            turns.append({"role": "assistant", "content": repair.reply or "(empty reply)"})
            turns.append({"role": "user", "content": text("repair").replace("{problem}", repair.problem)})
        return turns

    @property
    def hash(self) -> str:
        """Identity of the exact words sent: the same prompt is never paid for twice."""
        return hashlib.sha256(json.dumps(self.messages(), sort_keys=True).encode()).hexdigest()

    def repaired(self, reply: str, problem: str) -> Prompt:
        """The follow-up that shows the model its own reply and what is wrong with it."""
        return replace(self, repairs=(*self.repairs, Repair(reply, problem)))


@dataclass(frozen=True)
class Reply:
    """What a provider answered. `finish` is "stop", "length", "content_filter" or the provider's word."""

    text: str
    finish: str
    model: str  # as the provider names it, which may be more exact than what was asked for
    usage: Usage


class LanguageModel(Protocol):
    @property
    def name(self) -> str: ...

    def ask(self, prompt: Prompt) -> Reply | None:
        """The reply, or None when none is left (the end of a recording).

        Raises `ProviderError` after all retries.
        """
        ...


class Exchanges(Protocol):
    """The journal's side: every exchange kept under its prompt's hash, before it is acted upon."""

    def exchange(self, prompt_hash: str) -> Mapping[str, Any] | None: ...

    def keep_exchange(self, prompt_hash: str, exchange: dict[str, Any]) -> None: ...


EXCHANGE_VERSION = 1


def exchange_of(prompt: Prompt, model: str, reply: Reply | None) -> dict[str, Any]:
    """The journal's entry; without a reply it says that the prompt is about to be sent."""
    answer = None
    if reply is not None:
        answer = {
            "text": reply.text,
            "finish": reply.finish,
            "model": reply.model,
            "input_tokens": reply.usage.input_tokens,
            "output_tokens": reply.usage.output_tokens,
            "usd": reply.usage.usd,
            "seconds": reply.usage.seconds,
        }
    return {
        "version": EXCHANGE_VERSION,
        "attempt": prompt.attempt,
        "round": len(prompt.repairs),
        "model": model,
        "messages": prompt.messages(),
        "reply": answer,
    }


def reply_of(exchange: Mapping[str, Any] | None) -> Reply | None:
    """The reply of a journal entry; None where the run died before it came."""
    answer = exchange and exchange.get("reply")
    if not answer:
        return None
    usd = answer["usd"]
    return Reply(
        text=str(answer["text"]),
        finish=str(answer["finish"]),
        model=str(answer["model"]),
        usage=Usage(
            input_tokens=int(answer["input_tokens"]),
            output_tokens=int(answer["output_tokens"]),
            usd=None if usd is None else float(usd),
            seconds=float(answer["seconds"]),
        ),
    )
