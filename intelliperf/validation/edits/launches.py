"""What a declared candidate may change on the host, taken out of the compiled code; the optimiser shows the rest.

`without_geometry` puts zero in place of every grid, block and LDS size; what was computed for these alone is then
dead code. `without_launches` takes launches out, with them all memory that nothing but launches, fills and releases
touches. Which values these are is decided by the compiler's data flow, not by their names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping

from intelliperf.validation.edits.ir import NAME
from intelliperf.validation.edits.names import plain_name

# Operands that are grid, block and LDS size; dim3 arrives as i64 and i32.
_SHAPE = (1, 2, 3, 4, 6)
_SEVEN = tuple(range(1, 8))
CONFIGURED: Mapping[str, tuple[int, ...]] = {
    **{f"__{api}PushCallConfiguration": (0, 1, 2, 3, 4) for api in ("hip", "cuda")},
    **{f"{api}LaunchKernel": _SHAPE for api in ("hip", "cuda", "hipExt")},
    **{f"{api}LaunchCooperativeKernel": _SHAPE for api in ("hip", "cuda")},
    **{name: _SEVEN for name in ("hipModuleLaunchKernel", "cuLaunchKernel", "hipExtModuleLaunchKernel")},
    **{name: _SEVEN for name in ("hipModuleLaunchCooperativeKernel", "cuLaunchCooperativeKernel")},
}
_SETTINGS = frozenset(
    f"{api}{what}"
    for api in ("hip", "cuda")
    for what in ("FuncSetAttribute", "FuncSetCacheConfig", "FuncSetSharedMemConfig")
)
_CHECKS = frozenset(f"{api}{what}" for api in ("hip", "cuda") for what in ("GetLastError", "PeekAtLastError"))
_ALLOCATES = frozenset(f"{api}{what}" for api in ("hip", "cuda") for what in ("Malloc", "MallocAsync"))
_FILLS = frozenset(
    f"{api}{what}"
    for api in ("hip", "cuda")
    for what in ("Free", "FreeAsync", "Memset", "MemsetAsync", "MemsetD32Async")
)
_QUERIES = frozenset(
    f"{api}{what}"
    for api in ("hip", "cuda")
    for what in (
        *(
            "GetDevice",
            "DeviceGetAttribute",
            "GetDeviceProperties",
            "GetDevicePropertiesR0600",
            "GetDeviceProperties_v2",
        ),
        "OccupancyMaxActiveBlocksPerMultiprocessor",
    )
)
_ONE, _ZERO = "@intelliperf.refuses", "@intelliperf.succeeds"
_CONSTANTS = "\n".join(
    f"define internal i32 {name}(...) alwaysinline nounwind memory(none) willreturn {{\n  ret i32 {value}\n}}"
    for name, value in ((_ONE, 1), (_ZERO, 0))
)
_ARITHMETIC = re.compile(
    r"llvm\.(?:lifetime|dbg|assume|[su](?:min|max|cmp)|abs|ct(?:pop|lz|tz)|fsh[lr]|bitreverse|bswap|"
    r"[su](?:add|sub|mul|shl)\.(?:sat|with\.overflow)|fabs|fmuladd|fma|sqrt|floor|ceil|trunc|(?:min|max)num|rint|round)\."
)
_CONFIGURES = "PushCallConfiguration"
_STUB = "__device_stub__"
_NOTHING_DONE = ("llvm.lifetime", "llvm.dbg", "llvm.assume", "llvm.experimental.noalias")
_CALL = re.compile(rf"\b(?:call|invoke) .*?({NAME})\(")
_API = re.compile(r"^declare .*@(?:__)?(?:hip|cuda|cu)[A-Z]\w*\(.*$", re.MULTILINE)
_DEFINED = re.compile(rf"^define (?:internal|linkonce_odr) .*?({NAME})\(.*$", re.MULTILINE)
_VALUE = r'%(?:"[^"]*"|[-\w.$]+)'


def without_geometry(ir: str, kernels: Collection[str] | None = None) -> str:
    """The module with all sizes of launches zero; what is asked of the device for these alone is dead, too.

    `kernels`: plain names of those whose launches are meant, where not all are.
    """
    ir = _with_queries_pure(_on_one_line(without_throws(ir)))
    configured = iter(_configured(ir))

    def blank(row: str, name: str, start: int, end: int) -> str:
        plain = name[1:].removesuffix("_ptsz").removesuffix("_spt")
        if plain in _QUERIES:
            return _succeeding(row)
        free = CONFIGURED.get(plain, ())
        launched = next(configured) if plain.endswith(_CONFIGURES) else _kernel(row[start + 1 : end])
        meant = kernels is None or launched in kernels
        return _with_zeros(row, start, end, set(free)) if free and meant else row

    return _calls_mapped(ir, blank)


def _configured(ir: str) -> Iterator[str]:
    """What is launched by each configuration that is pushed, in the order of the text; empty where no stub follows."""
    waiting = False
    for line in ir.split("\n"):
        name = call_operands(line)[0]
        if name.endswith(_CONFIGURES) or line == "}":
            if waiting:
                yield ""
            waiting = line != "}"
        elif waiting and _STUB in name:
            yield plain_name(name).removeprefix(_STUB)
            waiting = False


def _kernel(operands: str) -> str:
    """The plain name of the kernel that an API call is handed first."""
    handle = re.match(rf"ptr (?:\w+ )*({NAME})(?:,|$)", operands)
    return plain_name(handle[1][1:].strip('"')).removeprefix(_STUB) if handle else ""


def _with_queries_pure(ir: str) -> str:
    """The module with queries of the device that do nothing but write their answer."""

    def pure(match: re.Match[str]) -> str:
        name, parameters, rest = match[2], match[3].split(", "), match[4]
        if name.removesuffix("_ptsz").removesuffix("_spt") not in _QUERIES:
            return match[0]
        answer = next((at for at, one in enumerate(parameters) if one.startswith("ptr")), -1)
        for at, one in enumerate(parameters):
            if one.startswith("ptr"):
                parameters[at] = f"ptr captures(none) {'writeonly' if at == answer else 'readnone'}"
        return f"{match[1]}@{name}({', '.join(parameters)}) nounwind willreturn memory(argmem: write){rest}"

    return re.sub(r"^(declare .*)@(\w+)\(([^()]*)\)((?: local_unnamed_addr)?).*$", pure, ir, flags=re.MULTILINE)


def queries(ir: str) -> int:
    """How often it asks something of the device."""
    return sum(_called(line) in _QUERIES for line in ir.split("\n") if line.startswith(" "))


def with_dead_arguments_blank(ir: str, unused: Mapping[str, frozenset[int]]) -> str:
    """The module with zero for the arguments that the called functions do not use."""

    def blank(row: str, name: str, start: int, end: int) -> str:
        return _with_zeros(row, start, end, set(unused[name])) if unused.get(name) else row

    return _calls_mapped(ir, blank)


def unused_arguments(ir: str) -> dict[str, frozenset[int]]:
    """By function that the module defines: places of the parameters that it does not use."""
    found = {}
    for match in re.finditer(rf"^define .*?({NAME})\((.*)$", ir, re.MULTILINE):
        end = ir.index("\n}", match.end())
        header = match[0]
        start = header.index(match[1] + "(") + len(match[1])
        parameters = list(_operands(header, start + 1, _closing(header, start)))
        used = set(re.findall(_VALUE, ir[match.end() : end]))
        names = [re.findall(_VALUE, header[a:b])[-1:] for a, b in parameters]
        dead = frozenset(at for at, name in enumerate(names) if name and name[0] not in used)
        if dead:
            found[match[1]] = dead
    return found


def without_launches(ir: str) -> str:
    """The module without launches, kernels' attributes and questions for the last error.

    Allocations, fills and releases succeed in it, so that what is done where one fails is gone.
    """

    def gone(row: str, name: str, start: int, end: int) -> str:
        plain = name[1:].removesuffix("_ptsz").removesuffix("_spt")
        if plain.endswith("PushCallConfiguration"):
            return _replaced(row, name, start, end, _ONE)
        if plain in CONFIGURED or plain in _SETTINGS or plain in _CHECKS:
            return _replaced(row, name, start, end, _ZERO)
        return _succeeding(row) if plain in _ALLOCATES or plain in _FILLS or plain in _QUERIES else row

    return _with_constants(_calls_mapped(_with_queries_pure(_on_one_line(without_throws(ir))), gone))


def _on_one_line(ir: str) -> str:
    return re.sub(r"(\binvoke\b[^\n]*)\n\s+(to label)", r"\1 \2", ir)


def _succeeding(row: str) -> str:
    """The call, with success in place of what it returns."""
    result = re.match(rf"\s+({_VALUE}) = (call|invoke) (?:noundef )?i32 ", row)
    if result is None:
        return row
    kept = row.replace(f"{result[1]} = {result[2]}", f"%kept.{result[1][1:]} = call", 1)
    success = f"  {result[1]} = add i32 0, 0"
    target = re.search(rf" to label ({_VALUE}) unwind label {_VALUE}", kept)
    if target is None:
        return f"{kept}\n{success}"
    return f"{kept.replace(target[0], '', 1)}\n{success}\n  br label {target[1]}"


def without_throws(ir: str) -> str:
    """The API is C: no cleanup depends on where it is called. Headers' wrappers of it are part of the caller."""

    def inlined(match: re.Match[str]) -> str:
        wraps = plain_name(match[1]).startswith(("hip", "cuda"))
        return re.sub(r" #\d+", " alwaysinline", match[0], count=1) if wraps else match[0]

    return _DEFINED.sub(inlined, _API.sub(r"\g<0> nounwind", ir))


