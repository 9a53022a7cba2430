"""The replies of a recorded run, played again without a model, a key or a network."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from intelliperf.codegen.budget import Budget
from intelliperf.codegen.exchange import EXCHANGE_VERSION, Exchanges, Prompt, Reply, reply_of
from intelliperf.codegen.model import Lint, ModelRewriter
from intelliperf.errors import ProtocolError, UsageError
from intelliperf.records import OriginKind, Usage

EXCHANGES = "exchanges"  # directory of a run; one file per prompt, named by its hash


class RecordedModel:
    """Implements `LanguageModel` from a run's exchanges.

    A prompt is answered by the reply to the very same prompt; one that has changed a little since
    (another time in a sentence, another wording) by the next reply that was not used yet, in the
    order of the recording.
    """

    def __init__(self, exchanges: Mapping[str, Mapping[str, Any]]) -> None:
        answered = [(entry["attempt"], entry["round"], key, entry) for key, entry in exchanges.items()]
        replies = ((key, reply_of(entry)) for _, _, key, entry in sorted(answered, key=lambda item: item[:3]))
        self._replies = {key: reply for key, reply in replies if reply is not None}
        self._models = {str(entry["model"]) for entry in exchanges.values()}

    @property
    def name(self) -> str:
        return " and ".join(sorted(self._models)) or "recording"

    def __len__(self) -> int:
        """How many replies are left."""
        return len(self._replies)

    def ask(self, prompt: Prompt) -> Reply | None:
        """The recorded reply; it costs nothing this time."""
        key = prompt.hash if prompt.hash in self._replies else next(iter(self._replies), None)
        return replace(self._replies.pop(key), usage=Usage()) if key is not None else None


def read_exchanges(run: Path) -> dict[str, Mapping[str, Any]]:
    """The recorded exchanges by prompt hash.

    Raises `UsageError` where there are none, `ProtocolError` for a file of another version.
    """
    directory = run / EXCHANGES
    if not directory.is_dir():
        raise UsageError(f"{run} holds no recorded model replies ({EXCHANGES}/)")
    found: dict[str, Mapping[str, Any]] = {}
    for path in sorted(directory.glob("*.json")):
        try:
            entry = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, OSError) as error:
            raise ProtocolError(f"cannot read {path}: {error}") from error
        if not isinstance(entry, dict) or entry.get("version") != EXCHANGE_VERSION:
            raise ProtocolError(f"{path} is not an exchange of version {EXCHANGE_VERSION}")
        found[path.stem] = entry
    return found


def replay_rewriter(
    run: Path, exchanges: Exchanges, budget: Budget, lint: Lint = lambda candidate, task: ""
) -> ModelRewriter:
    """A rewriter that plays the replies recorded in the run directory."""
    return ModelRewriter(RecordedModel(read_exchanges(run)), exchanges, budget, OriginKind.REPLAY, lint)
