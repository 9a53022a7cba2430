"""Scratch copies of the user's project: built, edited and run there; the project itself is never touched.

Copies share data with the original where the file system can (FICLONE), keep symbolic links, modes
and submodules, and leave out earlier run directories and configured CMake build trees (those name
the original's absolute path). Sources get a fresh modification time, so that make rebuilds whatever
an earlier compiler left behind.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import fcntl
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from intelliperf.errors import UsageError
from intelliperf.processes.process import Completed, nothing_run, run
from intelliperf.processes.secrets import mask_logs, without_secrets
from intelliperf.processes.storage import refuse_full_disk, storage_errors, write_atomically
from intelliperf.project.journal import RUN_DIRECTORY_MARK, SCRATCH
from intelliperf.project.submodules import absent_submodules
from intelliperf.records import Application, FileEdit, content_hash

# What our drop-ins make depends on variables that caches of compilers do not know: an object of another chip, or one
# that records nothing, would be taken for the one that is asked for.
_COMPILED_ALWAYS = {"CCACHE_DISABLE": "1", "SCCACHE_RECACHE": "1"}
_FICLONE = 0x40049409  # linux/fs.h
SOURCE_SUFFIXES = frozenset(
    {".c", ".cc", ".cpp", ".cxx", ".cu", ".cuh", ".h", ".hh", ".hpp", ".hxx", ".hip", ".inc", ".inl", ".ipp", ".tpp"}
)
_BUILD_FILE = re.compile(r"(?:makefile|cmakelists\.txt|.*\.(?:mk|cmake|sh|ninja))$", re.IGNORECASE)
_OUTWARD = re.compile(rb"(?:\.\./)+[^\s\"'<>:;,()$|&*?]+")
_INCLUDED_ABOVE = re.compile(rb"-I\s*((?:\.\./)*\.\./?)(?![\w./])")
_LEFT_OUT = frozenset(
    {".intelliperf", SCRATCH, "__pycache__", ".env"}
)  # .env holds keys: nothing that we run may see it
_CMAKE_CACHE = "CMakeCache.txt"
_VIRTUAL_ENVIRONMENT = "pyvenv.cfg"
_COPIED_KINDS = (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK)
_ERROR_LINE = re.compile(
    r"\berror\b|\bundefined (?:reference|symbol)\b|\bmultiple definition\b|\bld(?:\.\w+)?: (?:cannot|unable|skipping)|"
    r"\*\*\* |No rule to make|not found",
    re.IGNORECASE,
)
_CONSEQUENCE = re.compile(
    r"\bcollect2: error: ld returned|\blinker command failed|\*\*\* .*\bError \d+|^ninja: build stopped"
)
_KILLED = re.compile(r"\*\*\* .*\] (?:Killed|Terminated)\b|: Killed$|Killed signal terminated")  # by make, a shell, gcc
_EXPLAINED = "intelliperf: "  # how the drop-ins begin what they add to a compiler's message
_MAX_ERRORS = 8
_CMAKE_ERROR = "CMake Error"
_QUOTED_ERROR = re.compile(r" {4,}(?=\S.*\berror: )")  # by CMake, of a compiler that it tried
_LONGEST_PARAGRAPH = 300
_SCAN_LIMIT_BYTES = 4 << 20
# What lies outside the project is copied up to this much; data sets and builds of other programs are linked.
_SMALL_BYTES = 64 << 20
_SMALL_FILES = 4000
_MAX_BESIDE = 200
_SCRIPT_BYTES = 64 << 10
_MAX_HOMES = 50
_MIRROR = "root"  # below a version's directory: the file system as far as the build reaches it
COMPILE_LOG = "compile.jsonl"  # beside it: what the version's compilers were told


def compile_log(project: Path) -> Path | None:
    """What the compilers of that scratch copy were told, where they were asked to log it."""
    mirrors = [parent for parent in project.parents if parent.name == _MIRROR]
    return next((log for mirror in mirrors if (log := mirror.with_name(COMPILE_LOG)).is_file()), None)


def read_text(path: Path) -> str:
    """The file's text with its line endings; bytes that are not UTF-8 survive as surrogates."""
    return path.read_bytes().decode("utf-8", "surrogateescape")


