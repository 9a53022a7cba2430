"""The rule-based rewriter: free, offline, and silent where it cannot prove."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from intelliperf.codegen.rules.block_reduce_atomics import BlockReduceAtomics
from intelliperf.codegen.rules.block_scan import BlockScan
from intelliperf.codegen.rules.bound_block_size import BoundBlockSize
from intelliperf.codegen.rules.contiguous_reduction import ContiguousReduction
from intelliperf.codegen.rules.fewer_sums import FewerSums
from intelliperf.codegen.rules.fewer_tables import FewerTables
from intelliperf.codegen.rules.interchange_index import InterchangeIndex
from intelliperf.codegen.rules.interleave_chunks import InterleaveChunks
from intelliperf.codegen.rules.keep_in_register import KeepInRegister
from intelliperf.codegen.rules.pad_lds import PadLds
from intelliperf.codegen.rules.privatize_atomics import PrivatizeAtomics
from intelliperf.codegen.rules.privatize_fields import PrivatizeFields
from intelliperf.codegen.rules.problem import NotApplicable, Problem, Rule, state_of, unit_of
from intelliperf.codegen.rules.renumber_grid import RenumberGrid
from intelliperf.codegen.rules.restrict_pointers import RestrictPointers
from intelliperf.codegen.rules.row_per_wave import RowPerWave
from intelliperf.codegen.rules.smaller_blocks import SmallerBlocks
from intelliperf.codegen.rules.spread_over_grid import SpreadOverGrid
from intelliperf.codegen.rules.stage_records import StageRecords
from intelliperf.codegen.rules.stage_rows import StageRows
from intelliperf.codegen.rules.tile_permutation import TilePermutation
from intelliperf.codegen.rules.transpose_through_lds import TransposeThroughLds
from intelliperf.codegen.rules.tree_reduction import TreeReduction
from intelliperf.codegen.rules.triton import PREFIX
from intelliperf.codegen.rules.triton_block_loop import TritonBlockLoop
from intelliperf.codegen.rules.triton_column_tile import TritonColumnTile
from intelliperf.codegen.rules.triton_histogram import TritonHistogram
from intelliperf.codegen.rules.triton_hoist_atomic import TritonHoistAtomic
from intelliperf.codegen.rules.triton_interchange import TritonInterchange
from intelliperf.codegen.rules.triton_join_pairs import TritonJoinPairs
from intelliperf.codegen.rules.triton_lane_order import TritonLaneOrder
from intelliperf.codegen.rules.triton_launch import TritonLargerBlock, TritonStages, TritonTiles, TritonWarps
from intelliperf.codegen.rules.triton_loop_lanes import TritonLoopLanes
from intelliperf.codegen.rules.triton_program_loop import TritonProgramLoop
from intelliperf.codegen.rules.triton_reduce_lanes import TritonReduceLanes
from intelliperf.codegen.rules.triton_renumber_lanes import TritonRenumberLanes
from intelliperf.codegen.rules.triton_reuse_load import TritonReuseLoad
from intelliperf.codegen.rules.triton_smaller_block import TritonSmallerBlock
from intelliperf.codegen.rules.triton_split_pairs import TritonSplitPairs
from intelliperf.codegen.rules.triton_store_layout import TritonStoreLayout
from intelliperf.codegen.rules.triton_uniform_rows import TritonUniformRows
from intelliperf.codegen.rules.triton_unit_stride import TritonUnitStride
from intelliperf.codegen.rules.turns_over_grid import TurnsOverGrid
from intelliperf.codegen.rules.wave_aggregate_atomics import WaveAggregateAtomics
from intelliperf.codegen.rules.wave_aggregate_swaps import WaveAggregateSwaps
from intelliperf.codegen.rules.wave_for_thread import WaveForThread
from intelliperf.codegen.rules.whole_waves import WholeWaves
from intelliperf.codegen.syntax.clang import ClangParser
from intelliperf.project.pythonsource import SUFFIX
from intelliperf.protocols import Proposal, Task
from intelliperf.records import Attempt, Candidate, Declined, Origin, OriginKind

RULES: tuple[Rule, ...] = (
    BlockReduceAtomics(),
    PrivatizeAtomics(),
    PrivatizeFields(),
    FewerTables(),
    FewerSums(),
    WaveAggregateAtomics(),
    WaveAggregateSwaps(),
    ContiguousReduction(),
    TreeReduction(),
    BlockScan(),
    PadLds(),
    SpreadOverGrid(),
    RowPerWave(),
    TurnsOverGrid(),
    RowPerWave("split_columns", columns=True),
    WaveForThread(),
    InterleaveChunks(),
    InterchangeIndex(),
    RenumberGrid(),
    StageRows(),
    StageRecords(),
    TransposeThroughLds(),
    TilePermutation(),
    KeepInRegister(),
    RestrictPointers(),
    BoundBlockSize(),
    WholeWaves(),
    SmallerBlocks(),
    TritonReduceLanes(),
    TritonHoistAtomic(),
    TritonBlockLoop(),
    TritonProgramLoop(),
    TritonHistogram(),
    TritonUniformRows(),
    TritonLaneOrder(),
    TritonLoopLanes(),
    TritonInterchange(),
    TritonRenumberLanes(),
    TritonColumnTile(),
    TritonSplitPairs(),
    TritonJoinPairs(),
    TritonUnitStride(),
    TritonStoreLayout(),
    TritonReuseLoad(),
    TritonWarps(),
    TritonSmallerBlock(),
    TritonLargerBlock(),
    TritonTiles(),
    TritonStages(),
)


class RuleRewriter:
    """Proposes each applicable rule once, in the task's order, from the current best sources.

    An accepted candidate of whatever origin makes new sources, for which every rule is asked again.
    """

    name = "rules"

    def __init__(self, parser: ClangParser, rules: Sequence[Rule] = RULES) -> None:
        self._parser = parser
        self._rules = {rule.name: rule for rule in rules}

    def read_ahead(self, sources: Mapping[str, str], arguments: Mapping[str, Sequence[str]], project: Path) -> None:
        """Parse what `propose` will want, as far as that can be known before a finding: the only unit of a project."""
        if len(arguments) == 1:
            (path,) = arguments
            if path.endswith(SUFFIX):
                return
            self._parser.read_ahead(unit_of(path, arguments[path], project), state_of(sources))

    def propose(self, task: Task, attempts: Sequence[Attempt]) -> Proposal | None:
        tried = {name for attempt in _on_these_sources(attempts) if (name := _rule_of(attempt)) is not None}
        python = any(evidence.file.suffix == SUFFIX for evidence in task.evidence)
        for name in task.rules:
            if name not in tried and name in self._rules and name.startswith(PREFIX) == python:
                return self._apply(self._rules[name], task)
        return None

    def _apply(self, rule: Rule, task: Task) -> Proposal:
        origin = Origin(OriginKind.RULE, rule.name)
        try:
            rewrite = rule.rewrite(Problem(task, self._parser))
        except NotApplicable as reason:
            return Proposal(None, Declined(origin, f"{reason}."))
        if not rewrite.edits():
            return Proposal(None, Declined(origin, "The source already has the form that this rule would give it."))
        return Proposal(Candidate(rewrite.edits(), rewrite.rationale, origin, rewrite.declares), None)


def _on_these_sources(attempts: Sequence[Attempt]) -> Sequence[Attempt]:
    accepted = [n for n, attempt in enumerate(attempts) if attempt.verdict is not None and attempt.verdict.accepted]
    return attempts[accepted[-1] + 1 :] if accepted else attempts


def _rule_of(attempt: Attempt) -> str | None:
    origin = attempt.candidate.origin if attempt.candidate else attempt.declined.origin if attempt.declined else None
    return origin.name if origin is not None and origin.kind is OriginKind.RULE else None
