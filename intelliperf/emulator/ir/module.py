"""Splits the text of an IR module into globals, metadata and functions of logical instructions."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from intelliperf.emulator.ir.text import NAME, closing, split_top
from intelliperf.errors import ToolchainError

_LABEL = re.compile(rf"({NAME}):")
_METADATA = re.compile(r"!(\d+) = (?:distinct )?")
_DEFINED = re.compile(rf"@({NAME})\(")
_DECLARED = re.compile(rf"declare [^@]*@({NAME})\(")
_RECORD = re.compile(r"    #dbg_.* !(\d+)\)$")
_OPCODE = re.compile(rf"  (?:(%{NAME}) = )?(?:(tail|musttail|notail) )?([a-z]\w*)")


@dataclass
class Instruction:
    """One instruction; multi-line forms (switch, invoke, landingpad) are one text with newlines."""

    text: str
    result: str | None  # with its %
    opcode: str
    marker: str | None = None  # tail, musttail, notail


@dataclass
class Block:
    label: str | None  # None: an entry block without a name
    instructions: list[Instruction] = field(default_factory=list)


@dataclass
class Function:
    name: str  # as written, perhaps quoted, without @
    header: str
    parameters: list[str]  # as written, `...` included
    blocks: list[Block]
    subprogram: int | None
    recorded: list[int] = field(default_factory=list)  # debug locations of its records of variables


@dataclass
class Module:
    globals: list[str]  # every top-level line that is neither metadata, declaration nor attribute
    declarations: dict[str, str]
    attributes: list[str]
    metadata: dict[int, str]
    named_metadata: list[str]
    structs: dict[str, str]
    functions: list[Function]


def parse_module(text: str) -> Module:
    """Raises `ToolchainError` on text that is not a module of the form clang prints."""
    module = Module([], {}, [], {}, [], {}, [])
    lines = text.split("\n")
    position, count = 0, len(lines)
    while position < count:
        line = lines[position]
        if line.startswith("define "):
            end = position + 1
            while end < count and lines[end] != "}":
                end += 1
            if end == count:
                raise ToolchainError(f"IR function without an end: {line[:200]}")
            module.functions.append(_function(line, lines[position + 1 : end]))
            position = end + 1
            continue
        _top_level(module, line)
        position += 1
    return module


def _top_level(module: Module, line: str) -> None:
    if not line or line.startswith(";"):
        return
    if line.startswith("!"):
        found = _METADATA.match(line)
        if found:
            module.metadata[int(found[1])] = line[found.end() :]
        else:
            module.named_metadata.append(line)
    elif line.startswith("declare "):
        declared = _DECLARED.match(line)
        if not declared:
            raise ToolchainError(f"unknown IR declaration: {line[:200]}")
        module.declarations[declared[1]] = line
    elif line.startswith("attributes "):
        module.attributes.append(line)
    else:
        if line.startswith("%") and " = type " in line:
            name, _, body = line.partition(" = type ")
            module.structs[name] = body
        module.globals.append(line)


def _function(header: str, body: list[str]) -> Function:
    found = _DEFINED.search(header)
    if not found:
        raise ToolchainError(f"unknown IR function header: {header[:200]}")
    end = closing(header, found.end() - 1)
    debug = re.search(r" !dbg !(\d+)", header[end:])
    return Function(
        name=found[1],
        header=header,
        parameters=split_top(header[found.end() : end - 1]),
        blocks=_blocks(body),
        subprogram=int(debug[1]) if debug else None,
        recorded=[int(record[1]) for line in body if (record := _RECORD.match(line))],
    )


def _blocks(body: list[str]) -> list[Block]:
    blocks = [Block(None)]
    current = blocks[0]
    opcode_of = _OPCODE.match
    for line in body:
        if line.startswith("  "):
            if line[2:3] in (" ", "]"):
                if not line.startswith("    #dbg_"):
                    _continue(current, line)
                continue
            found = opcode_of(line)
            if not found:
                raise ToolchainError(f"unknown IR instruction: {line[:200]}")
            current.instructions.append(Instruction(line, found[1], found[3], found[2]))
        elif line and not line.startswith(";"):
            label = _LABEL.match(line)
            if not label:
                raise ToolchainError(f"unknown IR line in a function: {line[:200]}")
            if current.instructions or current.label is not None:
                current = Block(label[1])
                blocks.append(current)
            else:
                current.label = label[1]
    return blocks


def _continue(block: Block, line: str) -> None:
    if not block.instructions:
        raise ToolchainError(f"unknown IR continuation line: {line[:200]}")
    last = block.instructions[-1]
    last.text = f"{last.text}\n{line}"