@dataclass(frozen=True)
class Built:
    """How a build ended. `errors` are the compiler's first complaints and what is known of them; none if it worked."""

    ok: bool
    completed: Completed
    errors: tuple[str, ...]

    @property
    def cut_off(self) -> bool:
        """Did a time limit or a signal end it, as where memory runs out, so that it says nothing of the sources?"""
        ended = self.completed.timed_out or self.completed.signal_name is not None
        return not self.ok and (ended or any(_KILLED.search(error) for error in self.errors))

    def complaint(self) -> str:
        """For the user, whose own program does not build."""
        how = self.completed.describe()
        if self.completed.timed_out:
            return f"the build {how}; raise --build-timeout"
        shown = "" if self.errors == (how,) else ":" + "".join(f"\n  {line}" for line in self.errors)
        return f"the build fails ({how}){shown}"


class Workspace:
    """One scratch copy of `application.project` below `root`."""

    def __init__(self, application: Application, root: Path) -> None:
        self.original = application
        self.root = root
        # The original's whole path is mirrored, so that "../common/x.h" has a place.
        self._mirror = root / _MIRROR
        self.tree = self._mirror / application.project.relative_to("/")

    @classmethod
    def create(cls, application: Application, root: Path) -> Workspace:
        """Copy the project. Raises `UsageError` where it cannot be read, `StorageFull` on a full disk."""
        workspace = cls(application, root)
        if not application.project.is_dir():
            raise UsageError(f"no such project directory: {application.project}")
        with storage_errors(workspace.tree):
            _copy_tree(application.project, workspace.tree, application.project, workspace.tree)
            workspace._bring_outward_references()
        return workspace

    def _bring_outward_references(self) -> None:
        """Bring what sources, build files and arguments reach through ".." outside the project, and what that reaches.

        A directory comes as a whole, since headers include their neighbours. What is small is copied, so that a
        build that writes there writes into the scratch copy; the rest is linked.
        """
        project = self.original.project
        directory = self.original.directory
        pending: set[Path] = set()
        for argument in self.original.command:
            pending |= _outward(argument.encode("utf-8", "surrogateescape"), directory)
            script = Path(self.inside(os.path.normpath(directory / argument)))
            if script.is_file() and script.is_relative_to(self.tree) and not _may_refer(script):
                with script.open("rb") as file:
                    pending |= _outward(file.read(_SCRIPT_BYTES), directory)
        for argument in (a for command in self.original.build_commands for a in command):
            pending |= _outward(argument.encode("utf-8", "surrogateescape"), project)
        files = [path for path in self.tree.rglob("*") if _may_refer(path)]
        # Paths in build files count from where the build runs.
        runs = {self.outside(path).parent for path in files if _BUILD_FILE.match(path.name)} - {project}
        homes = (project, *sorted(runs)[:_MAX_HOMES])
        for path in files:
            pending |= _references(path, self.outside(path).parent, homes)
        seen: set[Path] = set()
        while pending:
            seen |= pending
            # Directories above the project come last: what lies in them is linked, unless it has been copied.
            batch = sorted(pending, key=lambda path: (path in project.parents, len(path.parts), path))
            found = [path for reference in batch for path in self._bring(reference)]
            pending = set().union(*(_references(path, path.parent, homes) for path in found)) - seen

    def _bring(self, reference: Path) -> list[Path]:
        """Put what is outside into its place in the mirror; returns the files of it that may refer to more."""
        project = self.original.project
        if reference == project or project in reference.parents or not reference.exists():
            return []
        if reference in project.parents:
            return self._bring_beside(reference)
        whole = reference if reference.is_dir() or reference.parent in project.parents else reference.parent
        target = self._mirror / whole.relative_to("/")
        nearest = next(parent for parent in (target, *target.parents) if parent.exists())
        if self._mirror not in (nearest, *nearest.parents) or (nearest.is_symlink() and nearest != target):
            return []
        beside = self._sources_beside(whole) if whole == reference and whole.suffix.lower() in SOURCE_SUFFIXES else []
        return _place(whole, target) + beside

    def _sources_beside(self, file: Path) -> list[Path]:
        """The headers in a directory above the project, which one of them may include without a path."""
        entries = sorted(file.parent.iterdir()) if os.access(file.parent, os.R_OK) else []
        sources = [entry for entry in entries[:_MAX_BESIDE] if entry.suffix.lower() in SOURCE_SUFFIXES]
        places = [(entry, self._mirror / entry.relative_to("/")) for entry in sources if entry.is_file()]
        return [path for entry, target in places for path in _place(entry, target)]

    def _bring_beside(self, directory: Path) -> list[Path]:
        """A directory above the project, for `-I..`: what lies in it beside the project."""
        brought = self._sources_beside(directory / "any")
        entries = sorted(directory.iterdir()) if os.access(directory, os.R_OK) else []
        for entry in entries if len(entries) <= _MAX_BESIDE else []:
            target = self._mirror / entry.relative_to("/")
            if entry.is_dir() and not target.exists() and entry.name not in _LEFT_OUT:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.symlink_to(entry)
        return brought

    def inside(self, text: str) -> str:
        """An absolute path into the project becomes the same path in the scratch copy."""
        project = str(self.original.project)
        if text == project or text.startswith(project + "/"):
            return str(self.tree) + text[len(project) :]
        return text

    def _all_inside(self, text: str) -> str:
        """Every absolute path into the project that a build command names."""
        project = re.escape(str(self.original.project))
        return re.sub(rf"(?<![\w/.]){project}(?![\w.-])", lambda _: str(self.tree), text)

    def outside(self, path: Path) -> Path:
        """A path in the scratch copy becomes the user's own; others stay."""
        return "/" / path.relative_to(self._mirror) if path.is_relative_to(self._mirror) else path

    @property
    def application(self) -> Application:
        """The application as it runs in the scratch copy."""
        original = self.original
        return dataclasses.replace(
            original,
            command=tuple(self.inside(argument) for argument in original.command),
            project=self.tree,
            directory=Path(self.inside(str(original.directory))),
            build_commands=tuple(tuple(map(self._all_inside, command)) for command in original.build_commands),
            environment=tuple((name, self._all_inside(value)) for name, value in original.environment),
        )

    def text(self, path: str) -> str:
        return read_text(self.tree / path)

    def apply(self, edits: Sequence[FileEdit]) -> None:
        """Write the edits; a file that is not what the edit was made for raises `ValueError`."""
        for edit in edits:
            target = self.tree / edit.path
            if content_hash(read_text(target)) != edit.base_hash:
                raise ValueError(f"{edit.path} is not the text that this edit was made for")
            replace_text(target, edit.text)

    def build(
        self,
        environment: Mapping[str, str],
        deadline_s: float,
        logs: Path,
        look: Callable[[], None] = lambda: None,
    ) -> Built:
        """Run the build commands in order; stops at the first that fails. Without any there is nothing to build.

        `look` is called now and then; what it raises ends the build.
        """
        temporary = self.root / "tmp"  # goes with the copy, also where a compiler is killed
        temporary.mkdir(exist_ok=True)
        jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(os.cpu_count() or 1)  # of `cmake --build`
        own = {**_COMPILED_ALWAYS, "TMPDIR": str(temporary), "CMAKE_BUILD_PARALLEL_LEVEL": jobs}
        additions = {**dict(self.application.environment), **own, **environment}
        done = nothing_run(logs)
        for number, command in enumerate(self.original.build_commands):
            argv = [self._all_inside(argument) for argument in command]
            done = run(argv, self.tree, deadline_s, logs, f"build-{number}", additions, look=look)
            mask_logs(logs)
            if not done.ok:
                refuse_full_disk(self.tree)
                home = str(self.original.project)
                errors = [error.replace(str(self.tree), home) for error in _first_errors(done)]
                return Built(False, done, (*errors, *filter(None, [absent_submodules(self.original.project)])))
        return Built(True, done, ())

    def remove(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)


