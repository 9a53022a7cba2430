"""The typed DSPy signature of the rewrite, and the adapter that renders and parses it our way.

Imported only when a model is really to be asked: importing dspy takes more than a second.
"""

from __future__ import annotations

from typing import Any

import dspy  # type: ignore[import-untyped]
from dspy.utils.exceptions import AdapterParseError  # type: ignore[import-untyped]

from intelliperf.codegen.exchange import Prompt
from intelliperf.codegen.reply import Block, MalformedReply, parse_reply
from intelliperf.records import Declaration, Tunable


class RewriteKernel(dspy.Signature):  # type: ignore[misc]
    """Rewrite a GPU kernel so that it computes the same thing faster."""

    task: str = dspy.InputField(desc="kernel, language, number of this attempt, files that may be edited")
    knowledge: str = dspy.InputField(desc="field knowledge about this kind of bottleneck")
    finding: str = dspy.InputField(desc="what the profiler found, in one sentence with the numbers")
    evidence: str = dspy.InputField(desc="one sentence per blamed source line, worst first")
    costs: str = dspy.InputField(desc="the kernel's time by component, registers, occupancy")
    buffers: str = dspy.InputField(desc="what must be left in each buffer, and how exactly")
    device: str = dspy.InputField(desc="limits of the device")
    source: str = dspy.InputField(desc="the kernel and its launch, exactly as in the files; hot lines listed")
    accepted_elsewhere: str = dspy.InputField(desc="what this run accepted for other findings; the newest in full")
    reviewers: str = dspy.InputField(desc="what reviewers said of earlier patches: binding for what they refused")
    earlier_attempts: str = dspy.InputField(desc="what was tried before and what became of it")

    rationale: str = dspy.OutputField(desc="cause, change, why it is correct, what should move")
    different: str = dspy.OutputField(desc="what this attempt does that no earlier one did")
    base: int | None = dspy.OutputField(desc="the earlier attempt that the blocks refer to, if one")
    edits: tuple[Block, ...] = dspy.OutputField(desc="search/replace blocks or whole functions")
    tunables: tuple[Tunable, ...] = dspy.OutputField(desc="constants with the values to choose from")
    declares: Declaration = dspy.OutputField(desc="launch geometry or kernels changed on purpose")


class EditAdapter(dspy.Adapter):  # type: ignore[misc]
    """Renders the prompt's own words (they are what the journal hashes) and parses replies strictly."""

    def __init__(self, prompt: Prompt) -> None:
        super().__init__()
        self._prompt = prompt

    def format(
        self, signature: type[dspy.Signature], demos: list[dict[str, Any]], inputs: dict[str, Any]
    ) -> list[dict[str, Any]]:
        given = tuple((name, inputs[name]) for name in signature.input_fields)
        if given != self._prompt.sections:
            raise ValueError(f"the prompt's sections are not the signature's inputs: {list(signature.input_fields)}")
        return list(self._prompt.messages())

    def parse(self, signature: type[dspy.Signature], completion: str) -> dict[str, Any]:
        try:
            parsed = parse_reply(completion)
        except MalformedReply as error:
            raise AdapterParseError(
                adapter_name="EditAdapter", signature=signature, lm_response=completion, message=str(error)
            ) from error
        return {
            "rationale": parsed.rationale,
            "different": parsed.different,
            "base": parsed.base,
            "edits": parsed.blocks,
            "tunables": parsed.tunables,
            "declares": parsed.declares,
        }
