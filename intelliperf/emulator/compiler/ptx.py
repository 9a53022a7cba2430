"""Inline PTX, as LLVM IR.

A statement becomes a function of its inputs in which every operand and every register that it declares is a
stack slot; the optimiser inlines it and turns the slots back into values. What is not in the tables is left
alone and refused by name afterwards. Source: NVIDIA's PTX ISA.
"""

from __future__ import annotations

import re

from intelliperf.emulator.compiler import ptxarithmetic, ptxbits, ptxcompare, ptxconvert, ptxmemory, ptxwarp
from intelliperf.emulator.compiler.ptxwriter import Unknown, Writer, slot, type_of

__all__ = ["Unknown", "ptx_function"]

# What says how exactly, which is at least as exact here.
_HINTS = frozenset({"approx", "ftz", "full", "noftz", "rn"})
_NO_EFFECT = frozenset(
    {
        "prefetch",
        "prefetchu",
        "discard",
        "applypriority",
        "griddepcontrol",
        ".pragma",
        "pmevent",
        "createpolicy",
    }  # whose hints nothing looks at
)
_MEMORY = frozenset(ptxmemory.HANDLERS)
_FAMILIES = (ptxarithmetic, ptxbits, ptxcompare, ptxconvert, ptxmemory, ptxwarp)
_HANDLERS = {name: handler for family in _FAMILIES for name, handler in family.HANDLERS.items()}
_OPERAND = re.compile(r"\{[^{}]*\}|\[[^\[\]]*\]|[^,\s]+")
_REGISTER = re.compile(r"\.reg\s+\.(\w+)\s+(.+)$")
_LABEL = re.compile(r"([\w$%]+):(?!:)\s*")
_GUARD = re.compile(r"@(!?[\w$%.]+)\s+")
_MANY = re.compile(r"([\w%$]+)<(\d+)>$")


def ptx_function(name: str, text: str, outputs: list[str], inputs: list[tuple[str, int | None]]) -> str:
    """An IR function for the instructions in `text`; raises `Unknown`.

    `outputs` are IR types; `inputs` are types with the number of the output that the operand shares, or None.
    """
    slots = {f"${i}": kind for i, kind in enumerate(outputs)}
    plain = len(outputs)
    start: list[str] = []
    for number, (kind, tied) in enumerate(inputs):
        place = tied if tied is not None else plain
        plain += 1
        slots.setdefault(f"${place}", kind)
        start.append(f"  store {kind} %a{number}, ptr %s{slot(f'${place}')}")
    writer = Writer(slots)
    for statement in _statements(text):
        _translate(statement, writer)
    result = "void" if not outputs else outputs[0] if len(outputs) == 1 else "{ " + ", ".join(outputs) + " }"
    parameters = ", ".join(f"{kind} %a{i}" for i, (kind, _) in enumerate(inputs))
    body = [f"  %s{slot(register)} = alloca {kind}" for register, kind in slots.items()]
    return "\n".join(
        (f"define internal {result} @{name}({parameters}) alwaysinline convergent {{", *body, *start, *writer.lines,
         *_returned(outputs, result), "}", "")
    )  # fmt: skip


def _returned(outputs: list[str], result: str) -> list[str]:
    if not outputs:
        return ["  ret void"]
    loads = [f"  %r{i} = load {kind}, ptr %s{slot(f'${i}')}" for i, kind in enumerate(outputs)]
    if len(outputs) == 1:
        return [*loads, f"  ret {result} %r0"]
    made, whole = [], "poison"
    for i, kind in enumerate(outputs):
        made.append(f"  %w{i} = insertvalue {result} {whole}, {kind} %r{i}, {i}")
        whole = f"%w{i}"
    return [*loads, *made, f"  ret {result} {whole}"]


def _statements(text: str) -> list[str]:
    """Instructions; the braces of blocks, which stand before an instruction or after the last, are left out."""
    body = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    parts = [re.sub(r"^[{}\s]+", "", " ".join(part.split())) for part in body.split(";")]
    return [part for part in parts if part]


def _translate(statement: str, writer: Writer) -> None:
    while label := _LABEL.match(statement):
        writer.do(f"br label %{_label(label[1])}")
        writer.begin(_label(label[1]))
        statement = statement[label.end() :].lstrip("{} ")
    if not statement:
        return
    if declared := _REGISTER.match(statement):
        for register in declared[2].split(","):
            many = _MANY.match(register.strip())
            names = [f"{many[1]}{i}" for i in range(int(many[2]))] if many else [register.strip()]
            writer.slots |= dict.fromkeys(names, type_of(declared[1]))
    elif guard := _GUARD.match(statement):
        rest = statement[guard.end() :]
        condition = writer.read(guard[1], "i1")
        if rest.split()[0] in ("bra", "bra.uni"):
            after = writer.label()
            writer.do(f"br i1 {condition}, label %{_label(rest.split()[1])}, label %{after}")
            writer.begin(after)
        else:
            writer.when(condition, lambda: _instruction(rest, writer))
    else:
        _instruction(statement, writer)


def _label(name: str) -> str:
    return f"to.{slot(name)}"


def _instruction(statement: str, writer: Writer) -> None:
    instruction, _, rest = statement.partition(" ")
    words = instruction.split(".")
    if words[0] in _NO_EFFECT or instruction in _NO_EFFECT:
        return
    operands = _OPERAND.findall(rest)
    if words[0] == "bra":
        writer.do(f"br label %{_label(operands[0])}")
        writer.begin(writer.label())
        return
    if instruction == "exit":
        writer.call("void", "__simt_exit")
        return
    handler = _HANDLERS.get(words[0])
    if handler is None:
        raise Unknown(instruction)
    if "L2::cache_hint" in words:
        words.remove("L2::cache_hint")
        operands.pop()
    if words[0] not in _MEMORY:
        words = [word for word in words if word not in _HINTS]
    try:
        handler(words, operands, writer)
    except (IndexError, ValueError, KeyError) as error:
        raise Unknown(instruction) from error
