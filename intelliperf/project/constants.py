"""Named integer constants in the text of a candidate's edits: where each is defined, and other values for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from intelliperf.records import FileEdit

_INTEGER = r"(?:(?:unsigned|signed|long|short)\s+)*(?:int|unsigned|size_t|std::size_t|auto)"


def _definition(name: str) -> re.Pattern[str]:
    """`constexpr int NAME = 4;`, also static, __device__ or const, or `#define NAME 4`; a line of its own."""
    words = r"(?:(?:static|inline|__device__)\s+)*(?:constexpr|const)\s+" + _INTEGER
    head = rf"[ \t]*(?:{words}\s+{name}\s*=\s*|#[ \t]*define[ \t]+{name}[ \t]+)"
    return re.compile(rf"^(?P<head>{head})(?P<value>\d+)(?P<tail>[uUlL]*\s*;?[ \t]*(?://.*)?)$", re.MULTILINE)


def defined(edits: Iterable[FileEdit], name: str) -> int:
    """The value that the edits give it. Raises `ValueError` where they define it not once."""
    found = [match for edit in edits for match in _definition(name).finditer(edit.text)]
    if len(found) != 1:
        what = f"`constexpr int {name} = …;` or `#define {name} …` on a line of its own"
        raise ValueError(f"tunable {name}: {len(found)} definitions such as {what}, one is needed")
    return int(found[0]["value"])


def with_constants(text: str, values: Mapping[str, int]) -> str:
    """The text with other values where it defines them."""
    for name, value in values.items():
        text = _definition(name).sub(rf"\g<head>{value}\g<tail>", text)
    return text
