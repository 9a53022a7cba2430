"""The environment in which a Python program finds a GPU, and the copies that it runs in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from intelliperf.errors import UsageError
from intelliperf.project.scratch import Workspace
from intelliperf.project.versions import JIT_LOG, Version, sources
from intelliperf.python import environment
from intelliperf.records import Application

RUNTIME = Path("/nowhere/libruntime.so")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(environment, "torch_memory_library", lambda: Path("/nowhere/libmemory.so"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "project" / "src"))
    place = tmp_path / "project"
    (place / "src").mkdir(parents=True)
    (place / "app.py").write_text("import helper\n")
    (place / "src" / "helper.py").write_text("import triton\n")
    return place


def application(project: Path) -> Application:
    return Application((sys.executable, "app.py"), project, project)


def test_each_version_compiles_into_a_cache_of_its_own_and_imports_from_its_own_copy(
    project: Path, tmp_path: Path
) -> None:
    given = environment.presented(application(project), None, RUNTIME)
    trees = []
    for name in ("a", "b"):
        workspace = Workspace.create(given, tmp_path / name)
        variables = dict(workspace.application.environment)
        for variable in ("TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "INTELLIPERF_JIT_LOG"):
            assert variables[variable].startswith(str(workspace.tree))
        assert str(workspace.tree / "src") in variables["PYTHONPATH"].split(os.pathsep)
        assert str(project / "src") not in variables["PYTHONPATH"].split(os.pathsep)
        trees.append(variables["TRITON_CACHE_DIR"])
    assert trees[0] != trees[1]


def test_a_chip_whose_code_is_not_executed_is_refused_by_name(project: Path) -> None:
    with pytest.raises(UsageError, match="mi250x.*not for --target h100"):
        environment.presented(application(project), "h100", RUNTIME)


def test_a_virtual_environment_is_linked_and_not_copied(project: Path, tmp_path: Path) -> None:
    (project / "env").mkdir()
    (project / "env" / "pyvenv.cfg").touch()
    workspace = Workspace.create(application(project), tmp_path / "copy")
    assert (workspace.tree / "env").is_symlink()


def test_what_was_compiled_at_run_time_is_among_the_sources(project: Path, tmp_path: Path) -> None:
    workspace = Workspace.create(application(project), tmp_path / "copy")
    version = Version(workspace, (), {})
    assert "src/helper.py" not in sources(version, ())
    log = workspace.tree / JIT_LOG
    log.parent.mkdir(parents=True)
    entry = {"file": str(workspace.tree / "src" / "helper.py"), "launched_from": f"{workspace.tree}/app.py:1"}
    log.write_text(json.dumps(entry) + "\n")
    assert set(sources(version, ())) == {"app.py", "src/helper.py"}


def test_the_programs_own_sitecustomize_runs_and_an_editable_install_leads_into_the_copy(
    project: Path, tmp_path: Path
) -> None:
    other = tmp_path / "site"
    other.mkdir()
    (other / "sitecustomize.py").write_text("print('mine')\n")
    (other / "editable.py").write_text("")
    given = environment.presented(application(project), None, RUNTIME)
    workspace = Workspace.create(given, tmp_path / "copy")
    variables = dict(workspace.application.environment)
    # What a .pth file of an editable install has put on the path by the time that sitecustomize runs.
    (other / "sitecustomize.py").write_text(f"import sys; sys.path.append({str(project / 'src')!r}); print('mine')\n")
    first = tmp_path / "first"
    first.mkdir()
    (first / "sitecustomize.py").write_text(
        f"import sys, runpy; sys.path.append({str(project / 'src')!r}); runpy.run_path({str(environment.SITE)!r} "
        "+ '/sitecustomize.py')\n"
    )
    path = os.pathsep.join([str(first), str(environment.SITE), str(other)])
    seen = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.path, sep='\\n')"],
        env={**os.environ, **variables, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert str(workspace.tree / "src") in seen
