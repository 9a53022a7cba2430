"""Rewrites the fast version of one function into its shadow version."""

from __future__ import annotations

import re

from intelliperf.emulator.ir.functions import successors
from intelliperf.emulator.ir.module import Block, Function, Instruction
from intelliperf.emulator.ir.shadow.calls import RETURNED, SHADOW_SUFFIX, give, returned_kind, rewrite_call, taken
from intelliperf.emulator.ir.shadow.carriers import body_of, find_carriers
from intelliperf.emulator.ir.shadow.memory import FLOATS
from intelliperf.emulator.ir.shadow.operations import OPERATIONS, is_number
from intelliperf.emulator.ir.shadow.packed import Packed
from intelliperf.emulator.ir.shadow.state import VECTOR, Lanes, State, Surroundings
from intelliperf.emulator.ir.shadow.values import NOTHING, TYPES, ZERO, Shadow
from intelliperf.emulator.ir.text import NAME, split_top, suffixed, type_of
from intelliperf.errors import ToolchainError

_FLAGS = re.compile(
    r"\b(?:fast|nnan|ninf|nsz|arcp|contract|afn|reassoc|exact|nuw|nsw|nneg|disjoint|samesign|inbounds|nusw) "
)
_PHI_INPUT = re.compile(rf"\[ (.+?), %({NAME}) \]")


class FunctionShader:
    """Produces the text of the shadow version of one function."""

    def __init__(self, function: Function, around: Surroundings, is_kernel: bool) -> None:
        self._function = function
        self._is_kernel = is_kernel
        carriers = find_carriers(function)
        self._state, self._packed = State(around, carriers), Packed(function, carriers)
        self._ends: dict[str, str] = {}  # label → that of the block's last part
        self._phis: list[tuple[list[str], int, Instruction, Lanes]] = []  # where, which, its shadows

    def rewrite(self) -> list[str]:
        """Blocks in reverse post-order, so that what dominates comes first; the text keeps its order."""
        blocks = self._function.blocks
        texts: dict[int, list[str]] = {}
        entry = self._entry_label()
        for index in _reverse_postorder(successors(blocks)):
            texts[index] = self._block(blocks[index], entry if index == 0 else "")
        for lines, place, instruction, lanes in self._phis:
            lines[place] = "\n".join(self._phi_text(instruction, lanes))
        begin = 1 if blocks[0].label is not None else 0
        texts[0][begin:begin] = self._state.prologue()
        name = self._function.name
        header = self._function.header.replace(f"@{name}(", f"@{suffixed(name, SHADOW_SUFFIX)}(", 1)
        body = [line for index, block in enumerate(blocks) for line in texts.get(index, _unchanged(block))]
        return [header, *body, "}"]

    def _entry_label(self) -> str:
        """How phis name the first block, where it has no label."""
        labels = {block.label for block in self._function.blocks}
        for block in self._function.blocks:
            for instruction in block.instructions:
                if instruction.opcode == "phi":
                    for _, label in _PHI_INPUT.findall(instruction.text):
                        if label not in labels:
                            return str(label)
        return ""

    def _block(self, block: Block, entry: str) -> list[str]:
        state = self._state
        begun = state.label = block.label if block.label is not None else entry
        state.emit.out = lines = [f"{block.label}:"] if block.label is not None else []
        phis = [instruction for instruction in block.instructions if instruction.opcode == "phi"]
        for instruction in phis:
            self._phi(instruction)
        if entry or block is self._function.blocks[0]:
            self._arguments()
        for instruction in block.instructions[len(phis) :]:
            self._instruction(instruction)
        self._ends[begun] = state.label
        return lines

    def _arguments(self) -> None:
        state = self._state
        for number, text in enumerate(self._function.parameters):
            found = re.search(rf"(%{NAME})$", text)
            kind = type_of(text)
            if found and kind in FLOATS and self._is_kernel:
                given = f"i64 {number}, double {state.double(kind, found[1])}, i32 {int(kind == 'float')}"
                state.has[found[1]] = [state.call("argument", given)]
            elif found and kind in FLOATS and number < RETURNED:
                state.has[found[1]] = [taken(state, number, kind, found[1])]
            elif found and is_number(kind):
                self._embed(kind, found[1])

    def _instruction(self, i: Instruction) -> None:
        state, body = self._state, body_of(i)
        if i.opcode in ("call", "invoke"):
            rewrite_call(state, i, body)
        elif i.opcode == "ret":
            self._return(body)
            state.emit.out.append(i.text)
        else:
            state.emit.out.append(i.text)
            handler = OPERATIONS.get(i.opcode)
            if handler is not None:
                handler(state, i, _FLAGS.sub("", body))
            self._packed.follow(state, i)
        if i.result and i.result not in state.has and is_number(kind := _result_kind(i, body)):
            if i.opcode == "invoke":
                raise ToolchainError(f"a number from an invoke: {i.text.strip()[:200]}")
            self._embed(kind, i.result)

    def _return(self, body: str) -> None:
        kind = type_of(body[4:])
        if not self._is_kernel and kind in FLOATS:
            give(self._state, RETURNED, kind, body.split()[-1])

    def _embed(self, kind: str, value: str) -> None:
        """A number of unknown origin stands for itself."""
        state, vector = self._state, VECTOR.match(kind)
        if vector is None:
            state.has[value] = [state.embedded(kind, value)]
        else:
            state.has[value] = [state.embedded(vector[2], state.element(kind, value, n)) for n in range(int(vector[1]))]

    # -- phis -------------------------------------------------------------------------------------

    def _phi(self, i: Instruction) -> None:
        state = self._state
        kind, result = _phi_kind(i), i.result or ""
        lanes: Lanes = []
        if is_number(kind) or result in state.carriers:
            vector = VECTOR.match(kind)
            lanes = [self._phi_names() for _ in range(int(vector[1]) if vector else 1)]
            state.has[result] = lanes
        for piece in sorted(self._packed.wanted.get(result, ())):
            self._packed.known[result, piece] = self._phi_names()
        self._phis.append((state.emit.out, len(state.emit.out), i, lanes))
        state.emit.out.append("")

    def _phi_names(self) -> Shadow:
        needs = self._state.around.needs.parts()
        return Shadow(*(self._state.emit.name("phi") if need else zero for need, zero in zip(needs, ZERO, strict=True)))

    def _phi_text(self, i: Instruction, lanes: Lanes) -> list[str]:
        inputs = [(value, self._ends.get(label, label)) for value, label in _PHI_INPUT.findall(i.text)]
        kind = _phi_kind(i)
        head = i.text[: i.text.index(" [ ")]
        lines = [f"{head} " + ", ".join(f"[ {value}, %{end} ]" for value, end in inputs)]
        for number, lane in enumerate(lanes):
            lines += _chosen(lane, [(self._incoming(kind, value, number), end) for value, end in inputs])
        for piece in sorted(self._packed.wanted.get(i.result or "", ())):
            sources = [(self._packed.of(value, piece) or NOTHING, end) for value, end in inputs]
            lines += _chosen(self._packed.known[i.result or "", piece], sources)
        return lines

    def _incoming(self, kind: str, value: str, number: int) -> Shadow:
        known = self._state.has.get(value)
        if known is not None:
            return known[number]
        if not is_number(kind):
            return NOTHING
        if value.startswith("%"):  # from a block that is never reached
            return ZERO
        return self._state.literal_lanes(kind, value)[number]


