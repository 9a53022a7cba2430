"""Inline assembly that has a meaning off the device: a few PTX and GCN instructions, in unoptimised IR.

Each becomes a call into the runtime (runtime/assembly.cpp) or plain IR; what is not in the table longer than
that is read by compiler/ptx.py; what neither knows is refused by name afterwards.
"""

from __future__ import annotations

import re

from intelliperf.emulator.compiler.ptx import Unknown, ptx_function

_CALL = re.compile(
    r'(?P<head>^[ \t]+(?:%\S+ = )?)(?:tail )?call (?:contract )?(?P<type>void|i\d+|float|double|ptr|\{[^{}]*\}) asm '
    r'(?:sideeffect )?(?:alignstack )?"(?P<text>[^"]*)", "(?P<constraints>[^"]*)"'
    r'\((?P<arguments>[^()]*)\)(?P<rest>[^\n]*)',
    re.MULTILINE,
)  # fmt: skip
_ESCAPE = re.compile(r"\\0[9A]")
_INTRINSIC = re.compile(r"call (\w+) @(llvm\.[\w.]+)\(([^()]*)\)")
_ATTRIBUTES = re.compile(r"(?:, !srcloc !\d+)")
# One register read: what the runtime's function is called and its type.
_REGISTERS = {
    "laneid": ("__simt_ptx_laneid", "i32"),
    "warpid": ("__simt_ptx_warpid", "i32"),
    "nwarpid": ("__simt_ptx_nwarpid", "i32"),
    "smid": ("__simt_ptx_smid", "i32"),
    "nsmid": ("__simt_ptx_nsmid", "i32"),
    "lanemask_eq": ("__simt_ptx_lanemask_eq", "i32"),
    "lanemask_lt": ("__simt_ptx_lanemask_lt", "i32"),
    "lanemask_le": ("__simt_ptx_lanemask_le", "i32"),
    "lanemask_gt": ("__simt_ptx_lanemask_gt", "i32"),
    "lanemask_ge": ("__simt_ptx_lanemask_ge", "i32"),
    "clock64": ("__simt_clock", "i64"),
    "globaltimer": ("__simt_wall_clock", "i64"),
}
# Instructions of registers alone: the runtime's function and how many words it takes.
_FUNCTIONS = {
    "bfe.u32": ("__simt_ptx_bfe_u32", 3),
    "bfe.s32": ("__simt_ptx_bfe_s32", 3),
    "bfi.b32": ("__simt_ptx_bfi", 4),
    "prmt.b32": ("__simt_ptx_prmt", 3),
}
_READ = re.compile(r"mov\.[bus](?:32|64) \$0, ?%(\w+)$")
_MOVE = re.compile(r"(?:mov\.\w+|v_mov_b32(?:_e32|_e64)?) \$0, ?\$1$")
_ORDER = re.compile(r"(?:membar|fence)\.[\w.:]+$|s_waitcnt\b.*$|s_nop \d+$|s_sleep \d+$")


def translate_assembly(ir: str) -> str:
    """`ir` with every known statement replaced; declarations of what it now calls are appended."""
    used: dict[str, str] = {}
    written: list[str] = []
    changed = _CALL.sub(lambda match: _as_function(match, used, written), ir)
    intrinsics = sorted(set(_INTRINSIC.findall("".join(written))))
    used |= {name: declaration for name, declaration in map(_declared, intrinsics)}
    missing = [text for name, text in used.items() if not re.search(rf"^declare [^\n]*@{name}\(", ir, re.MULTILINE)]
    return "\n".join((changed, *missing, *written, "")) if missing or written else changed


def _as_function(match: re.Match[str], used: dict[str, str], written: list[str]) -> str:
    """As `_translated`; what its tables do not have becomes a call of a function of its own, if it can."""
    simple = _translated(match, used)
    if simple != match[0]:
        return simple
    result, constraints = match["type"], match["constraints"].split(",")
    text = _ESCAPE.sub(" ", match["text"]).replace("$(", "{").replace("$)", "}")
    outputs = [] if result == "void" else [part.strip() for part in result.strip("{} ").split(",")]
    tied = [int(word) if word.isdigit() else None for word in constraints if not word.startswith(("=", "~"))]
    inputs = [part.split(" ")[0] for part in match["arguments"].split(", ")] if match["arguments"] else []
    name = f"__simt_ptx_statement_{len(written)}"
    try:
        written.append(ptx_function(name, text, outputs, list(zip(inputs, tied, strict=True))))
    except (Unknown, ValueError):
        return match[0]
    rest = re.sub(r"^ #\d+", "", _ATTRIBUTES.sub("", match["rest"]))
    return f"{match['head']}call {result} @{name}({match['arguments']}){rest}"


def _declared(call: tuple[str, str, str]) -> tuple[str, str]:
    result, name, arguments = call
    types = ", ".join(part.split(" ")[0] for part in arguments.split(", "))
    return name, f"declare {result} @{name}({types})"


def _translated(match: re.Match[str], used: dict[str, str]) -> str:
    text = " ".join(_ESCAPE.sub(" ", match["text"]).split()).rstrip("; ")
    instruction, _, operands = text.partition(" ")
    result, arguments, rest = match["type"], match["arguments"], _ATTRIBUTES.sub("", match["rest"])
    rest = re.sub(r"^ #\d+", "", rest)
    if read := _READ.match(text):
        name, wanted = _REGISTERS.get(read[1], ("", ""))
        if name and wanted == result and not arguments:
            used[name] = f"declare {result} @{name}()"
            return f"{match['head']}call {result} @{name}(){rest}"
    elif _MOVE.match(text) and arguments.split(" ")[0] == result and "," not in arguments:
        return f"{match['head']}freeze {arguments.replace(' noundef', '')}{rest}"
    elif _ORDER.match(text) and result == "void" and not arguments:
        return f'{match["head"]}fence syncscope("singlethread") seq_cst{rest}'
    elif instruction in _FUNCTIONS and result == "i32":
        name, count = _FUNCTIONS[instruction]
        in_order = ", ".join(f"${i}" for i in range(count + 1))
        if re.sub(r",\s*", ", ", operands) == in_order and arguments.count("i32 ") == count:
            used[name] = f"declare i32 @{name}({', '.join(['i32'] * count)})"
            return f"{match['head']}call i32 @{name}({arguments}){rest}"
    return match[0]
