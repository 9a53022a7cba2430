"""Text that others wrote, made visible before it is escaped: what it does to a terminal or to reading order shows."""

from __future__ import annotations

import re

# Controls, and what reorders or hides text (https://trojansource.codes): bidirectional marks, zero-width characters.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
    "\ud800-\udfff]"
)


def visible(text: str, most: int | None = None) -> str:
    """`text` with a name in place of each hidden character, and cut after `most` characters with a note."""
    left_out = len(text) - most if most is not None else 0
    shown = _HIDDEN.sub(_named, text if left_out <= 0 else text[:most])
    return shown if left_out <= 0 else f"{shown} … ({left_out:,} more characters)"


def _named(found: re.Match[str]) -> str:
    code = ord(found.group())
    if 0xDC80 <= code <= 0xDCFF:  # surrogateescape: a byte that is not UTF-8
        return f"⟨byte {code - 0xDC00:02X}⟩"
    return f"⟨U+{code:04X}⟩"