def replace_text(path: Path, text: str) -> None:
    """New text under the same name and mode, atomically; works on read-only files, follows links."""
    target = path.resolve()
    mode = stat.S_IMODE(target.stat().st_mode)
    write_atomically(target, text.encode("utf-8", "surrogateescape"))
    target.chmod(mode)


def _outward(content: bytes, directory: Path) -> set[Path]:
    """Absolute paths of the "../…" references in `content`, seen from `directory`."""
    names = {match.decode("utf-8", "surrogateescape") for match in _OUTWARD.findall(content)}
    names |= {match.decode() for match in _INCLUDED_ABOVE.findall(content)}
    return {Path(os.path.normpath(directory / name)) for name in names}


def _may_refer(path: Path) -> bool:
    named = path.suffix.lower() in SOURCE_SUFFIXES or _BUILD_FILE.match(path.name)
    return bool(named) and path.is_file() and path.stat().st_size <= _SCAN_LIMIT_BYTES


def _references(path: Path, directory: Path, homes: tuple[Path, ...]) -> set[Path]:
    """What a file refers to through ".."; builds run in `homes`, first of all in the project's directory."""
    content = path.read_bytes()
    if b".." not in content:
        return set()
    places = {directory, *(homes if _BUILD_FILE.match(path.name) else homes[:1])}
    return {reference for place in places for reference in _outward(content, place)}


