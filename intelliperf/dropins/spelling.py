"""What nvcc reads and clang does not: `kernel<< <grid, block>> >(…)`, casts to arrays of a size known at run time, and
inline PTX's operands of other registers.

Files that have such are shown to clang through a virtual file system in which the marks stand together, such a cast's
type is not said twice, launch shapes in braces are of their type and, for the emulated device, PTX's constraints are
this processor's. Lines stay what they are, and columns but behind such a shape.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from intelliperf.dropins.toolchain import write_atomically
from intelliperf.processes.storage import cache_directory

_LAUNCH = re.compile(r"(<<<|<<[ \t]+<)([^;{}]*?)(>>>|>>[ \t]+>)(?=\s*\()")
# nvcc reads its preprocessor's output again, and with it a pragma that a macro has brought.
_PRAGMA_IN_MACRO = re.compile(
    r'^([ \t]*#[ \t]*define[ \t]+\w+[ \t]+)#[ \t]*pragma[ \t]+([^\n"\\]*?)[ \t]*$', re.MULTILINE
)
# `<<<blocks, {32, 4}>>>`: a shape without its type.
_CONFIGURATION = re.compile(r"(?<=<<<)(?=[^;]{0,400}?\{)(?:[^;{}]|\{[^;{}]{0,200}\}){1,400}?(?=>>>\s*\()")
_SUSPECT = re.compile(r"<<[ \t]+<|>>[ \t]+>")
# `double (*u)[n] = (double (*)[n])p;`: to clang these are two types, as n is evaluated twice.
_ARRAY_POINTER = re.compile(
    r"\b(?P<element>[A-Za-z_][\w:]*(?:[ \t]+[A-Za-z_]\w*)*)[ \t]*\([ \t]*\*[ \t]*(?P<name>\w+)[ \t]*\)"
    r"(?P<sizes>(?:\[[^\[\]\n]+\])+)"
    r"(?=[ \t]*=[ \t]*\([ \t]*(?P=element)[ \t]*\([ \t]*\*[ \t]*\)[ \t]*(?P=sizes)[ \t]*\))"
)
# `a + \ // the rest`: nvcc passes over the backslash.
_STRAY_BACKSLASH = re.compile(r"^((?:(?!//|/\*)[^\n\"'#\\])*)\\(?=[ \t]+//)", re.MULTILINE)
_ASSEMBLY = re.compile(r"\b(?:asm|__asm__|__asm)\b\s*(?:(?:volatile|__volatile__|__volatile)\s*)?\(")
_STRING_OR_PARENTHESIS = re.compile(r'"(?:[^"\\\n]|\\.)*"|[()]')
_CONSTRAINT = re.compile(r'"([=+&]*)([fh])"')
# A constraint that is a macro's parameter, as in `: "="#reg(result)`; its letter is chosen by simt/core.h.
_STRINGISED_CONSTRAINT = re.compile(r'(?<=[:,])(\s*(?:"[=+&]*")?)\s*#(\w+)(?=\s*\()')
_DOUBLE_CONSTRAINT = re.compile(r'"([=+&]*)d"')
_DOUBLE = re.compile(r"\.[fb]64\b")
_SPECIAL = re.compile(r"(?<=,) %(laneid|lanemask_\w\w|warpid|nwarpid|smid|nsmid|clock64|globaltimer)\b")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
_OWN = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
_LARGEST_BYTES = 4 * 1024**2


def overlay_flags(source: Path, flags: Sequence[str], directory: Path, *, emulated: bool = False) -> tuple[str, ...]:
    """Flags that let clang read `source` and the user's headers that it includes; none if it can already."""
    if not (directory / source).is_file():
        return ()
    changed = {
        path: joined
        for path, text in _files(directory / source, _include_directories(flags, directory))
        if (joined := host_constraints(as_clang_reads(text)) if emulated else as_clang_reads(text)) != text
    }
    if not changed:
        return ()
    return ("-ivfsoverlay", str(_store(changed)))


def lenient_overlay(source: Path, flags: Sequence[str], directory: Path) -> tuple[str, ...]:
    """Flags that let the host side take unmarked functions of the user's files in kernels; after `overlay_flags`.

    nvcc's host side does not look into kernels, so that programs mark a function for the device only where
    `__CUDA_ARCH__` is defined. Lines stay what they are by `#line`, columns and offsets of includes do not.
    """
    changed = {
        path: unmarked_everywhere(host_constraints(as_clang_reads(text)))
        for path, text in _files(directory / source, _include_directories(flags, directory))
    }
    return ("-ivfsoverlay", str(_store(changed)))


def unmarked_everywhere(text: str) -> str:
    """`text` with unmarked functions for both sides, those of the headers that it includes left as they are."""
    out = ["SIMT_UNMARKED_EVERYWHERE\n#line 1\n"]
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        if _INCLUDE.match(line):
            line = f"SIMT_UNMARKED_ON_THE_HOST\n{line.rstrip()}\nSIMT_UNMARKED_EVERYWHERE\n#line {number + 1}\n"
        out.append(line)
    return "".join((*out, "\nSIMT_UNMARKED_ON_THE_HOST\n"))