def actions(ir: str, functions: Collection[str]) -> Counter[str]:
    """What these functions do that others see: calls by name, but for launches and scratch memory, and stores."""
    found: Counter[str] = Counter()
    lines = ir.split("\n")
    for start, end in _bodies(lines):
        name = re.search(NAME, lines[start - 1])
        if name is None or name[0] not in functions:
            continue
        own = set(re.findall(rf"^\s+({_VALUE}) = alloca", "\n".join(lines[start:end]), re.MULTILINE))
        for line in lines[start:end]:
            derived = re.match(rf"\s+({_VALUE}) = getelementptr .*?ptr ({_VALUE})", line)
            if derived is not None and derived[2] in own:
                own.add(derived[1])
            written = re.match(rf"\s+(?:store|atomicrmw|cmpxchg) .*?, ptr ({_VALUE}|{NAME})", line)
            if written is not None and written[1] not in own:
                found["a store"] += 1
            if (called := _called(line)) and not _may_come(called):
                found[called] += 1
    return found


def _may_come(called: str) -> bool:
    ours = (*_SETTINGS, *_CHECKS, *_ALLOCATES, *_FILLS, *_QUERIES, *CONFIGURED)
    return called in ours or "__device_stub__" in called or _ARITHMETIC.match(called) is not None


