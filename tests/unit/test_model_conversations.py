"""The recorded conversations fit the examples that they are about, reply by reply."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from intelliperf.codegen.edits import apply_blocks
from intelliperf.codegen.model import definitions
from intelliperf.codegen.reply import MalformedReply, parse_reply

ROOT = Path(__file__).parents[2]
CONVERSATIONS = ROOT / "tests" / "servers" / "conversations"
REPLIES = sorted(path.relative_to(CONVERSATIONS).as_posix() for path in CONVERSATIONS.glob("*/*.md"))


@pytest.mark.parametrize("name", REPLIES)
def test_a_recorded_reply_does_what_its_name_says(name: str) -> None:
    text = (CONVERSATIONS / name).read_text(encoding="utf-8")
    example = ROOT / "examples" / Path(name).parent
    sources = {
        path.relative_to(example).as_posix(): path.read_text(encoding="utf-8")
        for path in example.rglob("*")
        if path.suffix in (".cu", ".hip", ".cuh", ".hpp")
    }
    parsed = parse_reply(text)
    if "misplaced" in name:
        with pytest.raises(MalformedReply, match="nearest is line"):
            apply_blocks(parsed.blocks, sources, definitions)
    elif "no-change" in name:
        assert parsed.blocks == ()
    else:
        assert apply_blocks(parsed.blocks, sources, definitions)


@pytest.mark.parametrize("path", sorted(CONVERSATIONS.glob("*/conversation.json")), ids=lambda path: path.parent.name)
def test_a_conversation_names_replies_that_exist(path: Path) -> None:
    steps = json.loads(path.read_text(encoding="utf-8"))["replies"]
    named = {step["file"] for step in steps if "file" in step}
    assert named == {reply.name for reply in path.parent.glob("*.md")}
