"""What a compiler read, from the make rule that it wrote."""

from __future__ import annotations

import re


def prerequisites(rule: str) -> tuple[str, ...]:
    """The prerequisites in a make rule, unescaped."""
    _, _, right = rule.replace("\\\n", " ").partition(": ")
    words = re.findall(r"(?:\\.|[^\s\\])+", right.split("\n")[0])
    return tuple(re.sub(r"\\(.)", r"\1", word).replace("$$", "$") for word in words)