def without_scratch(ir: str) -> str:
    """The module without the allocation, filling and release of memory that nothing else can see.

    Sees variables of a function, and the module's own where nothing else names them.
    """
    lines = ir.split("\n")
    for start, end in _bodies(lines):
        for slot in _slots(lines, start, end):
            _drop_one(lines, start, end, slot)
    for match in re.finditer(rf"^({NAME}) = internal .*global ptr null", ir, re.MULTILINE):
        _drop_one(lines, 0, len(lines), [match[1]])
    return _with_constants("\n".join(lines))


def _with_constants(ir: str) -> str:
    used = f"{_ONE}()" in ir or f"{_ZERO}()" in ir
    return f"{ir}\n{_CONSTANTS}\n" if used and f"define internal i32 {_ONE}" not in ir else ir


def function_bodies(ir: str) -> Iterator[list[str]]:
    lines = ir.split("\n")
    for start, end in _bodies(lines):
        yield lines[start:end]


def call_operands(line: str) -> tuple[str, list[str]]:
    """What the line calls, with the types and values that it hands over; empty where it calls nothing by name."""
    match = _CALL.search(line) if line.startswith(" ") else None
    if match is None:
        return "", []
    opening = match.end() - 1
    return match[1][1:], [line[a:b].strip() for a, b in _operands(line, match.end(), _closing(line, opening))]


def _bodies(lines: list[str]) -> Iterator[tuple[int, int]]:
    start = None
    for number, line in enumerate(lines):
        if line.startswith("define "):
            start = number + 1
        elif line == "}" and start is not None:
            yield start, number
            start = None


def _slots(lines: list[str], start: int, end: int) -> Iterator[list[str]]:
    """Names of the addresses of each pointer that the function's own variables hold, also as members of structs."""
    for number in range(start, end):
        match = re.match(rf"\s+({_VALUE}) = alloca ", lines[number])
        if match is None:
            continue
        variable = match[1]
        offsets: dict[int, list[str]] = {0: [variable]}
        known = True
        for at in _uses(lines, start, end, variable):
            member = re.match(rf"\s+({_VALUE}) = {_member(variable)}, i64 (\d+)(?:,|$)", lines[at])
            if member is not None:
                offsets.setdefault(int(member[2]), []).append(member[1])
            else:
                known = known and _is_access(lines[at], variable)
        yield from offsets.values() if known else ()


def _member(variable: str) -> str:
    return rf"getelementptr (?:inbounds )?(?:nuw )?i8, ptr {re.escape(variable)}"


