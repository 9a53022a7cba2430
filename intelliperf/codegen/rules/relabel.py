"""Proof that the threads of a block may trade places, and what that does to memory accesses.

Renumbering the threads of a block changes nothing but which thread does which share of the
work, as long as no operation depends on how threads are grouped into waves.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from intelliperf.codegen.rules.accessors import seen_through
from intelliperf.codegen.rules.lanes import TYPICAL_EXTENT, Launch, Thread, initializer, requests
from intelliperf.codegen.rules.lds_arrays import ELEMENT_BYTES, array_of, is_shared, is_stored, owner_of
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, body
from intelliperf.codegen.rules.statements import callee_name, pointee
from intelliperf.codegen.syntax import outline
from intelliperf.codegen.syntax.source import Source, without_comments
from intelliperf.codegen.syntax.tree import Node
from intelliperf.records import Geometry, MemorySpace, SourceEvidence

SECTOR_BYTES = 32
_WAVE_OPERATIONS = re.compile(
    r"__shfl|__ballot|__any|__all\b|__activemask|__match|__syncwarp|__lane|warpSize|__reduce_|_wave_|__builtin_amdgcn"
    r"|__builtin_nvvm|cooperative_groups|\bcg::|thread_rank|tiled_partition|\b(?:\w+_)?mma_\w+|\bwmma\b|\b__asm|\basm\b"
    r"|\b\w*printf\b|\b\w*clock(?:64|32)?\s*\(|\bvolatile\b"
)

_OF_A_BLOCK = re.compile(
    r"block(?:Idx|Dim)|gridDim|hip(?:Block|Grid)(?:Idx|Dim)_[xyz]|__shared__|\w*sync\w*|\w*barrier\w*"
)


def global_access(problem: Problem, evidence: SourceEvidence) -> tuple[Place, Node]:
    """The place of a blamed access of global memory, and its kernel. Raises `NotApplicable` for one of LDS."""
    if evidence.space is MemorySpace.SHARED:
        raise NotApplicable(f"{evidence.file.name}:{evidence.line} accesses LDS only")
    frames = [frame for frame in evidence.chain[1:] if frame.line]
    place = problem.place(evidence)
    for frame in frames:  # of a device function: where the kernel calls it
        if any(child.kind == "CUDAGlobalAttr" for function in place.functions for child in function.children):
            break
        place = problem.place(dataclasses.replace(evidence, file=frame.file, line=frame.line))
    place = seen_through(problem, place)
    return place, kernel_of(place)


def kernel_place(problem: Problem) -> Place:
    """The definition of the finding's kernel, see `kernel_definition`."""
    return seen_through(problem, problem.place(kernel_definition(problem)))


def kernel_definition(problem: Problem) -> SourceEvidence:
    """File and line of it.

    The line may be that of an earlier version, if another kernel's accepted change has moved it: the name decides then.
    So it does where a profiler tells names alone. Raises `NotApplicable` where it is not known.
    """
    kernel = problem.task.finding.profile.kernel
    if not problem.task.evidence:
        raise NotApplicable("it is not known where the kernel is defined")
    name = re.split(r"[(<]", kernel.name, maxsplit=1)[0].rpartition("::")[2].split()[-1:]
    paths = [*problem.task.sources] if kernel.file is None else [problem.relative(kernel.file)]
    defined = [
        (path, region)
        for path in paths
        for region in outline.functions(problem.task.sources[path])
        if region.is_kernel and [region.name] == name
    ]
    path, line = paths[0] if paths else "", kernel.line if kernel.file is not None else None
    if len(defined) == 1 and (line is None or not defined[0][1].first_line <= line <= defined[0][1].last_line):
        path, line = defined[0][0], defined[0][1].last_line
    if line is None:
        raise NotApplicable("it is not known where the kernel is defined")
    return dataclasses.replace(problem.task.evidence[0], file=Path(path), line=line)


def kernel_of(place: Place) -> Node:
    """The one kernel around the blamed line; its first instantiation stands for all."""
    kernels = [
        function for function in place.functions if any(child.kind == "CUDAGlobalAttr" for child in function.children)
    ]
    if not kernels:
        raise NotApplicable(f"{place} is in a device function: its callers decide which thread does what")
    return kernels[0]


