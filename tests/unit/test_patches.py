"""Changes in every form that engineers give them, made into edits or refused with one line."""

from __future__ import annotations

import base64
import shutil
import subprocess
from pathlib import Path

import pytest

from intelliperf.errors import UsageError
from intelliperf.project.patches import Given, given_change
from intelliperf.records import NO_FILE, Application

KERNEL = "__global__ void k(float* a) {\n  a[0] = 1;\n  a[1] = 2;\n}\n"
NEW = KERNEL.replace("= 1;", "= 3;")
HEADER = "#define N 4\n#define M 5\n"


def git(directory: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false", "-c", "core.autocrlf=false")
    done = subprocess.run(["git", *who, *words], cwd=directory, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the project in a subdirectory and one commit above the first."""
    top = tmp_path_factory.mktemp("repository")
    project = top / "tools" / "app"
    project.mkdir(parents=True)
    (project / "k.cu").write_text(KERNEL)
    (project / "n.h").write_text(HEADER)
    git(top, "init", "-q")
    git(top, "add", "-A")
    git(top, "commit", "-qm", "first")
    (project / "k.cu").write_text(NEW)
    (project / "n.h").write_text(HEADER.replace("4", "8"))
    git(top, "commit", "-qam", "Make it faster\n\nrename from here to there\n")
    return project


@pytest.fixture
def original(repository: Path, tmp_path: Path) -> Path:
    """The project as the first commit has it, outside of the repository."""
    project = tmp_path / "original"
    shutil.copytree(repository, project)
    (project / "k.cu").write_text(KERNEL)
    (project / "n.h").write_text(HEADER)
    return project


def given(project: Path, what: str | Path, root: Path) -> Given:
    return given_change(str(what), Application(("./app",), project, project), root)


def texts(change: Given) -> dict[str, str]:
    return {edit.path: edit.text for edit in change.edits}


FORMS = {
    "git diff": ("diff", "HEAD~1", "HEAD"),
    "from the project's directory": ("diff", "--relative", "HEAD~1", "HEAD"),
    "without prefixes": ("diff", "--no-prefix", "HEAD~1", "HEAD"),
    "without context": ("diff", "-U0", "HEAD~1", "HEAD"),
    "a mail": ("format-patch", "--stdout", "HEAD~1"),
}


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("form", FORMS)
def test_a_patch_of_several_files_applies_in_every_form(repository, original, tmp_path, form, ends):
    text = git(repository, *FORMS[form])
    patch = tmp_path / "given.patch"
    patch.write_bytes(text.replace("\n", ends).encode())
    assert texts(given(original, patch, tmp_path / "work")) == {"k.cu": NEW, "n.h": HEADER.replace("4", "8")}


def test_an_encoded_mail_is_decoded(repository, original, tmp_path):
    mail = git(repository, "format-patch", "--stdout", "HEAD~1")
    head, _, body = mail.partition("\n\n")
    encoded = f"{head}\nMIME-Version: 1.0\nContent-Transfer-Encoding: base64\n\n"
    patch = tmp_path / "given.mbox"
    patch.write_text(encoded + base64.encodebytes(body.encode()).decode())
    assert texts(given(original, patch, tmp_path / "work"))["k.cu"] == NEW


def test_a_directory_of_patches_is_applied_in_order(repository, original, tmp_path):
    series = tmp_path / "series"
    git(repository, "format-patch", "-q", "-o", str(series), "HEAD~1")
    name = "tools/app/k.cu"
    again = f"--- a/{name}\n+++ b/{name}\n@@ -2,3 +2,3 @@\n   a[0] = 3;\n-  a[1] = 2;\n+  a[1] = 9;\n }}\n"
    (series / "0002-again.patch").write_text(again)
    assert texts(given(original, series, tmp_path / "work"))["k.cu"] == NEW.replace("= 2;", "= 9;")


def test_a_changed_copy_of_some_sources_is_a_change(original, tmp_path):
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "k.cu").write_text(NEW)
    (copy / "notes.txt").write_text("no source")
    (copy / "more.h").write_text("int x;\n")
    change = given(original, copy, tmp_path / "work")
    assert texts(change) == {"k.cu": NEW, "more.h": "int x;\n"}
    assert [edit.base_hash == NO_FILE for edit in change.edits] == [False, True]


@pytest.mark.parametrize("what", ["HEAD~1..HEAD", "HEAD~1.."])
def test_a_range_that_is_checked_out_is_judged_against_its_first_commit(repository, tmp_path, what):
    change = given(repository, what, tmp_path / "work")
    assert texts(change)["k.cu"] == NEW
    assert (change.application.project / "k.cu").read_text() == KERNEL
    assert (repository / "k.cu").read_text() == NEW


def of(text: str) -> str:
    return f"diff --git a/k.cu b/k.cu\n{text}"


HUNK = "--- a/k.cu\n+++ b/k.cu\n@@ -2 +2 @@\n-  a[0] = 1;\n+  a[0] = 3;\n"
REFUSED = {
    "a rename": (of("similarity index 100%\nrename from k.cu\nrename to j.cu\n"), "renames or copies"),
    "a mode": (of("old mode 100644\nnew mode 100755\n"), "mode of k.cu to 100755"),
    "a link": (of("new file mode 120000\n--- /dev/null\n+++ b/k.cu\n@@ -0,0 +1 @@\n+/etc/passwd\n"), "link"),
    "a binary file": (of("index 1..2 100644\nGIT binary patch\nliteral 3\nKcmZ\n\n"), "binary file, k.cu"),
    "binary files that differ": (of("Binary files a/k.cu and b/k.cu differ\n"), "binary file, k.cu"),
    "a submodule": (of("--- a/m\n+++ b/m\n@@ -1 +1 @@\n-Subproject commit 11\n+Subproject commit 22\n"), "submodule"),
    "a file outside": (HUNK.replace("b/k.cu", "b/../../k.cu").replace("a/k.cu", "a/../../k.cu"), "leaves the project"),
    "nothing": ("", "does not apply: there is no patch in it"),
    "prose": ("please make it faster\n", "does not apply: there is no patch in it"),
    "a change that is there": (
        "--- a/k.cu\n+++ b/k.cu\n@@ -2 +2 @@\n-  a[0] = 3;\n+  a[0] = 1;\n",
        "holds the change already",
    ),
    "another text": (HUNK.replace("a[0] = 1;", "a[0] = 7;"), "does not apply"),
    "no difference": (HUNK.replace("= 3;", "= 1;"), "changes nothing"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_change_of_text_is_refused_with_one_line(original, tmp_path, name):
    text, told = REFUSED[name]
    patch = tmp_path / "given.patch"
    patch.write_text(text)
    with pytest.raises(UsageError, match=told) as refused:
        given(original, patch, tmp_path / "work")
    assert len(str(refused.value).splitlines()) == 1


def test_a_huge_patch_is_refused_unread(original, tmp_path):
    patch = tmp_path / "huge.patch"
    with patch.open("wb") as out:
        out.truncate(9 << 20)
    with pytest.raises(UsageError, match="at most"):
        given(original, patch, tmp_path / "work")


@pytest.mark.parametrize("what", ["none.patch", "HEAD~9..HEAD", "HEAD..HEAD"])
def test_what_is_nowhere_is_said_to_be(repository, tmp_path, what):
    with pytest.raises(UsageError, match=r"no such|knows no such|nothing in"):
        given(repository, what, tmp_path / "work")
