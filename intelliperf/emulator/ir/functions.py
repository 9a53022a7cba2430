"""Rewrites one function into its two versions: fast (positions only) and traced (every access)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from intelliperf.emulator.ir.addresses import Addresses
from intelliperf.emulator.ir.calls import BARRIERS, STOPS, SYNCHRONISERS, collective_name
from intelliperf.emulator.ir.debuginfo import DebugInfo
from intelliperf.emulator.ir.doubts import Doubts
from intelliperf.emulator.ir.layout import Layout
from intelliperf.emulator.ir.loadorder import LoadOrder
from intelliperf.emulator.ir.localarrays import LocalArrays, LocalCosts
from intelliperf.emulator.ir.memory import (
    ALIGNMENT_SHIFT,
    ATOMIC,
    BLOCK_SCOPE,
    CONSTANT,
    DRAWS,
    INDEXED,
    LOOP,
    MEMORY_OPCODES,
    READ_ONLY,
    UNIFORM,
    UNIFORM_VALUE,
    UPDATE,
    VOLATILE,
    WAVE_SCOPE,
    Access,
    access_of,
    masked_of,
    ranges_of,
)
from intelliperf.emulator.ir.mix import OperationCounter, kind_of
from intelliperf.emulator.ir.module import Block, Function, Instruction
from intelliperf.emulator.ir.order import nested_order
from intelliperf.emulator.ir.overflows import OVERFLOWING, Overflows
from intelliperf.emulator.ir.polls import Polls
from intelliperf.emulator.ir.privacy import is_private, pointers_to, private_pointers, read_only_pointers
from intelliperf.emulator.ir.rankings import Rankings
from intelliperf.emulator.ir.reach import Reach
from intelliperf.emulator.ir.recurrences import recurrence
from intelliperf.emulator.ir.sites import SiteTable
from intelliperf.emulator.ir.tags import Frames
from intelliperf.emulator.ir.text import CALLEE, DEBUG_LOCATION, suffixed, unquoted, without_attachments
from intelliperf.emulator.ir.turns import LABEL_USE, Hooks, hooks
from intelliperf.emulator.ir.uniform import UniformValues
from intelliperf.emulator.ir.updates import Updates
from intelliperf.emulator.ir.vectors import COPY_WIDTH_SHIFT, Joined, JoinPlan, VectorFinder, copy_width
from intelliperf.errors import ToolchainError

TRACE_SUFFIX = "$traced"
RESOLVER = "__simt_traced_version"
_ACQUIRES, _RELEASES = 4, 8  # FenceCode of runtime/abi.h
_CHOOSING = frozenset(("select", "and", "or", "br"))
_FENCE_ORDER = re.compile(r"\b(acquire|release|acq_rel|seq_cst)\b")
_CODE = re.compile(r"\(i32 (?:noundef )?(\d+)")
_COMPILER_FENCE = '  fence syncscope("singlethread") seq_cst'


@dataclass(frozen=True)
class Surroundings:
    """What a function's rewriting needs to know of its module."""

    layout: Layout
    debug: DebugInfo
    defined: Collection[str]
    synchronising: Collection[str]  # functions that may reach a barrier or a collective
    private_globals: frozenset[str]
    table: SiteTable
    variables: Mapping[str, int]  # bytes, by name with @
    nvidia: bool  # its compiler's vectors rather than AMD's
    shared: Collection[str]  # of these those in LDS
    constant: frozenset[str]  # and those in constant memory
    kernels: Collection[str]
    also: Mapping[int | None, list[Frames]]  # by location: other places whose accesses were merged into the one there
    reach: Reach | None = None  # of builds that are judged


