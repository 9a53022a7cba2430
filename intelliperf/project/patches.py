"""What somebody gives as a change, made into edits: a patch in any of its forms, a commit range, a changed copy.

git applies patches, to a scratch copy. What is not a change of text in files that stay is refused with one line, before
anything is built.
"""

from __future__ import annotations

import dataclasses
import email
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from intelliperf.errors import UsageError
from intelliperf.processes.process import output_of
from intelliperf.project.pythonsource import SUFFIX as PYTHON
from intelliperf.project.scratch import SOURCE_SUFFIXES, Workspace, read_text
from intelliperf.records import NO_FILE, Application, FileEdit, content_hash

_CHANGED = SOURCE_SUFFIXES | {PYTHON}
MOST_BYTES = 8 << 20
_GIT_DEADLINE_S = 60.0
_DEEPEST = 8  # directories between the top of a repository and the project
_NO_PATCH = "No valid patches"
_RANGE = re.compile(r"[^\s.][^\s]*?\.\.\.?[^\s.][^\s]*|[^\s.][^\s]*?\.\.\.?")
_ENCODED = re.compile(rb"^Content-Transfer-Encoding: *(?:base64|quoted-printable)", re.MULTILINE | re.IGNORECASE)
_MAIL = re.compile(rb"^(?=From [0-9a-f]{40} )", re.MULTILINE)
_HEADERS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?:rename|copy) (?:from|to) (.*)"), "the patch renames or copies {}; only text in files may change"),
    (re.compile(r"new mode (\d+)"), "the patch changes the mode of {file} to {}; only text may change"),
    (re.compile(r"(?:new|deleted) file mode (120000|160000)"), "the patch adds or removes a link or submodule, {file}"),
    (re.compile(r"GIT binary patch|Binary files (.*) differ"), "the patch holds a binary file, {file}"),
    (re.compile(r"[-+]Subproject commit (.*)"), "the patch changes a submodule, {file}"),
)


@dataclasses.dataclass(frozen=True)
class Given:
    """The edits, against the project of `application`: a commit range's first commit may be another version."""

    application: Application
    edits: tuple[FileEdit, ...]
    name: str


def given_change(what: str, application: Application, root: Path) -> Given:
    """`what` names a patch, a directory, or a range of commits. `root` is for scratch copies.

    A file that it adds has the hash of nothing, one that it removes becomes empty: both are the judge's to refuse.
    Raises `UsageError`, with one line, for what does not apply or changes anything but text.
    """
    path = Path(what)
    if path.is_dir():
        patches = sorted(entry for entry in path.iterdir() if entry.suffix in (".patch", ".diff"))
        if not patches:
            return Given(application, _edits_of_copy(application.project, path.resolve()), path.name)
        joined = b"\n".join(_read(patch) for patch in patches)
        return Given(application, _edits_of_patch(application, joined, root), path.name)
    if path.is_file():
        return Given(application, _edits_of_patch(application, _read(path), root), path.name)
    if _RANGE.fullmatch(what):
        return _given_range(what, application, root)
    raise UsageError(f"no such patch, directory or range of commits: {what}")


def _read(patch: Path) -> bytes:
    if patch.stat().st_size > MOST_BYTES:
        raise UsageError(f"the patch {patch.name} has {patch.stat().st_size:,} bytes; at most {MOST_BYTES:,} are read")
    return _decoded(patch.read_bytes())


def _decoded(content: bytes) -> bytes:
    """Mails whose text is encoded, as plain text."""
    if _ENCODED.search(content) is None:
        return content
    parts = []
    for mail in _MAIL.split(content) if content.startswith(b"From ") else [content]:
        body = email.message_from_bytes(mail).get_payload(decode=True) if mail.strip() else b""
        parts.append(body if isinstance(body, bytes) else mail)
    return b"\n".join(parts)


def _given_range(what: str, application: Application, root: Path) -> Given:
    """The project as the first commit has it is the original, the last commit the candidate."""
    project = application.project
    first, dots, last = re.split(r"(\.{2,3})", what, maxsplit=1)
    diff = ["diff", "--relative", "--no-color", "--no-ext-diff", "--full-index", "--binary"]
    done, patch, err = output_of(
        ["git", *diff, f"{first}{dots}{last or 'HEAD'}", "--", "."], _GIT_DEADLINE_S, None, project
    )
    if not done.ok:
        complaint = (err.strip().splitlines() or [done.describe()])[0]
        raise UsageError(f"git knows no such range of commits: {what} ({complaint})")
    if len(patch) > MOST_BYTES:
        raise UsageError(
            f"the change from {first} to {last or 'HEAD'} is {len(patch):,} characters long; too much to judge"
        )
    content = patch.encode("utf-8", "surrogateescape")
    if not patch.strip():
        raise UsageError(f"nothing in {project} changes in {what}")
    try:
        return Given(application, _edits_of_patch(application, content, root / "forward"), what)
    except UsageError:
        original = _undone(application, content, root / "original")
        if original is None:
            raise
        return Given(original, _edits_of_patch(original, content, root / "forward"), what)


def _undone(application: Application, patch: bytes, root: Path) -> Application | None:
    """The project in a copy without the patch, which it holds already; None where it does not."""
    workspace = Workspace.create(application, root)
    file = root / "applied.patch"
    file.write_bytes(patch)
    isolated = _isolated(workspace, root)
    done, _, _ = output_of(
        ["git", "apply", "-R", "--whitespace=nowarn", str(file)], _GIT_DEADLINE_S, isolated, workspace.tree
    )
    return workspace.application if done.ok else None


