"""The lexical part of LLVM's textual IR: names, operands, types, attachments."""

from __future__ import annotations

import re

from intelliperf.errors import ToolchainError

NAME = r'(?:[-a-zA-Z$._0-9]+|"[^"]*")'
CALLEE = re.compile(rf"[ )](?:@({NAME})|(%{NAME}))\(")
DEBUG_LOCATION = re.compile(r", !dbg !(\d+)")
_REFERENCE = re.compile(rf"[%@]{NAME}")
_OPEN = "([{<"
_CLOSE = ")]}>"
_ESCAPE = re.compile(rb"\\([0-9A-Fa-f]{2})")
_STRUCTURE = re.compile(r'[()\[\]{}<>,"]')


def suffixed(name: str, suffix: str) -> str:
    """A symbol with a suffix, inside the quotes if it is quoted: `"a b"` → `"a b$trace"`."""
    return f'{name[:-1]}{suffix}"' if name.endswith('"') else name + suffix


def unquoted(name: str) -> str:
    """The symbol as the object file will have it."""
    if not name.startswith('"'):
        return name
    return unescaped(name[1:-1])


def unescaped(text: str) -> str:
    """The content of a quoted string: `\\C3\\B6` are two bytes of one character."""
    if "\\" not in text:
        return text
    plain = _ESCAPE.sub(lambda m: bytes([int(m[1], 16)]), text.encode("utf-8", "surrogateescape"))
    return plain.decode("utf-8", "surrogateescape")


def split_top(text: str) -> list[str]:
    """The parts between commas that no bracket or string encloses, stripped."""
    if "," not in text:
        return [text.strip()] if text.strip() else []
    parts: list[str] = []
    depth = start = 0
    quoted = False
    for found in _STRUCTURE.finditer(text):
        mark = found[0]
        if mark == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif mark in _OPEN:
            depth += 1
        elif mark in _CLOSE:
            depth -= 1
        elif depth == 0:
            parts.append(text[start : found.start()].strip())
            start = found.end()
    last = text[start:].strip()
    if last:
        parts.append(last)
    return parts


def closing(text: str, start: int) -> int:
    """The index after the bracket that closes the one at `start`."""
    depth = 0
    quoted = False
    for found in _STRUCTURE.finditer(text, start):
        mark = found[0]
        if mark == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif mark in _OPEN:
            depth += 1
        elif mark in _CLOSE:
            depth -= 1
            if depth == 0:
                return found.end()
    raise ToolchainError(f"unbalanced brackets in IR: {text.strip()[:200]}")


def type_of(typed_value: str) -> str:
    """The type at the start of `float %x`, `<4 x float> <…>`, `{ i64, ptr } %y`, `%struct.S %z`."""
    text = typed_value.strip()
    if text[:1] in ("<", "[", "{"):
        return text[: closing(text, 0)]
    if text.startswith("%"):
        found = _REFERENCE.match(text)
        if found:
            return found[0]
    return text.split(None, 1)[0] if text else ""


def operand_at(text: str, start: int) -> str:
    """The operand that begins at `start`: a name, a literal or a constant expression with its brackets."""
    found = _REFERENCE.match(text, start)
    if found:
        return found[0]
    bracket = re.compile(r"[-\w. ]*?\(").match(text, start)
    if bracket:
        return text[start : closing(text, bracket.end() - 1)]
    word = re.compile(r"[-\w.]+").match(text, start)
    if not word:
        raise ToolchainError(f"unknown operand in IR: {text.strip()[:200]}")
    return word[0]


def pointer_operand(part: str) -> str:
    """The pointer in `ptr noundef nonnull align 4 %p` or `ptr %p monotonic`."""
    if not part.startswith("ptr"):
        raise ToolchainError(f"unknown pointer operand in IR: {part[:200]}")
    rest = part[3:]
    skip = re.compile(
        r"\s*(?:(?:captures|dereferenceable(?:_or_null)?|initializes|range)\([^()]*(?:\([^()]*\)[^()]*)*\)"
        r"|align(?:\(\d+\)| \d+)|addrspace\(0\)"
        r"|no\w+|non\w+|read\w+|write\w+|returned|immarg|dead_on_unwind|writable|inreg)(?=\s)"
    )
    position = 0
    while True:
        found = skip.match(rest, position)
        if not found:
            break
        position = found.end()
    while position < len(rest) and rest[position] == " ":
        position += 1
    if rest.startswith("addrspace", position):
        raise ToolchainError(f"unknown address space in IR: {part[:200]}")
    return operand_at(rest, position)


def without_debug_location(instruction: str) -> str:
    return DEBUG_LOCATION.sub("", instruction)


def without_attachments(instruction: str) -> str:
    """Without `, !tbaa !7, !dbg !9 …` at the end; passes that would use them do not run any more."""
    cut = instruction.find(", !")
    if cut < 0:
        return instruction
    if '"' in instruction[:cut]:
        return re.sub(r"(?:, !\w+(?:\.\w+)* !(?:\d+|\{\}|DI\w+\([^()]*\)))+$", "", instruction)
    return instruction[:cut]