def _is_access(line: str, variable: str) -> bool:
    """Does the line do no more with the address than read, write or allocate what stands there?"""
    named = rf"ptr {re.escape(variable)}(?![-\w.$])"
    if re.match(rf"\s+(?:{_VALUE} = load [^,]+|store [^,]+), {named}", line):
        return len(re.findall(named, line)) == 1
    return "@llvm.lifetime." in line or _called(line) in _ALLOCATES and _first_is(line, variable)


def _drop_one(lines: list[str], start: int, end: int, names: list[str]) -> None:
    """Take out what is done with the memory whose address a slot holds, if no use of it is anything else.

    `names`: of the slot's address.
    """
    calls: list[int] = []
    for name, number in [(one, at) for one in names for at in _uses(lines, start, end, one)]:
        line = lines[number]
        loaded = re.match(rf"\s+({_VALUE}) = load ptr, ptr {re.escape(name)}(?![-\w.$])", line)
        if loaded is not None:
            reads = _uses(lines, *_around(lines, number), loaded[1])
            if not all(_called(lines[at]) in _FILLS and _first_is(lines[at], loaded[1]) for at in reads):
                return
            calls += reads
        elif _called(line) in _ALLOCATES and _first_is(line, name):
            calls.append(number)
        elif not ("@llvm.lifetime." in line or _stores_null(line, name) or re.search(_member(name), line)):
            return
    for number in calls:
        match = _CALL.search(lines[number])
        if match is not None:
            opening = match.end() - 1
            lines[number] = _replaced(lines[number], match[1], opening, _closing(lines[number], opening), _ZERO)


def _around(lines: list[str], number: int) -> tuple[int, int]:
    start, end = number, number
    while start > 0 and not lines[start].startswith("define "):
        start -= 1
    while end < len(lines) and lines[end] != "}":
        end += 1
    return start + 1, end


def _uses(lines: list[str], start: int, end: int, name: str) -> list[int]:
    mention = re.compile(re.escape(name) + r"(?![-\w.$])")
    defines = re.compile(rf"\s*{re.escape(name)} = ")
    return [
        at
        for at in range(start, end)
        if name in lines[at] and not defines.match(lines[at]) and mention.search(lines[at])
    ]


def _called(line: str) -> str:
    match = _CALL.search(line)
    return match[1][1:].removesuffix("_ptsz") if match is not None else ""


def _first_is(line: str, value: str) -> bool:
    match = _CALL.search(line)
    if match is None:
        return False
    inside = [line[a:b].split()[-1] for a, b in _operands(line, match.end(), _closing(line, match.end() - 1))]
    return bool(inside) and inside[0] == value and value not in inside[1:]


def _stores_null(line: str, slot: str) -> bool:
    return re.match(rf"\s+store ptr null, ptr {re.escape(slot)}(?![-\w.$])", line) is not None


def _calls_mapped(ir: str, change: Callable[[str, str, int, int], str]) -> str:
    """`change` gets each line with a call, the called name, and where its parentheses open and close."""
    rows = []
    for row in ir.split("\n"):
        match = _CALL.search(row) if row.startswith(" ") else None
        rows.append(row if match is None else change(row, match[1], match.end() - 1, _closing(row, match.end() - 1)))
    return "\n".join(rows)


def _closing(row: str, opening: int) -> int:
    depth = 0
    for at in range(opening, len(row)):
        depth += (row[at] == "(") - (row[at] == ")")
        if depth == 0:
            return at
    return len(row)


def _operands(row: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    depth, first = 0, start
    for at in range(start, end):
        depth += (row[at] in "([{<") - (row[at] in ")]}>")
        if row[at] == "," and depth == 0:
            yield first, at
            first = at + 1
    if row[first:end].strip():
        yield first, end


def _with_zeros(row: str, opening: int, closing: int, places: set[int]) -> str:
    parts = [row[a:b].strip() for a, b in _operands(row, opening + 1, closing)]
    for place in places:
        kind = parts[place].split()[0] if place < len(parts) else ""
        if re.fullmatch(r"i\d+", kind):
            parts[place] = f"{kind} 0"
        elif kind in ("float", "double"):
            parts[place] = f"{kind} 0.0"
        elif kind == "ptr" and "byval" not in parts[place] and "sret" not in parts[place]:
            parts[place] = "ptr null"
    return row[: opening + 1] + ", ".join(parts) + row[closing:]


def _replaced(row: str, name: str, opening: int, closing: int, by: str) -> str:
    """The call of a constant in place of this one; both give an i32."""
    start = row.index(name)
    head = re.sub(r"\b(call|invoke)\b.*$", r"\1 i32 (...) ", row[:start])
    rest = re.sub(r"^ #\d+", "", row[closing + 1 :])
    return f"{head}{by}(){rest}"
