"""Attempts as a tree: each below the accepted state that it was proposed for, with what it changes there and how it
differs from the attempt before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from intelliperf.project.diff import unified_diff
from intelliperf.records import Attempt, FileEdit, Outcome
from intelliperf.report import wording
from intelliperf.report.plaintext import visible

_MOST = 60
_MOST_DIFF = 6_000  # characters


def parents(attempts: Sequence[Attempt]) -> Mapping[int, int]:
    """By an attempt's index, that of the accepted one that it builds on; 0 for the original."""
    found: dict[int, int] = {}
    best = 0
    for attempt in attempts:
        found[attempt.index] = best
        if attempt.accepted:
            best = attempt.index
    return found


def difference(earlier: Attempt, later: Attempt) -> str:
    """From what the one makes of the files to what the other does; empty where they share no file."""
    if earlier.candidate is None or later.candidate is None:
        return ""
    old = {edit.path: edit.text for edit in earlier.candidate.edits}
    shared = [edit for edit in later.candidate.edits if edit.path in old]
    return unified_diff(old, [FileEdit(edit.path, edit.base_hash, edit.text) for edit in shared])


def tree(attempts: Sequence[Attempt], shown_already: str, gates: Mapping[int, str]) -> str:
    """`shown_already`: a diff that the page holds elsewhere; `gates`: by index, the tables of an attempt's gates."""
    kept = attempts[:_MOST]
    below: dict[int, list[Attempt]] = {}
    for index, parent in parents(kept).items():
        below.setdefault(parent, []).append(next(a for a in kept if a.index == index))
    left = len(attempts) - len(kept)
    more = f"<p>{left} more attempts are in report.json.</p>" if left else ""
    return _branch(below, 0, shown_already, gates) + more


def listed(tried: Sequence[tuple[int, str, str, str, str]], shown_already: str) -> str:
    """Number, origin, outcome, detail and diff of each attempt: what is known where their run is gone."""
    items = []
    for number, origin, name, detail, diff in tried[:_MOST]:
        change = _diff("What it changes", diff) if diff and diff != shown_already else ""
        items.append(f"<li><details>{_summary(number, origin, name, detail)}{change}</details></li>")
    more = f"<p>{len(tried) - _MOST} more attempts are not shown.</p>" if len(tried) > _MOST else ""
    return f'<ol class="tree" aria-label="Attempts">{"".join(items)}</ol>{more}'


def _summary(number: int, origin: str, name: str, detail: str) -> str:
    tag = "good" if name == Outcome.ACCEPTED.value else "bad"
    said = escape(f"{visible(origin, 200)}: {visible(detail, 600)}")
    return f'<summary><span class="tag {tag}">{escape(name)}</span> {number}. {said}</summary>'


def _branch(below: Mapping[int, Sequence[Attempt]], parent: int, shown: str, gates: Mapping[int, str]) -> str:
    """As deep as there are accepted attempts."""
    items = []
    earlier: Attempt | None = None
    for attempt in below.get(parent, ()):
        own = _node(attempt, earlier, shown, gates.get(attempt.index, ""))
        items.append(f"<li>{own}{_branch(below, attempt.index, shown, gates)}</li>")
        earlier = attempt if attempt.candidate is not None else earlier
    base = "the original" if parent == 0 else f"attempt {parent}"
    return f'<ol class="tree" aria-label="Attempts on {base}">{"".join(items)}</ol>' if items else ""


def _node(attempt: Attempt, earlier: Attempt | None, shown: str, gates: str) -> str:
    name, detail = wording.outcome(attempt)
    parts = [
        _summary(attempt.index, f"{wording.origin(attempt)} for {attempt.kernel or 'the kernel'}", name, detail),
        f"<p>{escape(wording.cost(attempt.usage))}</p>",
    ]
    if attempt.candidate is not None and attempt.candidate.rationale:
        parts.append(f'<p class="text">{escape(visible(attempt.candidate.rationale, 1_000))}</p>')
    parts.append(gates)
    if attempt.diff and attempt.diff != shown:
        parts.append(_diff("What it changes", attempt.diff))
    between = difference(earlier, attempt) if earlier is not None else ""
    if earlier is not None and between and between != attempt.diff:
        parts.append(_diff(f"What differs from attempt {earlier.index}", between))
    return f"<details>{''.join(parts)}</details>"


def _diff(title: str, text: str) -> str:
    return f'<p>{escape(title)}:</p><pre tabindex="0">{coloured(visible(text, _MOST_DIFF))}</pre>'


def coloured(text: str) -> str:
    """A diff that is already visible text, with its lines marked."""
    marks = {"+": "add", "-": "del"}
    return "\n".join(_marked(line, marks) for line in text.splitlines())


def _marked(line: str, marks: Mapping[str, str]) -> str:
    return f'<span class="{marks[line[0]]}">{escape(line)}</span>' if line[:1] in marks else escape(line)