def _place(source: Path, target: Path) -> list[Path]:
    """Copy what is small, else link it; what is there already stays. Returns the files that may refer to more."""
    if target.is_dir() and not target.is_symlink() and source.is_dir():
        return [path for entry in sorted(source.iterdir()) for path in _place(entry, target / entry.name)]
    if target.is_symlink() or target.exists():
        return []
    target.parent.mkdir(parents=True, exist_ok=True)
    files = _small(source)
    if files is None:
        target.symlink_to(source)
        return [source] if _may_refer(source) else []
    if source.is_dir():
        _copy_tree(source, target, source, target)
    else:
        _copy_file(source, target)
    return [path for path in files if _may_refer(path)]


def _small(source: Path) -> list[Path] | None:
    """The files of a directory, or the file itself; None where it is too much to copy, or may not be read."""
    files: list[Path] = []
    size = 0
    for path in (source, *source.rglob("*")) if source.is_dir() else (source,):
        if path.is_symlink():
            continue
        if path.is_file():
            files.append(path)
            size += path.stat().st_size
        if size > _SMALL_BYTES or len(files) > _SMALL_FILES or not os.access(path, os.R_OK):
            return None
    return files


def _paragraphs(lines: Iterable[str]) -> Iterator[str]:
    """The lines, but each error of CMake with the indented lines that say what it is, after what a compiler said."""
    head: list[str] = []
    for line in lines:
        if head and _QUOTED_ERROR.match(line):
            yield line.strip()
            continue
        if head and (line.startswith("  ") or not line.strip()):
            head += line.split()
            continue
        if head:
            yield " ".join(head)[:_LONGEST_PARAGRAPH]
        head = line.split() if line.startswith(_CMAKE_ERROR) else []
        if not head:
            yield line
    if head:
        yield " ".join(head)[:_LONGEST_PARAGRAPH]


def _first_errors(done: Completed) -> tuple[str, ...]:
    lines = list(_paragraphs(without_secrets(done.tail("stderr") + "\n" + done.tail("stdout")).splitlines()))
    explained = list(dict.fromkeys(line for line in lines if line.startswith(_EXPLAINED)))
    errors = [line.strip() for line in lines if _ERROR_LINE.search(line) and not line.startswith(_EXPLAINED)]
    # What our headers say says more than what follows from it, and that more than that a link or make then failed.
    errors.sort(key=lambda line: (bool(_CONSEQUENCE.search(line)), _EXPLAINED not in line))
    shown = [*explained, *errors] or [line.strip() for line in lines if line.strip()][-_MAX_ERRORS:]
    return tuple(shown[:_MAX_ERRORS]) or (done.describe(),)


def _copy_tree(source: Path, target: Path, project: Path, tree: Path) -> None:
    """Copies directories, files and links; FIFOs, sockets and devices are nothing that a build needs."""
    try:
        with os.scandir(source) as found:
            entries = sorted(found, key=lambda e: e.name)
    except PermissionError as error:
        raise UsageError(f"cannot read {source}: {error.strerror}") from error
    names = {entry.name for entry in entries}
    if names >= RUN_DIRECTORY_MARK or (source != project and _CMAKE_CACHE in names):
        return
    target.mkdir(parents=True)
    for entry in entries:
        if entry.name not in _LEFT_OUT:
            # What a build or an editor removes meanwhile was none of the sources.
            with contextlib.suppress(FileNotFoundError):
                _copy_entry(entry, target / entry.name, project, tree)
    shutil.copymode(source, target)
    target.chmod(stat.S_IMODE(target.stat().st_mode) | stat.S_IRWXU)


