"""Weak topological order: checked against its definition on random graphs."""

from __future__ import annotations

import random

from intelliperf.emulator.ir.order import nested_order, weak_topological_order


def reachable(successors: list[list[int]], start: int) -> set[int]:
    seen, pending = {start}, [start]
    while pending:
        for target in successors[pending.pop()]:
            if target not in seen:
                seen.add(target)
                pending.append(target)
    return seen


def test_a_diamond_puts_the_join_last() -> None:
    order = weak_topological_order([[1, 2], [3], [3], []])
    assert order[0] == 0
    assert order[-1] == 3


def test_a_loop_body_comes_before_what_follows_the_loop() -> None:
    # 0 → 1 ⇄ 2, 1 → 3
    assert weak_topological_order([[1], [3, 2], [1], []]) == [0, 1, 2, 3]


def test_nested_loops_are_contiguous() -> None:
    # 0 → 1 → 2 ⇄ 3, 2 → 4 → 1, 1 → 5
    order = weak_topological_order([[1], [5, 2], [4, 3], [2], [1], []])
    assert order == [0, 1, 2, 3, 4, 5]


def test_a_vertex_knows_the_heads_of_the_loops_round_it() -> None:
    # 0 → 1 → 2 ⇄ 3, 2 → 4 → 1, 1 → 5 ⟲
    _, heads = nested_order([[1], [5, 2], [4, 3], [2], [1], [5]])
    assert heads == [(), (1,), (1, 2), (1, 2), (1,), ()]


def test_random_graphs_yield_permutations_that_respect_forward_edges() -> None:
    generator = random.Random(7)
    for _ in range(200):
        count = generator.randint(1, 24)
        successors = [[generator.randrange(count) for _ in range(generator.randint(0, 3))] for _ in range(count)]
        order = weak_topological_order(successors)
        assert sorted(order) == list(range(count))
        position = {vertex: index for index, vertex in enumerate(order)}
        for vertex in reachable(successors, 0):
            for target in successors[vertex]:
                backward = position[target] <= position[vertex]
                assert not backward or vertex in reachable(successors, target)


def test_a_chain_of_fifty_thousand_blocks_needs_no_recursion() -> None:
    count = 50_000
    assert weak_topological_order([[i + 1] for i in range(count - 1)] + [[0]]) == list(range(count))