def _isolated(workspace: Workspace, root: Path) -> dict[str, str]:
    return {"GIT_CEILING_DIRECTORIES": str(workspace.tree.parent), "GIT_DIR": str(root / "no-repository")}


def _edits_of_copy(project: Path, copy: Path) -> tuple[FileEdit, ...]:
    """What a changed copy of the project, or of some of its sources, has otherwise."""
    edits = []
    for path in sorted(copy.rglob("*")):
        if path.suffix.lower() not in _CHANGED or path.is_symlink() or not path.is_file():
            continue
        name = path.relative_to(copy).as_posix()
        home = project / name
        if any(part.startswith(".") for part in path.relative_to(copy).parts):
            continue
        before = read_text(home) if home.is_file() else None
        if before != (after := read_text(path)):
            edits.append(FileEdit(name, NO_FILE if before is None else content_hash(before), after))
    if not edits:
        raise UsageError(f"no source in {copy} differs from the project's")
    return tuple(edits)


def _edits_of_patch(application: Application, patch: bytes, root: Path) -> tuple[FileEdit, ...]:
    _refuse_other_than_text(patch.decode("utf-8", "surrogateescape"))
    workspace = Workspace.create(application, root)
    isolated = _isolated(workspace, root)
    options = _way_to_apply(patch, workspace.tree, isolated, root)
    listing = _git(["apply", "--numstat", "-z", *options], workspace.tree, isolated)
    paths = {entry.split("\t", 2)[2] for entry in listing.split("\0") if entry.count("\t") == 2}
    present = {path for path in paths if (workspace.tree / path).is_file()}
    if linked := sorted(path for path in present if (workspace.tree / path).is_symlink()):
        raise UsageError(f"the patch changes {linked[0]}, which is a link to another file")
    _git(["apply", "--whitespace=nowarn", *options], workspace.tree, isolated)
    edits = []
    for path in sorted(paths):
        changed = workspace.tree / path
        before = read_text(application.project / path) if path in present else ""
        after = read_text(changed) if changed.is_file() and not changed.is_symlink() else ""
        if before != after or path not in present:
            edits.append(FileEdit(path, content_hash(before) if path in present else NO_FILE, after))
    workspace.remove()
    if not edits:
        raise UsageError("the patch changes nothing")
    return tuple(edits)


def _refuse_other_than_text(text: str) -> None:
    """Raises `UsageError` for renames, modes, links, binary files, and names outside of the project."""
    file = ""
    for line, inside in _lines(text):
        if line.startswith("diff --git "):
            file = line.rpartition(" b/")[2].strip('"')
        if inside:
            continue
        if (named := re.match(r'(?:---|\+\+\+) "?([^\t"]+)', line)) is not None and ".." in named[1].split("/"):
            raise UsageError(f"the patch leaves the project: {named[1]}")
        for pattern, told in _HEADERS:
            if (found := pattern.fullmatch(line)) is not None and file:
                raise UsageError(told.format(*(found.groups() or ("",)), file=file))


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it is part of a hunk."""
    old = new = 0
    for line in text.splitlines():
        counts = re.match(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@", line)
        if old <= 0 and new <= 0 and counts is not None:
            old, new = (int(count) if count is not None else 1 for count in counts.groups())
            yield line, True
            continue
        inside = old > 0 or new > 0
        if inside and not line.startswith("\\"):
            old -= not line.startswith("+")
            new -= not line.startswith("-")
        yield line, inside and "Subproject commit" not in line


def _way_to_apply(patch: bytes, tree: Path, environment: Mapping[str, str], scratch: Path) -> list[str]:
    """Options and file with which git takes it: a/ and b/ before the names or not, from the top of a repository
    with the project below it, with the line endings of another system. Raises `UsageError` with git's first complaint.
    """
    as_given, unix = scratch / "as-given.patch", scratch / "unix-line-ends.patch"
    as_given.write_bytes(patch)
    unix.write_bytes(patch.replace(b"\r\n", b"\n"))
    complaint = ""
    for form in ([str(as_given)], [str(unix)], ["--ignore-whitespace", str(unix)], ["--unidiff-zero", str(unix)]):
        for strip in (1, 0, *range(2, _DEEPEST + 1)):
            options = [f"-p{strip}", *form]
            done, _, err = output_of(["git", "apply", "--check", *options], _GIT_DEADLINE_S, environment, tree)
            if done.ok:
                return options
            if _NO_PATCH in err:
                raise UsageError("the patch does not apply: there is no patch in it")
            complaint = complaint or (err.strip().splitlines() or [done.describe()])[0]
    if _applied(tree, environment, (as_given, unix)):
        raise UsageError("the patch does not apply: the project holds the change already; give its range of commits")
    raise UsageError(f"the patch does not apply: {complaint.removeprefix('error: ')}")


def _applied(tree: Path, environment: Mapping[str, str], forms: Sequence[Path]) -> bool:
    """Is what the patch makes there already?"""
    ways = [["-R", "--unidiff-zero", f"-p{strip}", str(form)] for form in forms for strip in (1, 0)]
    checks = (["git", "apply", "--check", *way] for way in ways)
    return any(output_of(check, _GIT_DEADLINE_S, environment, tree)[0].ok for check in checks)


def _git(arguments: list[str], directory: Path, environment: Mapping[str, str]) -> str:
    done, out, err = output_of(["git", *arguments], _GIT_DEADLINE_S, environment, directory)
    if not done.ok:
        raise UsageError(f"the patch does not apply: {(err.strip().splitlines() or [done.describe()])[0]}")
    return out
