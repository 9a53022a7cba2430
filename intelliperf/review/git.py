"""What a click may do to a repository: a branch made beside the work tree, or the patch applied to the work tree."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from intelliperf.errors import UsageError
from intelliperf.processes.process import output_of

_DEADLINE_S = 120.0
_QUIET = {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}


@dataclass(frozen=True)
class Commit:
    """What is committed: the message's trailers name run and reviewer."""

    branch: str
    subject: str
    body: str
    trailers: tuple[tuple[str, str], ...]

    @property
    def message(self) -> str:
        trailers = "\n".join(f"{name}: {_one_line(value)}" for name, value in self.trailers)
        return f"{_one_line(self.subject)[:72]}\n\n{self.body.strip()}\n\n{trailers}\n"


def make_branch(project: Path, base: str | None, diff: str, commit: Commit) -> str:
    """The new commit's hash. The work tree of `project` and its index stay as they are.

    The patch is made for `base`; where that commit is gone, or unknown, it is applied to HEAD. Raises `UsageError`
    where the directory is in no repository, the branch exists, the patch does not apply or git knows no author.
    """
    top = Path(_git(["rev-parse", "--show-toplevel"], project, "is in no git repository; apply the patch instead"))
    below = project.resolve().relative_to(top.resolve())
    start = "HEAD" if base is None or not _has(top, base) else base
    place = Path(tempfile.mkdtemp(prefix="intelliperf-review-"))
    tree = place / "tree"
    try:
        _git(["worktree", "add", "--quiet", "-b", commit.branch, str(tree), start], top, "branch cannot be made")
        try:
            _apply(tree / below, diff, place)
            _git(["add", "--all", "--", "."], tree / below, "patch cannot be staged")
            (place / "message").write_text(commit.message, encoding="utf-8", errors="surrogateescape")
            # Verbatim: a line of the rationale that starts with "#" is not a comment.
            words = ["commit", "--quiet", "--cleanup=verbatim", "--file", str(place / "message")]
            _git(words, tree, "patch cannot be committed; set user.name and user.email with git config")
        except BaseException:
            _git(["worktree", "remove", "--force", str(tree)], top, "work tree cannot be removed")
            _git(["branch", "--quiet", "-D", commit.branch], top, "branch cannot be removed")
            raise
        made = _git(["rev-parse", "HEAD"], tree, "commit cannot be read")
        _git(["worktree", "remove", "--force", str(tree)], top, "work tree cannot be removed")
        return made
    finally:
        shutil.rmtree(place, ignore_errors=True)


def apply_here(project: Path, diff: str) -> None:
    """Write the patch to the work tree, or change nothing and raise `UsageError`."""
    with tempfile.TemporaryDirectory(prefix="intelliperf-review-") as place:
        _apply(project, diff, Path(place))


def _apply(project: Path, diff: str, scratch: Path) -> None:
    patch = scratch / "patch.diff"
    patch.write_bytes(diff.encode("utf-8", "surrogateescape"))
    # Outside of any repository, as the names in the patch are relative to the project.
    alone = {"GIT_CEILING_DIRECTORIES": str(project.resolve().parent), "GIT_DIR": str(scratch / ".no-repository")}
    done, _out, err = output_of(["git", "apply", str(patch)], _DEADLINE_S, {**_QUIET, **alone}, project)
    if not done.ok:
        raise UsageError(f"the patch does not apply to {project}: {_first(err) or done.describe()}")


def _has(top: Path, commit: str) -> bool:
    words = ["git", "rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}"]
    return output_of(words, _DEADLINE_S, _QUIET, top)[0].ok


def _git(words: list[str], directory: Path, problem: str) -> str:
    if not directory.is_dir():
        raise UsageError(f"{directory}: no such directory (any more); apply the patch by hand")
    done, out, err = output_of(["git", *words], _DEADLINE_S, _QUIET, directory)
    if not done.ok:
        raise UsageError(f"{directory}: {problem}: {_first(err) or done.describe()}")
    return out.strip()


def _first(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _one_line(text: str) -> str:
    return " ".join(text.split())
