"""Which pointers of a function lead to the lane's own memory or to the runtime's read-only state.

Accesses through them are not memory traffic of the kernel: locals, by-value arguments, the
thread's and the grid's indices, and constants that the compiler itself made. A pointer that is
not provably such counts as memory; the runtime drops it if it points into a lane's stack.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from intelliperf.emulator.ir.module import Function, Instruction
from intelliperf.emulator.ir.text import NAME, pointer_operand, split_top

_RUNTIME_STATE = re.compile(r"@__simt_(?:grid\b|thread\b)")
_THREAD_CALL = re.compile(r"@__simt_thread\(")
_SAME_OBJECT_CALL = re.compile(r"@llvm\.(?:launder|strip)\.invariant\.group|@llvm\.ptrmask")
_PHI_INPUT = re.compile(r"\[ ((?:[^\[\]]|\[[^\[\]]*\])*?), %")
_GEP = re.compile(r"getelementptr (?:inbounds |nuw |nusw |inrange\([^)]*\) )*")
_GLOBAL = re.compile(rf"@{NAME}")


def private_pointers(function: Function, private_globals: frozenset[str]) -> set[str]:
    """Names (with %) of the private pointers among arguments and results of `function`."""
    private = {_name(part) for part in function.parameters if part.startswith("ptr") and " byval(" in part}
    derived: dict[str, list[str]] = {}
    for block in function.blocks:
        for instruction in block.instructions:
            if instruction.result is None:
                continue
            if _is_root(instruction):
                private.add(instruction.result)
            else:
                sources = _sources(instruction)
                if sources:
                    derived[instruction.result] = sources
    return _close(private, derived, private_globals)


def read_only_pointers(function: Function) -> set[str]:
    """Names (with %) of pointers to what nobody writes by the caller's promise: `const T* __restrict__`."""
    roots = {
        _name(part)
        for part in function.parameters
        if part.startswith("ptr ") and " noalias " in part and " readonly " in part and " byval(" not in part
    }
    return _close(roots, _derived(function), frozenset()) if roots else roots


def pointers_to(function: Function, variables: frozenset[str]) -> set[str]:
    """Names (with %) of the pointers that lead into these variables (with @) only."""
    return _close(set(), _derived(function), variables) if variables else set()


def _derived(function: Function) -> dict[str, list[str]]:
    return {
        instruction.result: sources
        for block in function.blocks
        for instruction in block.instructions
        if instruction.result is not None and (sources := _sources(instruction))
    }


def is_private(pointer: str, private: set[str], private_globals: frozenset[str]) -> bool:
    """Whether an operand (a name or a constant expression) is private."""
    if pointer.startswith("%"):
        return pointer in private
    if _RUNTIME_STATE.search(pointer):
        return True
    names = _GLOBAL.findall(pointer)
    return bool(names) and all(name in private_globals for name in names)


def _name(parameter: str) -> str:
    return parameter[parameter.rindex(" ") + 1 :]


def _is_root(instruction: Instruction) -> bool:
    if instruction.opcode == "alloca":
        return True
    return instruction.opcode == "call" and bool(_THREAD_CALL.search(instruction.text))


def _sources(instruction: Instruction) -> list[str]:
    """The pointers that the result is derived from; empty if the result is not a derived pointer."""
    text, opcode = instruction.text, instruction.opcode
    if opcode == "getelementptr":
        parts = split_top(text[_end(_GEP, text) :])
        return [pointer_operand(parts[1])] if len(parts) > 1 and parts[1].startswith("ptr ") else []
    if opcode == "phi" and " phi ptr " in text:
        return _PHI_INPUT.findall(text)
    if opcode == "select" and ", ptr " in text:
        return [pointer_operand(part) for part in split_top(text[text.index("select ") + 7 :])[1:3]]
    if opcode == "freeze" and "freeze ptr " in text:
        return [text[text.index("freeze ptr ") + 11 :].split(",")[0].strip()]
    if opcode == "call" and _SAME_OBJECT_CALL.search(text):
        start = text.index("(", text.index("@llvm."))
        return [pointer_operand(split_top(text[start + 1 : text.rindex(")")])[0])]
    return []


def _end(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.search(text)
    return found.end() if found else 0


def _close(private: set[str], derived: dict[str, list[str]], private_globals: frozenset[str]) -> set[str]:
    """The greatest set such that every member is a root or derived from members only."""
    candidates = private | set(derived)
    users: dict[str, list[str]] = {}
    doomed: list[str] = []
    for result, sources in derived.items():
        for source in sources:
            users.setdefault(source, []).append(result)
        if not _all_private(sources, candidates, private_globals):
            doomed.append(result)
    while doomed:
        result = doomed.pop()
        if result in candidates and result not in private:
            candidates.discard(result)
            doomed.extend(users.get(result, ()))
    return candidates


def _all_private(sources: Iterable[str], candidates: set[str], private_globals: frozenset[str]) -> bool:
    harmless = ("poison", "undef")
    return all(source in harmless or is_private(source, candidates, private_globals) for source in sources)