def check_relabelling(problem: Problem, place: Place, kernel: Node, of_blocks: bool = False) -> None:
    """Raise `NotApplicable` where anything depends on the grouping of threads into waves.

    With `of_blocks` also where a function that the kernel calls may see how threads are grouped into blocks.
    """
    source = problem.source(place.path)
    whole = body(kernel)
    text = source.code(whole.start_offset, whole.end_offset)
    if match := _WAVE_OPERATIONS.search(text):
        raise NotApplicable(f"{place}: the kernel depends on the order of threads ({match.group()})")
    seen: set[str] = set()
    pending = [callee_name(node) for node in kernel.everything() if node.kind == "CallExpr"]
    pending += [
        node.reference.name if node.reference else ""
        for node in kernel.everything()
        if node.kind == "DeclRefExpr" and node.reference is not None and "Method" in node.reference.kind
    ]
    pending += [node.name for node in kernel.everything() if node.kind == "MemberExpr" and "(" in node.type]
    while pending:
        name = pending.pop()
        if not name or name in seen:
            continue
        seen.add(name)
        for other in problem.task.sources.values():
            if name not in other:
                continue
            data = outline.encoded(other)
            for region in outline.functions(other):
                if region.name != name or region.is_kernel:
                    continue
                called = without_comments(data[region.start : region.end].decode("utf-8", "replace"))
                if re.search("[tT]hreadIdx", called):
                    raise NotApplicable(f"{place}: {name}, which the kernel calls, reads the thread's place itself")
                if found := _WAVE_OPERATIONS.search(called):
                    told = f"{name}, which the kernel calls, depends on the order of threads ({found.group()})"
                    raise NotApplicable(f"{place}: {told}")
                if of_blocks and (found := _OF_A_BLOCK.search(called)):
                    raise NotApplicable(f"{place}: {name}, which the kernel calls, uses {found.group()}")
                pending += re.findall(r"\b([A-Za-z_]\w*)\s*(?:<[^;<>]*>)?\(", called)


def coordinate_reads(place: Place, prefix: str) -> list[Node]:
    """Every read of a coordinate, in all instantiations. Raises where a macro reads one."""
    nodes = [node for function in place.functions for node in function.everything()]
    reads = [node for node in nodes if node.kind == "Coordinate" and node.name.startswith(prefix)]
    if any(node.in_macro and not node.is_whole_macro for node in reads):
        raise NotApplicable(f"{place}: {prefix} is read by a macro or a function that the kernel calls")
    whole = [
        node
        for node in nodes
        if node.kind == "DeclRefExpr" and node.reference is not None and node.reference.name == prefix
    ]
    if whole:
        raise NotApplicable(f"{place}: {prefix} is used as a whole on line {whole[0].line}")
    return reads


def spelling(source: Source, place: Place, node: Node) -> str:
    """How the program writes a coordinate: by its own name, or by that of a macro that stands for it alone."""
    written = source.slice(node.start_offset, node.end_offset)
    following = source.slice(node.end_offset, node.end_offset + 1)
    if node.is_whole_macro and re.fullmatch(r"[A-Za-z_]\w*", written) and following != "(":
        return written
    if re.sub(r"\s", "", written) != node.name:
        raise NotApplicable(f"{place}: {node.name} is written as {written}")
    return written


def renumbering(number: str, x: str, y: str) -> list[str]:
    """Declarations of the coordinates with y running fastest; square blocks are spared the divisions."""
    return [
        f"const unsigned int {number} = threadIdx.y * blockDim.x + threadIdx.x;",
        f"const unsigned int {x} = blockDim.x == blockDim.y ? threadIdx.y : {number} / blockDim.y;",
        f"const unsigned int {y} = blockDim.x == blockDim.y ? threadIdx.x : {number} % blockDim.y;",
    ]


def _pointers_into(kernel: Node, arrays: set[str]) -> Iterator[str]:
    """Local pointers that are made from one of the arrays."""
    for node in kernel.walk():
        initial = initializer(node) if node.kind == "VarDecl" and pointee(node.canonical) is not None else None
        parts = initial.walk() if initial is not None else ()
        if any(part.reference is not None and part.reference.id in arrays for part in parts):
            yield node.id


def blocks_to_follow(geometry: Geometry) -> tuple[Thread, Thread]:
    """Numbers of blocks: the first, and one in the middle, as a kernel may leave the edges of its grid alone."""
    width, height, depth = geometry.grid
    return (0, 0, 0), (width // 2, height // 2, depth // 2)


class Traffic:
    """Memory sectors that one wave touches, summed over the accesses that can be followed."""

    def __init__(
        self, problem: Problem, kernel: Node, constant: Callable[[str], int | None], stores: bool = False
    ) -> None:
        self._stores = stores  # count what is assigned only
        self._kernel = kernel
        self._wave = problem.task.device.wave_size
        self._constant = constant
        self._shared = {node.id for node in kernel.walk() if node.kind == "VarDecl" and is_shared(node)}
        self._shared |= set(_pointers_into(kernel, self._shared))

    def sectors(
        self, geometry: Geometry, renumber: Callable[[Thread], Thread], number: Thread = (0, 0, 0)
    ) -> dict[int, int]:
        """Line of an access to global memory → sectors of a block's first wave whose threads are renumbered."""
        launch = Launch(geometry.block, geometry.grid, self._constant, TYPICAL_EXTENT, number)
        threads = [renumber(thread) for thread in launch.threads(self._wave)]
        found: dict[int, int] = {}
        for request in requests(body(self._kernel), launch, self._wave, threads):
            named = array_of(request.access)
            root = named.bare() if named.kind == "DeclRefExpr" else owner_of(named)
            if root is None or root.reference is None or root.reference.id in self._shared:
                continue
            if pointee(named.canonical) is None or (self._stores and not is_stored(request.access)):
                continue
            size = ELEMENT_BYTES.get(request.access.canonical.replace("const ", "").replace("volatile ", ""), 4)
            touched = {lane[-1] * size // SECTOR_BYTES for lane in request.indices if lane is not None}
            found[request.access.line] = found.get(request.access.line, 0) + len(touched)
        return found