def _chosen(lane: Shadow, sources: list[tuple[Shadow, str]]) -> list[str]:
    """Its phis; the labels are those of the blocks that the sources come from."""
    return [
        f"  {name} = phi {TYPES[part]} " + ", ".join(f"[ {source[part]}, %{end} ]" for source, end in sources)
        for part, name in enumerate(lane)
        if name.startswith("%")
    ]


def _phi_kind(i: Instruction) -> str:
    return type_of(_FLAGS.sub("", body_of(i))[4:])


def _result_kind(i: Instruction, body: str) -> str:
    if i.opcode in ("call", "invoke"):
        return returned_kind(i.text)
    if i.opcode == "extractvalue":
        return _member(body[13:])
    if i.opcode in ("bitcast", "fptrunc", "fpext", "sitofp", "uitofp"):
        return body.rpartition(" to ")[2].strip()
    if i.opcode in ("load", "freeze", "select", "extractelement", "insertelement", "fneg", "fadd", "fsub", "fmul"):
        plain = _FLAGS.sub("", body).split(" ", 1)[1]
        return type_of(re.sub(r"^(?:atomic |volatile )*", "", plain)) if i.opcode != "select" else ""
    return ""


def _member(text: str) -> str:
    """The type of what an extractvalue takes out of a plain struct."""
    kind = type_of(text)
    index = text.rpartition(",")[2].strip()
    if not kind.startswith("{") or not index.isdigit():
        return ""
    members = split_top(kind[1:-1])
    return members[int(index)] if int(index) < len(members) else ""


def _unchanged(block: Block) -> list[str]:
    label = [f"{block.label}:"] if block.label is not None else []
    return [*label, *(instruction.text for instruction in block.instructions)]


def _reverse_postorder(edges: list[list[int]]) -> list[int]:
    seen, done = {0}, []
    stack = [(0, iter(edges[0]))]
    while stack:
        node, following = stack[-1]
        step = next((n for n in following if n not in seen), None)
        if step is None:
            stack.pop()
            done.append(node)
        else:
            seen.add(step)
            stack.append((step, iter(edges[step])))
    return done[::-1]
