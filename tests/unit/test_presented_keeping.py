"""Code that replays load: as it was kept, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from intelliperf.python.site.intelliperf_presented import keeping
from intelliperf.recordings.image import Shape
from intelliperf.recordings.latecode import kept_files

DESCRIBED: dict[str, object] = {"kernels": {"total": {"line": 7}}}


def _kept(directory: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("INTELLIPERF_KEPT_CODE", str(directory))
    return keeping.keep("total", b"\x7fELF\ncode", DESCRIBED)


def test_code_is_loaded_as_it_was_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = _kept(tmp_path / "kept", monkeypatch)
    assert keeping.load(digest) == ("total", b"\x7fELF\ncode", DESCRIBED)
    assert keeping.general_of(digest) is None
    keeping.keep_general(digest, "another", 512)
    assert keeping.general_of(digest) == ("another", 512)


def test_code_for_other_constants_is_kept_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = _kept(tmp_path, monkeypatch)
    assert keeping.others_of(digest) == []
    others = [("BLOCK = 64 instead of 32", keeping.keep("total", b"\x7fELF\nwider", DESCRIBED), 512)]
    keeping.keep_others(digest, others)
    assert keeping.others_of(digest) == others
    shape = Shape((1, 1, 1), (32, 1, 1), 0, digest)
    assert {path.name for path in kept_files([shape], tmp_path)} == {digest, f"{digest}.constants", others[0][1]}
    text = (tmp_path / f"{digest}.constants").read_text()
    (tmp_path / f"{digest}.constants").write_text(text.replace("64", "16"))
    with pytest.raises(ValueError, match="was changed"):
        keeping.others_of(digest)


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content[:-1],
        lambda content: content.replace(b"code", b"cole"),
        lambda content: content.replace(b'"line": 7', b'"line": 8'),
        lambda content: b"",
    ],
)
def test_code_that_was_changed_since_is_refused(
    change: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = _kept(tmp_path, monkeypatch)
    (tmp_path / digest).write_bytes(change((tmp_path / digest).read_bytes()))
    with pytest.raises(ValueError, match="was changed"):
        keeping.load(digest)


def test_the_general_code_of_another_kernel_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = _kept(tmp_path, monkeypatch)
    keeping.keep_general("0" * 32, "another", 512)
    (tmp_path / ("0" * 32 + ".general")).rename(tmp_path / f"{digest}.general")
    with pytest.raises(ValueError, match="was changed"):
        keeping.general_of(digest)
