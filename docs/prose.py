"""Words that a native engineer would not write, with better ones; run by `make check`.

Looks at the documentation and at the strings, docstrings and comments of package and tests. A pattern is here
because it stood in this project once. Prints `file:line: words: better words` and returns 1 where it finds one.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "docs" / "prose.tsv"  # per line a pattern and, after a tab, what to write instead
_ROWS = [row.split("\t") for row in TABLE.read_text(encoding="utf-8").splitlines()]
_PATTERNS = tuple((re.compile(pattern, re.IGNORECASE), better) for pattern, better in _ROWS)


def main() -> int:
    found = list(complaints())
    sys.stdout.writelines(f"{line}\n" for line in found)
    return 1 if found else 0


def complaints() -> Iterator[str]:
    for path in _tracked("*.md", "*.py", "*.cpp", "*.h"):
        if path.name == "test_documentation.py":
            continue  # it holds such words
        yield from complaints_of(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))


def complaints_of(name: str, text: str) -> list[str]:
    """Of one file; `name` says whether it is Markdown or Python."""
    return [
        f"{name}:{number}: {match[0]!r}: {better}"
        for number, line in _prose(name, text)
        for pattern, better in _PATTERNS
        if (match := pattern.search(line))
    ]


def _tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    paths = (ROOT / name for name in listed.stdout.split("\0") if name)
    return sorted(path for path in paths if path.is_file())


def _prose(name: str, text: str) -> Iterator[tuple[int, str]]:
    """Lines that people read, with their numbers: Markdown but for a glossary, strings and comments of a program."""
    if name.endswith((".cpp", ".h")):
        for number, line in enumerate(text.splitlines(), 1):
            yield number, "".join(re.findall(r"//.*|\"[^\"]*\"", line))
        return
    if not name.endswith(".py"):
        title = ""
        for number, line in enumerate(text.splitlines(), 1):
            title = line if line.startswith("#") else title
            if title != "## Words":
                yield number, line
        return
    wanted = {tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in wanted:
            for offset, line in enumerate(token.string.splitlines()):
                yield token.start[0] + offset, line


if __name__ == "__main__":
    sys.exit(main())
