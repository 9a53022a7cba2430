"""Inline assembly that has a meaning off the device: a few GCN instructions and most of PTX, in unoptimised IR.

A statement becomes plain IR or a function of its own (compiler/ptx.py) that calls the runtime where it must
(runtime/assembly.cpp); what is in neither table is refused by name afterwards.
"""

from __future__ import annotations

import re

from intelliperf.emulator.compiler.ptx import Unknown, ptx_function
from intelliperf.emulator.compiler.ptxmemory import fence_code

_CALL = re.compile(
    r'(?P<head>^[ \t]+(?:%\S+ = )?)(?:tail )?call (?:contract )?(?P<type>void|i\d+|float|double|ptr|\{[^{}]*\}) asm '
    r'(?:sideeffect )?(?:alignstack )?"(?P<text>[^"]*)", "(?P<constraints>[^"]*)"'
    r'\((?P<arguments>[^()]*)\)(?P<rest>[^\n]*)',
    re.MULTILINE,
)  # fmt: skip
_ESCAPE = re.compile(r"\\(0[9ADad]|22|5[Cc])")
_ESCAPED = {"09": " ", "0a": "\n", "0d": " ", "22": '"', "5c": "\\"}
_CALLED = re.compile(r"call (\w+) @((?:llvm\.|__simt_)[\w.]+|tanhf)\(([^()]*)\)")
_ATTRIBUTES = re.compile(r"(?:, !srcloc !\d+)")
_MOVE = re.compile(r"v_mov_b32(?:_e32|_e64)? \$0, ?\$1$")
_ORDER = re.compile(r"(?:membar|fence)\.[\w.:]+$|s_waitcnt\b.*$|s_nop \d+$|s_sleep \d+$")
_FENCE_DECLARED = re.compile(r"^declare [^\n]*@__simt_fence\(", re.MULTILINE)
_TOGETHER = frozenset({"__simt_collective", "__simt_barrier", "__simt_barrier_reduce", "__simt_named_barrier",
                       "__simt_ptx_mma", "__simt_exit"})  # fmt: skip
_PURE = re.compile(r"__simt_ptx_\w+$|__simt_is_shared$|__simt_thread$")


def translate_assembly(ir: str) -> str:
    """`ir` with every known statement replaced; declarations of what it now calls are appended."""
    written: list[str] = []
    changed = _CALL.sub(lambda match: _as_function(match, written), ir)
    if "@__simt_fence(i32" in changed and not _FENCE_DECLARED.search(changed):
        changed += "\ndeclare void @__simt_fence(i32) nounwind\n"
    if not written:
        return changed
    added = "".join(written)
    declarations = dict(map(_declared, sorted(set(_CALLED.findall(added)))))
    for name, kind in (("__simt_grid", "i8"), ("__simt_shared_range", "[2 x ptr]")):
        if f"@{name}" in added:
            declarations[name] = f"@{name} = external global {kind}"
    known = re.compile(r"^(?:declare [^\n]*)?@([\w.]+)(?:\(| = )", re.MULTILINE)
    there = set(known.findall(changed))
    missing = [text for name, text in declarations.items() if name not in there]
    return "\n".join((changed, *missing, *written, ""))


def readable(text: str) -> str:
    """The text of a statement as it stands in the source, as far as IR keeps that."""
    plain = _ESCAPE.sub(lambda mark: _ESCAPED[mark[1].lower()], text)
    plain = re.sub(r"\$\{(\d+):\w+\}|\$(\d+)", r"%\1\2", plain.replace("$(", "{").replace("$)", "}").replace("$|", "|"))
    return " ".join(plain.split())


def _as_function(match: re.Match[str], written: list[str]) -> str:
    """As `_translated`; what its tables do not have becomes a call of a function of its own, if it can."""
    simple = _translated(match)
    if simple != match[0]:
        return simple
    result, constraints = match["type"], match["constraints"].split(",")
    text = _ESCAPE.sub(lambda mark: _ESCAPED[mark[1].lower()], match["text"])
    text = text.replace("$(", "{").replace("$)", "}").replace("$|", "|").replace("${:uid}", "")
    outputs = [] if result == "void" else [part.strip() for part in result.strip("{} ").split(",")]
    text = "exit;" if text.strip(" ;") == "s_endpgm" else text
    given = [word for word in constraints if not word.startswith(("=", "~"))]
    tied = [int(word) if word.isdigit() else None for word in given]
    arguments = match["arguments"].split(", ") if match["arguments"] else []
    for number, (word, argument) in enumerate(zip(given, arguments, strict=False), start=len(outputs)):
        if word in ("n", "i"):  # a number that the text is to have in its place
            text = re.sub(rf"\${number}\b", argument.split(" ")[-1], text)
    name = f"__simt_ptx_statement_{len(written)}"
    try:
        inputs = [argument.split(" ")[0] for argument in arguments]
        written.append(ptx_function(name, text, outputs, list(zip(inputs, tied, strict=True))))
    except (Unknown, ValueError):
        return match[0]
    rest = re.sub(r"^ #\d+", "", _ATTRIBUTES.sub("", match["rest"]))
    return f"{match['head']}call {result} @{name}({match['arguments']}){rest}"


def _declared(call: tuple[str, str, str]) -> tuple[str, str]:
    result, name, arguments = call
    types = ", ".join(part.split(" ")[0] for part in arguments.split(", ")) if arguments else ""
    attributes = (
        " convergent nounwind"
        if name in _TOGETHER
        else " nounwind willreturn memory(none)"
        if _PURE.match(name)
        else ""
    )
    return name, f"declare {result} @{name}({types}){attributes}"


def _translated(match: re.Match[str]) -> str:
    text = " ".join(_ESCAPE.sub(" ", match["text"]).split()).rstrip("; ")
    result, arguments, rest = match["type"], match["arguments"], _ATTRIBUTES.sub("", match["rest"])
    rest = re.sub(r"^ #\d+", "", rest)
    if _MOVE.match(text) and arguments.split(" ")[0] == result and "," not in arguments:
        return f"{match['head']}freeze {arguments.replace(' noundef', '')}{rest}"
    if _ORDER.match(text) and result == "void" and not arguments:
        code = fence_code(text) if text.startswith(("membar", "fence")) else None
        if code is not None:
            return f"{match['head']}call void @__simt_fence(i32 {code}){rest}"
        return f'{match["head"]}fence syncscope("singlethread") seq_cst{rest}'
    return match[0]
