"""Global variables of device code: block-shared memory, dynamic shared memory, symbols of the host API."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from intelliperf.emulator.ir.debuginfo import DebugInfo
from intelliperf.emulator.ir.layout import Layout
from intelliperf.emulator.ir.text import NAME, split_top, type_of, unquoted
from intelliperf.errors import ToolchainError

SHARED_SECTION = ".bss.simt_shared"  # takes no room in files
SHARED_GUARD = 256  # unused bytes around each variable there; all banks of 4 bytes, so that its own do not change
SHARED_FAR_GUARD = 1 << 18  # before and behind them all: pages that the runtime closes, see runtime/lds_guards.h
SYMBOL_GUARD = 256  # unused bytes behind each device variable; behind an array that is not long up to:
_LONGEST_GUARD = 1 << 14
MANAGED_SECTION = "simt_managed"  # CUDA's __managed__ variables: the host's copies are kept equal
DYNAMIC_SHARED = "__simt_dynamic_lds"  # the runtime library defines it
_PAGE = 4096
_GLOBAL = re.compile(rf"@({NAME}) = (.*?)\b(global|constant) (.*)$")
_DEBUG = re.compile(r", !dbg !(\d+)")
_ALIGNMENT = re.compile(r", align (\d+)")
_LOCAL_TEXTURE = re.compile(r"^(@\S+ = )internal (?=global %struct\.texture(?:\.\d+)? )", re.MULTILINE)
_LOCAL_SHARED = re.compile(
    rf"^(@{NAME} = )(?:internal|private) (?=(?:[\w()]+ )*global .* (?:undef|poison)(?:,|$))", re.MULTILINE
)
_SHARED_ALIGNMENT = re.compile(
    rf"^(@{NAME} = (?:[\w()]+ )*global [^\n]* (?:undef|poison), align )[1248]$", re.MULTILINE
)
_ANNOTATIONS, _CONSTANT = "@llvm.global.annotations", "simt.constant"  # the mark of `__constant__` in our headers
_ANNOTATED = re.compile(rf"{{ ptr (@{NAME}), ptr (@{NAME}),")
_DROPPED = (_ANNOTATIONS, "@llvm.used", "@llvm.compiler.used", "@__hip_cuid", "@__simt_shared_range")


@dataclass
class Variables:
    """The rewritten globals and what is known of them."""

    lines: list[str] = field(default_factory=list)
    shared: dict[str, int] = field(default_factory=dict)  # bytes, by name as written
    private: set[str] = field(default_factory=set)  # compiler-made constants, with @
    constant: frozenset[str] = frozenset()  # in constant memory, with @
    symbols: dict[str, dict[str, Any]] = field(default_factory=dict)
    types: dict[str, int | None] = field(default_factory=dict)  # of the symbols, in the debug metadata
    external: list[str] = field(default_factory=list)  # defined elsewhere
    dynamic: list[str] = field(default_factory=list)  # extern __shared__ arrays, all at one address


def expose_shared_variables(text: str) -> str:
    """Give block-shared variables external linkage before optimisation.

    In CPU code a local-linkage variable that one function stores before it loads is that
    function's own; here every lane runs the function and all of them share the variable.
    """
    return _SHARED_ALIGNMENT.sub(r"\g<1>16", _LOCAL_SHARED.sub(r"\1", text))


def expose_textures(text: str) -> str:
    """Give static textures external linkage and a value, as others have them: the host binds them by name."""
    return _LOCAL_TEXTURE.sub(r"\1externally_initialized ", text)


def join_dynamic(text: str, names: list[str]) -> str:
    """Let every `extern __shared__` array mean the runtime's one."""
    if not names:
        return text
    choice = "|".join(re.escape(name) for name in names)
    return re.sub(rf"@(?:{choice})(?![-\w.$])", f"@{DYNAMIC_SHARED}", text)


def rewrite_variables(lines: list[str], layout: Layout, debug: DebugInfo) -> Variables:
    """`lines` are the top-level lines that are neither functions, declarations nor metadata."""
    result = Variables(lines=[line for line in lines if not line.startswith(("$", "@"))])
    result.constant = _in_constant_memory(lines)
    front = len(result.lines)  # what is defined first comes first in its section
    for line in lines:
        if not line.startswith("@") or line.startswith(_DROPPED):
            continue
        if re.match(rf"@{NAME} = [\w ()]*\b(?:alias|ifunc)\b", line):
            result.lines.append(_DEBUG.sub("", line))
            continue
        found = _GLOBAL.match(line)
        if not found:
            raise ToolchainError(f"unknown IR global: {line[:200]}")
        _rewrite(line, found, layout, debug, result)
    result.lines += [
        f"@{DYNAMIC_SHARED} = external global [0 x i8], align 1024",
        *_shared_table(result.shared),
    ]
    _place_guards(result, front)
    return result