class FunctionRewriter:
    """Produces the text of both versions of one function."""

    def __init__(self, function: Function, surroundings: Surroundings) -> None:
        self._function = function
        self._around = surroundings
        self._name = unquoted(function.name)
        self._private = private_pointers(function, surroundings.private_globals)
        self._constant = pointers_to(function, surroundings.constant)
        self._read_only = read_only_pointers(function) if function.name in surroundings.kernels else set()
        self._updates = Updates(function)
        self._addresses = Addresses(function, surroundings.layout)
        self._arrays = LocalArrays(function, self._addresses, surroundings.layout, self._is_uniform)
        self._local = LocalCosts()
        self._scope = 0  # of the next atomic operation: that of the mark before it
        self._operations = OperationCounter()
        self._vectors = VectorFinder(
            function,
            surroundings.layout,
            self._is_private,
            surroundings.nvidia,
            surroundings.variables,
            surroundings.shared,
            function.name in surroundings.kernels,
        )
        self._body = ""
        self._fast: list[str] = []
        self._trace: list[str] = []
        self._block = 0
        self._index = 0  # of the block within the function
        self._serial = 0

    def rewrite(self) -> tuple[list[str], list[str]]:
        """Lines of the fast and of the traced version."""
        function = self._function
        blocks = function.blocks
        rewritten: list[tuple[list[str], list[str]]] = [([], [])] * len(blocks)
        following = self._following = successors(blocks)
        order, nests = nested_order(following)
        shared = (self._addresses, self._around.shared)
        self._loads = LoadOrder(
            blocks, nests, following, self._is_private, self._around.layout, shared, self._updates, BARRIERS
        )
        self._polls = Polls(blocks, nests, following)
        self._doubts = Doubts(
            function,
            nests,
            following,
            self._addresses,
            self._around.shared,
            lambda: self._uniform_values,
            function.name in self._around.kernels,
        )
        # Only builds that are judged can be asked to rank NaN, or for other numbers where integers overflow.
        asked = self._around.reach is not None
        self._rankings = Rankings(function, self._addresses, following) if asked else None
        self._overflows = Overflows(function) if asked else None
        turns = hooks(blocks, nests, len(self._around.table.blocks))
        for index in order:
            self._fast, self._trace = [], []
            self._index = index
            self._rewrite_block(blocks[index], turns.get(index, Hooks()))
            rewritten[index] = (self._fast, self._trace)
        header = clean_header(function.header)
        old, new = f"@{function.name}(", f"@{suffixed(function.name, TRACE_SUFFIX)}("
        fast, trace = [header], [header.replace(old, new, 1)]
        for fast_lines, trace_lines in rewritten:
            fast += fast_lines
            trace += trace_lines
        fast.append("}")
        trace.append("}")
        return fast, trace

    def _rewrite_block(self, block: Block, turns: Hooks) -> None:
        if block.label is not None:
            self._both(f"{block.label}:")
        if turns.phi:
            self._trace.append(turns.phi)
        if self._index == 0 and self._rankings is not None:
            self._both(*self._rankings.beginning)
        if self._index == 0 and self._overflows is not None:
            self._both(*self._overflows.beginning)
        joined = self._joined(block)
        whole = [i for index, i in enumerate(block.instructions) if index not in joined or joined[index] is not None]
        places = tuple(int(found[1]) for i in whole if (found := DEBUG_LOCATION.search(i.text)))
        repeats = self._index in self._following[self._index]
        mix = self._operations.count([i for i in whole if not self._arrays.in_registers(i)], repeats)
        self._block = self._around.table.add_block(self._name, mix, places)
        if repeats and (chain := recurrence(whole, kind_of)):
            self._around.table.blocks[self._block]["chain"] = chain
        counted = None
        begun = 0
        self._local = LocalCosts()
        for index, instruction in enumerate(block.instructions):
            if counted is None and instruction.opcode not in ("phi", "landingpad"):
                counted, begun = len(self._trace), len(self._fast)
            try:
                if index in joined:
                    self._rewrite_part(instruction, joined[index])
                else:
                    self._rewrite_instruction(instruction)
            except (ToolchainError, ValueError, IndexError) as error:
                line = instruction.text.strip()[:200]
                raise ToolchainError(f"cannot instrument {self._name}: unknown IR: {line}: {error}") from error
        if self._local.lines:
            self._around.table.blocks[self._block]["local"] = self._local.row()
        if counted is not None:
            reached = self._around.reach.block(places) if self._around.reach is not None else []
            self._trace[counted:counted] = [*reached, *turns.calls, *self._count_execution(sum(mix.values()))]
            self._fast[begun:begun] = reached

    def _joined(self, block: Block) -> JoinPlan:
        try:
            return self._vectors.plan(block.instructions)
        except (ToolchainError, ValueError, IndexError) as error:
            raise ToolchainError(f"cannot instrument {self._name}: unknown IR: {error}") from error

    def _rewrite_instruction(self, instruction: Instruction) -> None:
        opcode = instruction.opcode
        found = DEBUG_LOCATION.search(instruction.text)
        location = int(found[1]) if found else None
        text = without_attachments(instruction.text)
        if opcode in MEMORY_OPCODES:
            used = opcode != "atomicrmw" or self._is_used(instruction.result)
            access = access_of(instruction, self._around.layout, used)
            if opcode == "atomicrmw":
                access = replace(access, flags=access.flags | self._uniformity(access))
            self._hook_access(self._in_scope(self._marked(access, instruction), instruction), location, instruction)
        elif opcode == "fence":
            self._fence(instruction.text)
            return
        elif opcode in ("call", "invoke") and self._rewrite_call(instruction, text, location):
            return
        elif opcode == "fcmp" and self._rankings is not None and instruction.result is not None:
            self._both(*self._rankings.rewritten(instruction.result, text))
            return
        elif opcode in OVERFLOWING and self._overflows is not None:
            self._both(*self._overflows.rewritten(instruction.result, text))
            return
        elif opcode in _CHOOSING and self._around.reach is not None:
            self._both(*self._around.reach.choice(text, location))
        self._both(text)

    # -- order ----------------------------------------------------------------------------------

    def _in_scope(self, access: Access, instruction: Instruction) -> Access:
        """With the scope that the mark before it gave an atomic operation, and whether a store completes an update."""
        flags = access.flags
        if flags & ATOMIC:
            flags |= self._scope
            self._scope = 0
        if access.kind == "store" and self._updates.completes(instruction):
            flags |= UPDATE
        if access.kind == "load" and not flags & ATOMIC and self._read_only_path(access.pointer, instruction.text):
            flags |= READ_ONLY
        if flags & VOLATILE and self._polls.may_wait(instruction, self._index, access.kind == "load"):
            flags |= LOOP
        if access.kind == "atomic" and self._doubts.hands_out(instruction, self._index):
            flags |= DRAWS
        return replace(access, flags=flags)

    def _read_only_path(self, pointer: str, text: str) -> bool:
        """Whether a GPU may answer from a cache that sees no stores: on NVIDIA those of `__ldg`, see the header."""
        return pointer in self._read_only or (self._around.nvidia and "!nontemporal" in text)

    def _fence(self, text: str) -> None:
        """One of the language's own, of all scopes; those within a thread hold the compiler back only."""
        if 'syncscope("singlethread")' not in text:
            order = "".join(_FENCE_ORDER.findall(text))
            code = (order != "release") * _ACQUIRES | (order != "acquire") * _RELEASES
            self._trace.append(f"  call void @__simt_fence(i32 {code})")
        self._both(_COMPILER_FENCE)

    def _mark(self, name: str, text: str) -> None:
        found = _CODE.search(text)
        code = int(found[1]) if found else 0
        if name == "__simt_fence":  # its code is a variable where nothing was optimised
            self._trace.append(f"  call void @__simt_fence(i32 {code})" if found else text)
            self._both(_COMPILER_FENCE)
        else:
            self._scope = (0, BLOCK_SCOPE, WAVE_SCOPE)[code] if code < 3 else 0

    # -- accesses -------------------------------------------------------------------------------

    def _is_used(self, result: str | None) -> bool:
        if result is None:
            return False
        if not self._body:
            self._body = "\n".join(i.text for block in self._function.blocks for i in block.instructions)
        return len(re.findall(re.escape(result) + r"(?![-\w.$])", self._body)) > 1

    def _uniformity(self, access: Access) -> int:
        """Flags of an atomic whose lanes share its address or its operand."""
        flags = UNIFORM if self._is_uniform(access.pointer) else 0
        return flags | (UNIFORM_VALUE if self._is_uniform(access.value) else 0)

    @cached_property
    def _uniform_values(self) -> UniformValues:
        return UniformValues(self._function, self._function.name in self._around.kernels)

    def _is_uniform(self, value: str) -> bool:
        return self._uniform_values.holds(value)

    def _is_private(self, pointer: str) -> bool:
        return is_private(pointer, self._private, self._around.private_globals)

    def _marked(self, access: Access, instruction: Instruction) -> Access:
        if access.kind != "load":
            return access
        flags = access.flags | self._loads.flags(instruction, self._index)
        if self._by_constant_cache(access.pointer):
            flags |= CONSTANT | (0 if self._addresses.is_fixed(access.pointer) else INDEXED)
        return replace(access, flags=flags)

    def _by_constant_cache(self, pointer: str) -> bool:
        """On AMD a scalar load, which has one address for all lanes."""
        constant = bool(self._around.constant) and is_private(pointer, self._constant, self._around.constant)
        return constant and (self._around.nvidia or self._is_uniform(pointer))

    def _rewrite_part(self, instruction: Instruction, joined: Joined | None) -> None:
        """An instruction that makes one access with others; the first of them has the hook."""
        if joined is not None:
            site = self._site(self._marked(joined.access, instruction), joined.place)
            self._doubt(site, joined.access, instruction)
            self._name_others(site, joined)
            pointer = joined.access.pointer
            if joined.back:
                self._serial += 1
                begin = f"%simt.begin{self._serial}"
                self._trace.append(f"  {begin} = getelementptr i8, ptr {pointer}, i64 -{joined.back}")
                pointer = begin
            self._trace.append(f"  call void @__simt_access(ptr {pointer}, i32 {site})")
        self._both(without_attachments(instruction.text))

    def _name_others(self, site: int, joined: Joined) -> None:
        """Adds the lines of a joined access that are not that of its first part."""
        row = self._around.table.sites[site]
        lines = {(frame["file"], frame["line"]) for frame in row["locations"][:1]}
        for location in joined.others:
            chain = self._around.debug.locations(location)
            if chain and chain[0]["line"] > 0 and (at := (chain[0]["file"], chain[0]["line"])) not in lines:
                lines.add(at)
                row.setdefault("also", []).append(chain)

    def _doubt(self, site: int, access: Access, instruction: Instruction) -> None:
        doubts = self._doubts.of(instruction, access.pointer, access.bytes, self._index, self._around.nvidia)
        if doubts:
            self._around.table.sites[site]["doubts"] = doubts

    def _hook_access(self, access: Access, location: int | None, instruction: Instruction) -> None:
        if self._is_private(access.pointer):
            self._arrays.add(access, self._local)
            return
        if access.length is not None:
            shared = self._addresses.base(self._addresses.resolve(access.pointer)[0]) in self._around.shared
            width = copy_width(access, self._around.nvidia, shared)
            aligned = min(access.alignment, width or 1).bit_length() - 1
            flags = access.flags | width << COPY_WIDTH_SHIFT | aligned << ALIGNMENT_SHIFT
            access = replace(access, flags=flags)
        site = self._site(access, location)
        self._doubt(site, access, instruction)
        if access.length is None:
            self._trace.append(f"  call void @__simt_access(ptr {access.pointer}, i32 {site})")
        else:
            self._trace.append(
                f"  call void @__simt_access_range(ptr {access.pointer}, i32 {site}, i64 {access.length})"
            )

    def _site(self, access: Access, location: int | None) -> int:
        number = self._around.table.add(
            access.kind, access.operation, self._name, self._block, self._around.debug.locations(location),
            access.bytes, access.flags, access.type_name,
        )  # fmt: skip
        if access.value:
            self._around.table.sites[number]["value"] = access.value
        if location in self._around.also:
            self._around.table.sites[number]["also"] = self._around.also[location]
        return number

    def _position(self, kind: str, operation: str, location: int | None) -> int:
        locations = self._around.debug.locations(location)
        return self._around.table.add(kind, operation, self._name, self._block, locations)

    def _count_execution(self, operations: int) -> list[str]:
        """Counts the lanes that come by; the runtime counts waves, too, where no event of the block does."""
        if operations and self._around.table.blocks[self._block]["site"] is None:
            return [f"  call void @__simt_block(i32 {self._block})"]
        self._serial += 1
        counter = f"getelementptr (i8, ptr @__simt_block_executions, i64 {8 * self._block})"
        old, new = f"%simt.count{self._serial}", f"%simt.next{self._serial}"
        return [
            f"  {old} = load i64, ptr {counter}, align 8",
            f"  {new} = add i64 {old}, 1",
            f"  store i64 {new}, ptr {counter}, align 8",
        ]

    # -- calls ----------------------------------------------------------------------------------

    def _rewrite_call(self, call: Instruction, text: str, location: int | None) -> bool:
        """Hooks around a call. True if the call itself has been written too."""
        found = None if " asm " in text else CALLEE.search(text)
        if found is None:
            return False
        name = found[1]
        if name is None:
            return self._indirect_call(call, text, found[2], location)
        if name in ("__simt_fence", "__simt_scope"):
            self._mark(name, text)
            return True
        if name in SYNCHRONISERS:
            kind, operation = SYNCHRONISERS[name]
            if name == "__simt_collective":
                operation = collective_name(text)
            self._both(f"  call void @__simt_at(i32 {self._position(kind, operation, location)})")
            return False
        if name in STOPS:
            self._both(f"  call void @__simt_at(i32 {self._position('call', name, location)})")
            return False
        if name in self._around.defined:
            self._direct_call(call, text, name, location)
            return True
        for access in ranges_of(call):
            self._hook_access(access, location, call)
        masked = masked_of(call, self._around.layout)
        if masked is not None:
            self._hook_access(masked, location, call)
        return False

    def _direct_call(self, call: Instruction, text: str, name: str, location: int | None) -> None:
        traced = text.replace(f"@{name}(", f"@{suffixed(name, TRACE_SUFFIX)}(", 1)
        if call.marker == "musttail" or call.opcode == "invoke":
            self._fast.append(text)  # nothing may stand between such a call and its return
            self._trace.append(traced)
            return
        site = self._position("call", unquoted(name), location)
        if name in self._around.synchronising:
            self._wrapped(self._fast, call, text, site)
        else:
            self._fast.append(text)
        self._wrapped(self._trace, call, traced, site)

    def _indirect_call(self, call: Instruction, text: str, pointer: str, location: int | None) -> bool:
        self._serial += 1
        resolved = f"%simt.callee{self._serial}"
        self._trace.append(f"  {resolved} = call ptr @{RESOLVER}(ptr {pointer})")
        traced = text.replace(f"{pointer}(", f"{resolved}(", 1)
        if call.marker == "musttail" or call.opcode == "invoke":
            self._fast.append(text)
            self._trace.append(traced)
            return True
        site = self._position("call", "indirect", location)
        self._wrapped(self._fast, call, text, site)
        self._wrapped(self._trace, call, traced, site)
        return True

    @staticmethod
    def _wrapped(lines: list[str], call: Instruction, text: str, site: int) -> None:
        if call.marker == "tail":
            text = text.replace("tail call", "call", 1)  # it is not in tail position any more
        lines.append(f"  call void @__simt_call(i32 {site})")
        lines.append(text)
        lines.append("  call void @__simt_return()")

    def _both(self, *lines: str) -> None:
        self._fast += lines
        self._trace += lines


def successors(blocks: list[Block]) -> list[list[int]]:
    """Edges of the control-flow graph, in the order of the terminators' labels."""
    index = {block.label: number for number, block in enumerate(blocks) if block.label is not None}
    edges: list[list[int]] = []
    for block in blocks:
        last = block.instructions[-1].text if block.instructions else ""
        targets = [index[name] for name in LABEL_USE.findall(last) if name in index]
        edges.append(list(dict.fromkeys(targets)))
    return edges


def clean_header(header: str) -> str:
    """Without comdat, debug attachment and linkage that would drop the body."""
    start = header.index("(", header.index("@"))
    head, tail = header[:start], header[start:]
    tail = re.sub(r" comdat(?:\(\$(?:[-\w.$]+|\"[^\"]*\")\))?(?= )", "", tail)
    tail = re.sub(r" !\w+ !\d+", "", tail)
    head = head.replace("available_externally ", "linkonce_odr ").replace("local_unnamed_addr ", "")
    return head + tail
