"""Scratch copies: what is copied, what is shared, what is never touched."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from pathlib import Path

import pytest

from intelliperf.project.diff import unified_diff
from intelliperf.project.scratch import Workspace, read_text
from intelliperf.records import Application, FileEdit, content_hash


def application(project: Path, *command: str) -> Application:
    return Application(command or ("./app",), project, project, (("make",),))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "höme dir" / "my app"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.hip").write_bytes(b"line one\r\n\xff\xfe latin\r\n")
    (root / "Makefile").write_text("app: src/a.hip ../shared/x.h\n\tcp src/a.hip app; echo built >> log\n")
    (root.parent / "shared").mkdir()
    (root.parent / "shared" / "x.h").write_text("int x;\n")
    (root / "app").write_text("old binary")
    (root / "inner").symlink_to("src")
    (root / "outer").symlink_to("../shared/x.h")
    (root / ".intelliperf" / "runs").mkdir(parents=True)
    (root / "build").mkdir()
    (root / "build" / "CMakeCache.txt").write_text("")
    return root


def test_a_copy_keeps_links_and_leaves_out_run_directories_and_configured_builds(project: Path, tmp_path: Path) -> None:
    space = Workspace.create(application(project), tmp_path / "w")
    assert (space.tree / "inner").readlink() == Path("src")
    assert (space.tree / "outer").read_text() == "int x;\n"
    assert not (space.tree / ".intelliperf").exists()
    assert not (space.tree / "build").exists()


def test_what_is_no_file_is_left_out_wherever_it_lies(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    for place in (project / "src", project / ".git"):
        os.mkfifo(place / "fifo")
        with socket.socket(socket.AF_UNIX) as end:
            monkeypatch.chdir(place)  # the name of a socket is short
            end.bind("socket")
    (project / "loop").symlink_to("loop")
    (project / "dangling").symlink_to("nowhere")
    (project / "self").symlink_to(".")
    space = Workspace.create(application(project), tmp_path / "w")
    assert sorted(path.name for path in (space.tree / "src").iterdir()) == ["a.hip"]
    assert (space.tree / ".git" / "HEAD").is_file() and not (space.tree / ".git" / "fifo").exists()
    assert (space.tree / "loop").is_symlink() and (space.tree / "dangling").is_symlink()


def test_run_directories_under_any_name_are_left_out_even_those_being_written(project: Path) -> None:
    run = project / "output" / "one run"
    run.mkdir(parents=True)
    (run / "lock").touch()
    (run / "events.jsonl").touch()
    space = Workspace.create(application(project), run / "work")
    assert (space.tree / "src" / "a.hip").is_file()
    assert not (space.tree / "output" / "one run").exists()


def test_a_large_file_keeps_its_holes(project: Path, tmp_path: Path) -> None:
    with (project / "data").open("wb") as data:
        data.write(b"begin")
        data.seek(1 << 30)
        data.write(b"middle")
        data.truncate(2 << 30)
    space = Workspace.create(application(project), tmp_path / "w")
    copy = space.tree / "data"
    assert copy.stat().st_size == 2 << 30 and copy.stat().st_blocks * 512 < 1 << 20
    with copy.open("rb") as data:
        assert data.read(5) == b"begin"
        data.seek(1 << 30)
        assert data.read(7) == b"middle\0"


def test_a_cache_of_compilers_serves_no_object_of_another_build(project: Path, tmp_path: Path) -> None:
    build = ("/bin/sh", "-c", 'test "$CCACHE_DISABLE$SCCACHE_RECACHE" = 11')
    variables = (("CCACHE_DIR", str(tmp_path)),)
    space = Workspace.create(Application(("./app",), project, project, (build,), variables), tmp_path / "w")
    assert space.build({}, 20, tmp_path / "logs").ok


def test_a_failing_build_names_submodules_without_files(project: Path, tmp_path: Path) -> None:
    (project / ".git").mkdir()
    (project / ".gitmodules").write_text(
        '[submodule "a"]\n\tpath = lib/a\n\turl = x\n[submodule "b"]\n  path = lib/b\n'
    )
    (project / "lib" / "a").mkdir(parents=True)
    (project / "lib" / "b").mkdir()
    (project / "lib" / "b" / "b.h").touch()
    build = ("/bin/sh", "-c", "echo \"a.cu:1:10: fatal error: 'a.h' file not found\" >&2; exit 1")
    space = Workspace.create(Application(("./app",), project, project, (build,)), tmp_path / "w")
    told = space.build({}, 20, tmp_path / "logs").complaint()
    assert "'a.h' file not found" in told
    assert told.endswith("submodules without files: lib/a; run git submodule update --init --recursive")


def test_a_build_that_names_the_project_absolutely_writes_to_the_copy(project: Path, tmp_path: Path) -> None:
    build = ("/bin/sh", "-c", f"echo new > '{project}/app' && echo '{project}-other' > named")
    space = Workspace.create(Application(("./app",), project, project, (build,)), tmp_path / "w")
    assert space.build({}, 20, tmp_path / "logs").ok
    assert (space.tree / "app").read_text() == "new\n"
    assert (space.tree / "named").read_text() == f"{project}-other\n"
    assert (project / "app").read_text() == "old binary"


def test_a_copy_of_a_copy_that_names_the_project_absolutely_is_built_in_itself(project: Path, tmp_path: Path) -> None:
    command = ("sh", "-c", f'cp "{project}/src/a.hip" "{project}/made"')
    original = Application(("./app",), project, project, (command,))
    first = Workspace.create(original, tmp_path / "first")
    second = Workspace.create(first.application, tmp_path / "second")
    assert second.build({}, 60.0, tmp_path / "logs").ok
    assert (second.tree / "made").exists() and not (first.tree / "made").exists() and not (project / "made").exists()


def test_a_read_only_source_can_be_edited_in_the_copy_and_keeps_its_mode(project: Path, tmp_path: Path) -> None:
    source = project / "src" / "a.hip"
    source.chmod(0o444)
    space = Workspace.create(application(project), tmp_path / "w")
    text = space.text("src/a.hip")
    space.apply([FileEdit("src/a.hip", content_hash(text), text.replace("one", "two"))])
    assert (space.tree / "src" / "a.hip").read_bytes() == b"line two\r\n\xff\xfe latin\r\n"
    assert source.read_bytes() == b"line one\r\n\xff\xfe latin\r\n"


def test_an_edit_made_for_another_text_is_refused(project: Path, tmp_path: Path) -> None:
    space = Workspace.create(application(project), tmp_path / "w")
    with pytest.raises(ValueError, match="not the text"):
        space.apply([FileEdit("src/a.hip", content_hash("something else"), "x")])


def test_make_rebuilds_what_an_earlier_compiler_left_behind(project: Path, tmp_path: Path) -> None:
    future = time.time() - 10
    os.utime(project / "app", (future, future))
    space = Workspace.create(application(project), tmp_path / "w")
    built = space.build({}, 20, tmp_path / "logs")
    assert built.ok, built.errors
    assert (space.tree / "log").read_text() == "built\n"
    assert (space.tree / "app").read_bytes().startswith(b"line one")
    assert not (project / "log").exists()


def test_absolute_arguments_into_the_project_follow_the_copy(project: Path, tmp_path: Path) -> None:
    space = Workspace.create(application(project, str(project / "app"), "--data=3", "a b"), tmp_path / "w")
    assert space.application.command == (str(space.tree / "app"), "--data=3", "a b")


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("final", [True, False])
def test_git_applies_the_patch_in_a_repository_in_a_subdirectory_and_without_one(
    tmp_path: Path, ending: str, final: bool
) -> None:
    name = "söurce dir/a b.hip"
    old = ending.join(["one", "two", "three"]) + (ending if final else "")
    new = old.replace("two", "2")
    patch = unified_diff({name: old}, [FileEdit(name, content_hash(old), new)])
    (tmp_path / "p.diff").write_bytes(patch.encode())
    for directory in (tmp_path / "plain", tmp_path / "repo" / "sub"):
        (directory / "söurce dir").mkdir(parents=True)
        (directory / name).write_bytes(old.encode())
        if "repo" in directory.parts:
            subprocess.run(["git", "init", "-q", str(directory.parent)], check=True)
        subprocess.run(["git", "apply", str(tmp_path / "p.diff")], cwd=directory, check=True)
        assert read_text(directory / name) == new


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A program among others, with what they share above and beside it."""
    root = tmp_path / "suite"
    files = {
        "one/Makefile": "include ../rules.mk\napp: src/a.hip\n\tcp src/a.hip app && cp app ../bin/app\n",
        "one/src/a.hip": '#include "../../common/a.h"\n#include "../../top.h"\n',
        "rules.mk": "include ../common/more.mk\nFLAGS = -I../include -I..\n",
        "common/more.mk": "DATA = ../data/numbers\n",
        "common/a.h": '#include "b.h"\n#include "../utils/c.h"\n',
        "common/b.h": "",
        "utils/c.h": '#include "deep/d.h"\n',
        "utils/deep/d.h": "",
        "include/e.h": "",
        "top.h": '#include "next.h"\n',
        "next.h": "",
        "data/numbers": "1 2 3",
        "sets/small": "4",
        "sets2/large": "5",
        "one/run": "./app ../sets2/large\n",
        "bin/app": "the user's",
        "other/f.h": "",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_a_copy_holds_what_its_files_reach_outside_and_what_that_reaches(suite: Path, tmp_path: Path) -> None:
    space = Workspace.create(application(suite / "one"), tmp_path / "w")
    beside = space.tree.parent
    for name in ("rules.mk", "common/b.h", "utils/deep/d.h", "include/e.h", "next.h", "data/numbers", "other/f.h"):
        assert (beside / name).read_bytes() == (suite / name).read_bytes()
    assert space.outside(beside / "common" / "a.h") == suite / "common" / "a.h"


def test_a_build_that_writes_beside_the_project_leaves_what_is_the_users(suite: Path, tmp_path: Path) -> None:
    space = Workspace.create(application(suite / "one"), tmp_path / "w")
    built = space.build({}, 60, tmp_path / "logs")
    assert built.ok, built.errors
    assert (space.tree.parent / "bin" / "app").read_text().startswith("#include")
    assert (suite / "bin" / "app").read_text() == "the user's"


def test_what_is_too_large_to_copy_is_linked(suite: Path, tmp_path: Path) -> None:
    with (suite / "data" / "numbers").open("ab") as file:
        file.truncate(65 << 20)
    space = Workspace.create(application(suite / "one"), tmp_path / "w")
    assert (space.tree.parent / "data").is_symlink()
    assert not (space.tree.parent / "common").is_symlink()


def test_what_our_headers_say_comes_before_other_errors(project: Path, tmp_path: Path) -> None:
    lines = "".join(f"\t@echo 'a.hip:{n}: error: no member' >&2\n" for n in range(20))
    ours = "\t@echo 'x.h:1: error: static assertion failed: intelliperf: textures are not supported' >&2; false\n"
    (project / "Makefile").write_text("fails:\n" + lines + ours)
    built = Workspace.create(application(project), tmp_path / "w").build({}, 60, tmp_path / "logs")
    assert "intelliperf: textures" in built.errors[0]


def test_an_error_of_cmake_is_told_with_what_it_is_about(project: Path, tmp_path: Path) -> None:
    said = (
        'CMake Error at CMakeLists.txt:40 (target_link_libraries):\n  Target "app" links to:\n\n    CUDA::cusparse\n\n'
        "  but the target was not found.\n\n\nCMake Generate step failed.\n"
    )
    (project / "said").write_text(said)
    (project / "Makefile").write_text("fails:\n\t@cat said >&2; false\n")
    built = Workspace.create(application(project), tmp_path / "w").build({}, 60, tmp_path / "logs")
    told = (
        'CMake Error at CMakeLists.txt:40 (target_link_libraries): Target "app" links to: CUDA::cusparse but the target'
    )
    assert built.errors[0].startswith(told)


def test_what_a_compiler_said_that_cmake_tried_comes_first(project: Path, tmp_path: Path) -> None:
    said = (
        'CMake Error at CMakeTestCXXCompiler.cmake:63 (message):\n  The C++ compiler\n\n    "hipcc"\n\n'
        "  is not able to compile a simple test program.\n\n    hipcc: error: a.cxx cannot be compiled for h100\n\n"
    )
    (project / "said").write_text(said)
    (project / "Makefile").write_text("fails:\n\t@cat said >&2; false\n")
    built = Workspace.create(application(project), tmp_path / "w").build({}, 60, tmp_path / "logs")
    assert built.errors[0] == "hipcc: error: a.cxx cannot be compiled for h100"
    assert built.errors[1].startswith("CMake Error at CMakeTestCXXCompiler.cmake:63")


def test_what_arguments_and_scripts_name_outside_comes_along(suite: Path, tmp_path: Path) -> None:
    command = application(suite / "one", "sh", "run", "--input=../sets/small")
    beside = Workspace.create(command, tmp_path / "w").tree.parent
    assert (beside / "sets" / "small").read_text() == "4"
    assert (beside / "sets2" / "large").read_text() == "5"


def test_the_linkers_own_words_come_before_what_follows_from_them(project: Path, tmp_path: Path) -> None:
    (project / "Makefile").write_text(
        "app:\n\t@echo 'collect2: error: ld returned 1 exit status' >&2; "
        "echo '/usr/bin/ld: cannot find -lnone: No such file' >&2; false\n"
    )
    (project / "app").unlink()
    built = Workspace.create(application(project), tmp_path / "w").build({}, 60, tmp_path / "logs")
    assert built.errors[0] == "/usr/bin/ld: cannot find -lnone: No such file"