def _place_guards(result: Variables, front: int) -> None:
    """Before and behind the variables, in the order of their section; retained ones would have one of their own."""

    def placed(name: str, size: int, alignment: int) -> str:
        kind = f"internal global [{size} x i8] zeroinitializer"
        return f'@{name} = {kind}, section "{SHARED_SECTION}", align {alignment}'

    far, page, near = (SHARED_FAR_GUARD, _PAGE, SHARED_GUARD) if result.shared else (1, 1, 1)
    result.lines.insert(front, placed("__simt_shared_anchor", near, 1024 if result.shared else 1))
    result.lines.insert(front, placed("__simt_shared_before", far, page))
    result.lines += [
        placed("__simt_shared_behind", far, page),
        "@__simt_shared_range = constant [2 x ptr] [ptr @__simt_shared_anchor, ptr @__simt_shared_behind]",
        f"@__simt_shared_far_guard = constant i64 {far}",
    ]


def _in_constant_memory(lines: Sequence[str]) -> frozenset[str]:
    marks = {line.partition(" ")[0] for line in lines if f'c"{_CONSTANT}\\00"' in line}
    annotated = (found for line in lines if line.startswith(_ANNOTATIONS) for found in _ANNOTATED.findall(line))
    return frozenset(variable for variable, mark in annotated if mark in marks)


def _shared_table(shared: Mapping[str, int]) -> list[str]:
    """Where the variables are and how large, for the runtime."""
    rows = [f"%simt.shared {{ ptr @{name}, i64 {size} }}" for name, size in shared.items()]
    rows = rows or ["%simt.shared zeroinitializer"]
    return [
        "%simt.shared = type { ptr, i64 }",
        f"@__simt_shared_variables = constant [{len(rows)} x %simt.shared] [{', '.join(rows)}]",
        f"@__simt_shared_variable_count = constant i32 {len(shared)}",
    ]


def _rewrite(line: str, found: re.Match[str], layout: Layout, debug: DebugInfo, result: Variables) -> None:
    name, linkage, word, rest = found[1], found[2], found[3], found[4]
    kind = type_of(rest)
    after = rest[len(kind) :].lstrip()
    if linkage.split()[:1] in (["external"], ["extern_weak"]):
        if kind.startswith("[0 x "):  # extern __shared__: the dynamic shared memory
            result.dynamic.append(name)
        else:
            result.external.append(unquoted(name))
            result.lines.append(_plain(line))
        return
    value = re.match(r"(undef|poison)(?=,|$)", after)
    if value and word == "global" and "externally_initialized" not in linkage:
        alignment = _ALIGNMENT.search(after)
        bytes_aligned = max(16, int(alignment[1]) if alignment else 1)
        result.shared[name] = layout.size(kind)
        result.lines.append(
            f"@{name} = internal global <{{ {kind}, [{SHARED_GUARD} x i8] }}> zeroinitializer, "
            f'section "{SHARED_SECTION}", align {bytes_aligned}'
        )
        return
    is_symbol = "externally_initialized" in linkage
    if word == "constant" and not is_symbol and ("private " in linkage or name.startswith("switch.table")):
        result.private.add(f"@{name}")
    if is_symbol:
        _describe_symbol(line, name, word, kind, layout, debug, result)
        line = line.replace("externally_initialized constant", "externally_initialized global", 1)
        line = _guarded(line, kind, result.symbols[unquoted(name)])
    result.lines.append(_plain(line))


def _guarded(line: str, kind: str, symbol: dict[str, Any]) -> str:
    """With unused bytes behind it, so that an access beyond it meets no other variable."""
    initial, *attributes = split_top(line.partition(f"global {kind} ")[2])
    if not initial or any(one.startswith("section ") for one in attributes):
        return line
    guard = max(SYMBOL_GUARD, min(symbol["size"] * 4, _LONGEST_GUARD))
    symbol["guard"] = guard
    padded = f"global <{{ {kind}, [{guard} x i8] }}> <{{ {kind} {initial}, [{guard} x i8] zeroinitializer }}>"
    return ", ".join((line.partition(f"global {kind} ")[0] + padded, *attributes))


def _plain(line: str) -> str:
    line = re.sub(rf", comdat(?:\(\${NAME}\))?", "", line)
    line = line.replace("local_unnamed_addr ", "")
    return re.sub(r"(?:, !\w+ !\d+)+$", "", line)


def _describe_symbol(
    line: str, name: str, word: str, kind: str, layout: Layout, debug: DebugInfo, result: Variables
) -> None:
    attached = _DEBUG.search(line)
    type_name = kind
    number = None
    if attached:
        expression = debug.node(int(attached[1]))
        variable = debug.node(expression.reference("var"))
        type_name = debug.type_name(variable.reference("type"))
        number = debug.number(variable.reference("type"))
        result.types[unquoted(name)] = variable.reference("type")
    result.symbols[unquoted(name)] = {
        "size": layout.size(kind),
        "type": re.sub(r"^const ", "", type_name),
        "constant": word == "constant",
        **({"number": number} if number else {}),
        **({"mirrored": True} if f'section "{MANAGED_SECTION}"' in line else {}),
    }
