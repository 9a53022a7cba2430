"""Which compilations of a build the edit gate reads."""

from __future__ import annotations

import json
from pathlib import Path

from intelliperf.validation.edits.units import logged_units


def test_trials_of_a_build_system_are_left_out_and_nothing_that_a_patch_reaches(tmp_path: Path) -> None:
    copy, elsewhere = tmp_path / "copy", tmp_path / "cmake"
    for directory in (copy / "src", elsewhere):
        directory.mkdir(parents=True)
    (copy / "src" / "app.cu").write_text("")
    (elsewhere / "abi.cu").write_text("")
    gone = str(copy / "build" / "trial")
    compilations = {
        (str(copy / "src"), "app.cu"): "kept",
        (gone, str(copy / "src" / "app.cu")): "kept: where it was compiled is gone, and a patch reaches it",
        (gone, "trial.cu"): "its source is gone",
        (gone, str(elsewhere / "abi.cu")): "a source of the build system's own",
    }
    log = copy / "compilations"
    rows = ({"directory": d, "source": s, "language": "cuda", "reader_flags": []} for d, s in compilations)
    log.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    found = {(str(unit.directory), str(unit.source)) for unit in logged_units(log)}
    assert found == {(str(copy / "src"), str(copy / "src" / "app.cu")), (gone, str(copy / "src" / "app.cu"))}