def _copy_entry(entry: os.DirEntry[str], copy: Path, project: Path, tree: Path) -> None:
    path = Path(entry.path)
    if entry.is_symlink():
        _copy_link(path, copy, project, tree)
    elif entry.name == ".git":
        _copy_git(path, copy)
    elif entry.is_dir() and (path / _VIRTUAL_ENVIRONMENT).is_file():
        copy.symlink_to(path)  # gigabytes that nothing of the project is
    elif entry.is_dir():
        _copy_tree(path, copy, project, tree)
    elif entry.is_file():
        _copy_file(path, copy)


def _copy_link(path: Path, copy: Path, project: Path, tree: Path) -> None:
    """Links inside the project stay inside the copy; links that leave it point where they pointed."""
    goal = path.readlink()
    absolute = Path(os.path.normpath(path.parent / goal))
    if absolute == project or project in absolute.parents:
        copy.symlink_to(goal if not goal.is_absolute() else tree / absolute.relative_to(project))
    else:
        copy.symlink_to(absolute)


def _copy_git(path: Path, copy: Path) -> None:
    """Enough of .git for `git describe`: everything but the objects, which are borrowed."""
    if path.is_file():  # a submodule or linked work tree: "gitdir: <maybe relative path>"
        goal = path.read_text().partition(":")[2].strip()
        copy.write_text(f"gitdir: {os.path.normpath(path.parent / goal)}\n")
        return
    shutil.copytree(path, copy, symlinks=True, ignore=_of_no_use_in_git)
    if (path / "modules").is_dir():
        (copy / "modules").symlink_to(path / "modules")
    (copy / "objects" / "info").mkdir(parents=True, exist_ok=True)
    (copy / "objects" / "info" / "alternates").write_text(f"{path / 'objects'}\n")


def _of_no_use_in_git(directory: str, names: list[str]) -> set[str]:
    special = {name for name in names if stat.S_IFMT((Path(directory) / name).lstat().st_mode) not in _COPIED_KINDS}
    return special | {name for name in names if name in ("objects", "modules") or name.endswith(".lock")}


def _copy_file(path: Path, copy: Path) -> None:
    try:
        source = path.open("rb")
    except PermissionError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    with source, copy.open("wb") as out:
        try:
            fcntl.ioctl(out.fileno(), _FICLONE, source.fileno())
        except OSError:
            _copy_content(source, out)
    status = path.stat()
    copy.chmod(stat.S_IMODE(status.st_mode) | stat.S_IRUSR | stat.S_IWUSR)
    if path.suffix.lower() not in SOURCE_SUFFIXES:
        with contextlib.suppress(PermissionError):
            os.utime(copy, ns=(status.st_atime_ns, status.st_mtime_ns))


def _copy_content(source: BinaryIO, out: BinaryIO) -> None:
    """In the kernel where it can; holes stay holes."""
    size = os.fstat(source.fileno()).st_size
    position = 0
    try:
        while position < size:
            position = os.lseek(source.fileno(), position, os.SEEK_DATA)
            os.lseek(out.fileno(), position, os.SEEK_SET)
            end = os.lseek(source.fileno(), position, os.SEEK_HOLE)
            os.lseek(source.fileno(), position, os.SEEK_SET)
            while position < end:
                copied = os.copy_file_range(source.fileno(), out.fileno(), end - position)
                if not copied:  # shorter now than it was
                    return
                position += copied
    except OSError as error:
        if error.errno == errno.ENXIO:  # nothing but a hole follows
            out.truncate(size)
        elif error.errno in (errno.EXDEV, errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP):
            source.seek(0)
            out.seek(0)
            shutil.copyfileobj(source, out, 4 << 20)
        else:
            raise
    else:
        out.truncate(size)