def library_overlay(directory: Path, folders: Sequence[str]) -> tuple[str, ...]:
    """As `overlay_flags` on the emulator, for all headers of a library below `directory`; made once per version."""
    entries = [directory / folder for folder in folders]
    stamp = [(str(entry.resolve()), entry.stat().st_mtime_ns) for entry in entries]
    memo = cache_directory() / "spelling" / f"library-{hashlib.sha256(repr((_OWN, stamp)).encode()).hexdigest()[:24]}"
    if not memo.exists():
        changed = {}
        for path in (path for entry in entries for path in sorted(entry.rglob("*")) if path.is_file()):
            text = path.read_text(encoding="utf-8", errors="surrogateescape")
            if (spelled := host_constraints(text)) != text:
                changed[path] = spelled
        write_atomically(memo, str(_store(changed)).encode())
    return ("-ivfsoverlay", memo.read_text(encoding="utf-8"))


def as_clang_reads(text: str) -> str:
    """`text` with every spaced mark of a launch closed up and the blanks after it: `<< <` becomes `<<< `.

    Pointers to arrays that begin with a cast to their own type take it from there.
    """
    text = _ARRAY_POINTER.sub(lambda m: f"auto {m['name']}".ljust(len(m[0])), text)
    text = _PRAGMA_IN_MACRO.sub(r'\1_Pragma("\2")', text)
    text = _CONFIGURATION.sub(lambda m: _typed(m[0]), text)
    text = _STRAY_BACKSLASH.sub(r"\1 ", text)
    if not _SUSPECT.search(text):
        return text
    return _LAUNCH.sub(lambda m: _joined(m[1]) + m[2] + _joined(m[3]), text)


def _typed(configuration: str) -> str:
    """Of a launch's arguments, those that are braces alone as `dim3{…}`."""
    out, depth, before = [], 0, ","
    for letter in configuration:
        if letter == "{" and depth == 0 and before == ",":
            out.append("dim3")
        depth += (letter in "([{") - (letter in ")]}")
        before = before if letter.isspace() else letter
        out.append(letter)
    return "".join(out)


def host_constraints(text: str) -> str:
    """`text` with the operands of inline PTX in registers of this processor: `"=f"` becomes `"=x"`."""
    out, done = [], 0
    for match in _ASSEMBLY.finditer(text):
        if match.start() < done:
            continue
        end = _closing(text, match.end())
        body = text[match.end() : end]
        body = _CONSTRAINT.sub(lambda m: f'"{m[1]}{"r" if m[2] == "h" else "x"}"', body)
        body = _STRINGISED_CONSTRAINT.sub(r"\1 SIMT_CONSTRAINT_##\2", body)
        if _DOUBLE.search(body):
            body = _DOUBLE_CONSTRAINT.sub(r'"\1x"', body)
        out += [text[done : match.end()], _SPECIAL.sub(r"%%\1", body)]
        done = end
    return "".join((*out, text[done:]))


def _closing(text: str, start: int) -> int:
    """The place after the parenthesis that closes the one before `start`, strings left aside."""
    depth = 1
    for match in _STRING_OR_PARENTHESIS.finditer(text, start):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth == 0:
            return match.end()
    return len(text)


def _joined(mark: str) -> str:
    return mark[0] * 3 + " " * (len(mark) - 3)


def _include_directories(flags: Sequence[str], directory: Path) -> list[Path]:
    found: list[Path] = []
    for number, flag in enumerate(flags):
        if flag in ("-I", "-iquote", "-isystem") and number + 1 < len(flags):
            found.append(directory / flags[number + 1])
        elif flag.startswith("-I") and len(flag) > 2:
            found.append(directory / flag[2:])
    return found


def _files(source: Path, directories: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """The source and the headers that it includes from its own directories or the user's."""
    pending, seen = [source], {source.resolve()}
    while pending:
        path = pending.pop()
        if path.stat().st_size > _LARGEST_BYTES:
            continue
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        yield path.absolute(), text
        for name in _INCLUDE.findall(text):
            for place in (path.parent, *directories):
                header = place / name
                if not header.is_file():
                    continue
                if header.resolve() not in seen:
                    seen.add(header.resolve())
                    pending.append(header)
                break


def _store(changed: dict[Path, str]) -> Path:
    """Write the changed texts and the overlay that shows them under the files' own names."""
    folder = cache_directory() / "spelling"
    folder.mkdir(parents=True, exist_ok=True)
    roots = []
    for path, text in changed.items():
        data = text.encode("utf-8", errors="surrogateescape")
        kept = folder / f"{hashlib.sha256(data).hexdigest()[:24]}{path.suffix}"
        if not kept.exists():
            write_atomically(kept, data)
        roots.append({"type": "file", "name": str(path), "external-contents": str(kept)})
    overlay = {"version": 0, "use-external-names": False, "roots": roots}
    listed = json.dumps(overlay, sort_keys=True).encode()
    file = folder / f"{hashlib.sha256(listed).hexdigest()[:24]}.json"
    if not file.exists():
        write_atomically(file, listed)
    return file


def without_overlay(flags: Sequence[str]) -> list[str]:
    """The flags of the real target's compiler, which knows its own assembly."""
    places = {at for i, flag in enumerate(flags) if flag == "-ivfsoverlay" for at in (i, i + 1)}
    return [flag for i, flag in enumerate(flags) if i not in places]
