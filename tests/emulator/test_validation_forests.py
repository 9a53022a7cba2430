"""Forests of labels that threads join together: no two runs have one alike, and its roots are the same in all."""

from __future__ import annotations

from pathlib import Path

import pytest
from patchbench import Bench

from intelliperf.records import Outcome

SOURCE = (Path(__file__).parent / "programs" / "components.hip").read_text()
LOOP = ("  bool finished;\n  do {\n", "  } while (!finished);\n")
MINIMUM = """    if (a < b) {
      int old = atomicMin(&parent[b], a);
      finished = old == b;
      b = old;
    } else if (b < a) {
      int old = atomicMin(&parent[a], b);
      finished = old == a;
      a = old;
    } else {
      finished = true;
    }
"""
SWAPPED = "    finished = a == b || atomicCAS(&parent[max(a, b)], max(a, b), min(a, b)) == max(a, b);\n"


@pytest.mark.slow
def test_a_lost_edge_shows_in_what_another_kernel_makes_of_the_forest(tmp_path: Path) -> None:
    bench = Bench(tmp_path, SOURCE, "app.hip", "merge_labels")
    once = bench.verdict((LOOP[0], "  bool finished;\n  {\n"), (LOOP[1], "  }\n"))
    assert once.outcome is Outcome.RACE, once.detail
    assert "of flatten" in once.detail


@pytest.mark.slow
def test_another_way_to_join_trees_is_no_new_race(tmp_path: Path) -> None:
    bench = Bench(tmp_path, SOURCE, "app.hip", "merge_labels")
    swapped = bench.verdict((MINIMUM, SWAPPED))
    assert swapped.outcome in (Outcome.ACCEPTED, Outcome.NOT_FASTER), swapped.detail
