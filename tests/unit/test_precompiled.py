"""Which headers of a source are precompiled, by its text; nothing is compiled."""

from __future__ import annotations

from pathlib import Path

import pytest

from intelliperf.dropins.precompiled import leading_includes
from intelliperf.dropins.shelf import Shelf


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ()),
        ("#include <vector>\n#  include <cub/cub.cuh>  // scan\n\nint a;\n#include <map>\n", ("vector", "cub/cub.cuh")),
        ("/* licence\n * #include <no>\n */\n#pragma once\n#include <a>\n", ("a",)),
        ("// one \\\n#include <continued>\n#include <a>\n", ()),
        ('#include "mine.h"\n#include <a>\n', ()),
        ("#define NDEBUG\n#include <cassert>\n", ()),
        ("#include <a>\n#ifdef X\n#include <b>\n#endif\n", ("a",)),
        ("#include <a>\n#pragma GCC diagnostic push\n#include <b>\n", ("a",)),
        ("#include HEADER\n#include <a>\n", ()),
        ("#include <a> /* and\n more */ int b;\n#include <c>\n", ("a",)),
        ("#include <a> int b;\n", ()),
    ],
)
def test_only_the_includes_before_all_else_count(text: str, names: tuple[str, ...]) -> None:
    assert leading_includes(text) == names


def _copying(header: Path, made: Path, listed: Path) -> tuple[str, ...]:
    return (
        "/bin/sh",
        "-c",
        'cp "$0" "$1"; echo "header: $0 /usr/include/a.h" > "$2"',
        *map(str, (header, made, listed)),
    )


def test_one_is_made_when_it_was_asked_for_often_enough_and_kept_with_its_facts(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "shelf", 1 << 20, {}, 60.0)
    assert [shelf.sighted("key", 3) for _ in range(3)] == [False, False, True]
    made = shelf.make("key", "#include <a.h>\n", _copying, lambda files: {"files": list(files)})
    assert made is not None
    assert made.header.read_text() == "#include <a.h>\n"
    assert made.facts == {"files": ["/usr/include/a.h"]}
    assert shelf.entry("key") == made
    shelf.discard(made.header)
    assert shelf.entry("key") is None


def test_what_must_not_be_kept_is_not_made_again(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, 1 << 20, {}, 60.0)
    assert shelf.sighted("key", 1)
    assert shelf.make("key", "text", _copying, lambda files: None) is None
    assert shelf.entry("key") is None
    assert not shelf.sighted("key", 1)


def test_one_that_does_not_compile_is_counted_anew(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, 1 << 20, {}, 60.0)
    assert [shelf.sighted("key", 2) for _ in range(2)] == [False, True]
    assert shelf.make("key", "text", lambda *places: ("/bin/false",), lambda files: {}) is None
    assert not shelf.sighted("key", 2)
    assert [path.suffix for path in tmp_path.iterdir()] == [".seen"]


def test_while_one_process_makes_it_another_does_without(tmp_path: Path) -> None:
    shelf, other = (Shelf(tmp_path, 1 << 20, {}, 60.0) for _ in range(2))
    met = []

    def facts(files: object) -> dict[str, object]:
        met.append(other.make("key", "text", _copying, lambda files: {}))
        return {}

    assert shelf.make("key", "text", _copying, facts) is not None
    assert met == [None]


def test_the_least_recently_used_make_room(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, 2500, {}, 60.0)
    for key in ("first", "second"):
        shelf.make(key, "x" * 1000, _copying, lambda files: {})
    assert shelf.entry("first") is not None  # used again
    shelf.make("third", "x" * 1000, _copying, lambda files: {})
    assert [shelf.entry(key) is not None for key in ("first", "second", "third")] == [True, False, True]
