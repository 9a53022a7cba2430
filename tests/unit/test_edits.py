"""Replies to parts, and parts to new texts."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rewrite_task import GOOD_REPLY, REFUSAL, SOURCE

from intelliperf.codegen.edits import apply_blocks
from intelliperf.codegen.model import definitions
from intelliperf.codegen.reply import Block, MalformedReply, parse_blocks, parse_reply
from intelliperf.records import content_hash

BLOCK = "FILE: a.cu\n<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE"


def blocks(text: str) -> tuple[Block, ...]:
    return parse_blocks(text.split("\n"))


def nowhere(path: str, text: str, name: str) -> list[tuple[int, int]]:
    return []


def edited(text: str, *given: Block) -> str:
    (edit,) = apply_blocks(given, {"a.cu": text}, nowhere)
    assert edit.base_hash == content_hash(text)
    return edit.text


def test_a_reply_is_taken_apart_into_its_three_sections() -> None:
    parsed = parse_reply("Let me think.\n" + GOOD_REPLY + "\n[[ ## completed ## ]]\n")
    assert parsed.rationale == "The same few addresses are hit by every lane."
    assert [block.path for block in parsed.blocks] == ["src/tally.hip"]
    assert not parsed.declares.geometry and not parsed.declares.kernels


def test_a_reply_with_dos_line_endings_means_the_same() -> None:
    assert parse_reply(GOOD_REPLY.replace("\n", "\r\n")) == parse_reply(GOOD_REPLY)


def test_a_declaration_keeps_its_reason() -> None:
    parsed = parse_reply(GOOD_REPLY.replace("nothing", "geometry: half the blocks\n- `kernels`: a second pass"))
    assert parsed.declares.geometry and parsed.declares.kernels
    assert parsed.declares.reason == "half the blocks; a second pass"


def test_no_change_is_a_refusal_and_not_an_error() -> None:
    assert parse_reply(REFUSAL).blocks == ()


@pytest.mark.parametrize(
    "variant",
    [
        BLOCK,
        f"```diff\n{BLOCK}\n```",
        BLOCK.replace("FILE: a.cu", "**`a.cu`**"),
        BLOCK.replace("FILE: a.cu", "### ./a.cu"),
        BLOCK.replace("FILE: a.cu", "File: a.cu:\n```cpp"),
        BLOCK.replace("\nold\n", "\n```cpp\nold\n```\n").replace("\nnew\n", "\n```cpp\nnew\n```\n"),
        BLOCK.replace("<<<<<<< SEARCH", "<<<<<<<< SEARCH"),
    ],
)
def test_common_ways_to_fence_a_block_mean_the_same(variant: str) -> None:
    assert blocks(variant) == (Block("a.cu", ("new",), search=("old",)),)


def test_the_file_is_named_once_for_several_blocks() -> None:
    second = BLOCK.replace("FILE: a.cu\n", "").replace("old", "other")
    assert [block.path for block in blocks(f"{BLOCK}\n\n{second}")] == ["a.cu", "a.cu"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "holds no block"),
        (BLOCK.removeprefix("FILE: a.cu\n"), "no `FILE: path` line"),
        (BLOCK.removesuffix("\n>>>>>>> REPLACE"), "no `>>>>>>> REPLACE` line"),
        (BLOCK.replace("=======\n", ""), "0 lines of exactly"),
        (BLOCK.replace("old\n", "=======\nold\n"), "2 lines of exactly"),
        (BLOCK.replace("old\n", ""), "SEARCH half is empty"),
        (BLOCK.replace("old", "new"), "both halves are the same"),
        (f"Here is my change:\n{BLOCK}\nHope it helps!", "unexpected text outside a block"),
        (f"{BLOCK}\nHope it helps!", "unexpected text outside a block"),
        (BLOCK.replace("old", "<<<<<<< SEARCH\nold"), "a new block begins"),
        ("FILE: a.cu\n<<<<<<< FUNCTION f\n\n>>>>>>> REPLACE", "new definition of f is empty"),
    ],
)
def test_a_malformed_edits_section_is_refused_with_the_place(text: str, problem: str) -> None:
    with pytest.raises(MalformedReply, match=problem):
        blocks(text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", r"\[\[ ## rationale ## \]\] is missing"),
        ("I cannot do this.", "rationale"),
        (GOOD_REPLY.replace("[[ ## edits ## ]]", ""), r"\[\[ ## edits ## \]\] is missing"),
        (GOOD_REPLY + GOOD_REPLY, "comes twice"),
        (GOOD_REPLY.replace("nothing", "the build flags"), "declares: 'the build flags'"),
        (GOOD_REPLY.replace("## edits", "## patch"), "no section"),
        (GOOD_REPLY.replace("The same few addresses are hit by every lane.", " "), "rationale is empty"),
    ],
)
def test_a_reply_without_its_sections_is_refused(text: str, problem: str) -> None:
    with pytest.raises(MalformedReply, match=problem):
        parse_reply(text)


def test_what_a_terminal_would_obey_is_taken_out_of_the_rationale() -> None:
    assert parse_reply(GOOD_REPLY.replace("The same", "\x1b[2JThe same")).rationale.startswith("[2JThe same")


def test_several_blocks_apply_to_the_text_as_shown_and_not_to_each_other() -> None:
    text = "a\nb\nc\nd\n"
    assert edited(text, Block("a.cu", ("c", "x"), search=("a",)), Block("a.cu", (), search=("c",))) == "c\nx\nb\nd\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_line_endings_are_kept(newline: str) -> None:
    text = newline.join(["a", "b", "c", ""])
    assert edited(text, Block("a.cu", ("x", "y"), search=("b",))) == newline.join(["a", "x", "y", "c", ""])


def test_a_file_without_a_last_newline_stays_so() -> None:
    assert edited("a\nb", Block("a.cu", ("x", "y"), search=("b",))) == "a\nx\ny"
    assert edited("a\r\nb", Block("a.cu", ("x", "y"), search=("b",))) == "a\r\nx\r\ny"


def test_form_feeds_and_unicode_separators_do_not_end_a_line() -> None:
    assert edited("a\x0cb\nc\u2028d\n", Block("a.cu", ("x",), search=("c\u2028d",))) == "a\x0cb\nx\n"


def test_bytes_that_are_not_utf_8_survive_in_lines_that_are_repeated() -> None:
    text = b"// caf\xe9\nold\n".decode("utf-8", "surrogateescape")
    shown = "// caf\N{REPLACEMENT CHARACTER}"
    assert edited(text, Block("a.cu", (shown, "new"), search=(shown, "old"))) == text.replace("old", "new")
    with pytest.raises(MalformedReply, match="was shown incompletely"):
        edited(text, Block("a.cu", (shown + "!",), search=(shown, "old")))


def test_a_secret_that_was_blanked_survives_in_lines_that_are_repeated() -> None:
    text = 'const char *key = "sk-' + "a" * 30 + '";\nold\n'
    shown = 'const char *key = "[REDACTED]";'
    assert edited(text, Block("a.cu", ("new", shown), search=(shown, "old"))) == "new\n" + text.split("\n")[0] + "\n"


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (Block("a.cu", ("x",), search=("zzz",)), "no line of it is in the file"),
        (Block("a.cu", ("x",), search=("  two", "three")), "line 2 reads 'two', not '  two' .only white space"),
        (Block("a.cu", ("x",), search=("two", "tree")), "nearest is line 2, where line 3 reads 'three', not 'tree'"),
        (Block("a.cu", ("x",), search=("five", "six")), "the file ends at line 5"),
        (Block("a.cu", ("x",), search=("one",)), "found 2 times, at lines 1, 4"),
        (Block("b.cu", ("x",), search=("two",)), "b.cu is not a file that may be edited; did you mean a.cu"),
        (Block("../a.cu", ("x",), search=("two",)), "not a path inside the project"),
        (Block("/etc/passwd", ("x",), search=("two",)), "not a path inside the project"),
        (Block("a.cu", ("x",), function="main"), "no definition of a function main"),
    ],
)
def test_a_block_that_does_not_fit_is_refused_with_what_is_there(given: Block, problem: str) -> None:
    with pytest.raises(MalformedReply, match=problem):
        edited("one\ntwo\nthree\none\nfive\n", given)


@pytest.mark.parametrize("character", ["\x1b", "\u202e", "\u200b", "\x00"])
def test_what_a_reviewer_would_not_see_is_refused_unless_it_was_there(character: str) -> None:
    text = f"keep{character}\nold\n"
    assert edited(text, Block("a.cu", (f"keep{character}", "new"), search=(f"keep{character}", "old")))
    with pytest.raises(MalformedReply, match=r"U\+00|U\+20"):
        edited(text, Block("a.cu", (f"new{character}",), search=("old",)))


@given(st.text(alphabet="ab[]# \n=<>`~:/SEARCHREPLACEFUNCTIONFILEditsraonle", max_size=200))
def test_whatever_a_model_says_is_parsed_or_refused(noise: str) -> None:
    for text in (noise, f"[[ ## rationale ## ]]\nx\n[[ ## edits ## ]]\n{noise}", GOOD_REPLY.replace("=======", noise)):
        with contextlib.suppress(MalformedReply):
            apply_blocks(parse_reply(text).blocks, {"src/tally.hip": SOURCE}, definitions)


def test_overlapping_blocks_are_refused() -> None:
    with pytest.raises(MalformedReply, match="overlap at line 2"):
        edited("a\nb\nc\n", Block("a.cu", (), search=("a", "b")), Block("a.cu", (), search=("b", "c")))


def test_edits_that_cancel_out_are_refused() -> None:
    text = "a\nb\n"
    with pytest.raises(MalformedReply, match="change nothing"):
        apply_blocks([Block("a.cu", ("a", "b"), function="f")], {"a.cu": text}, lambda *_: [(1, 2)])


def test_a_function_is_replaced_from_its_template_to_its_brace() -> None:
    text = "// before\ntemplate <int N>\n__global__ void f(int *p)\n{\n    p[0] = N;\n}\n// after\n"
    (edit,) = apply_blocks([Block("a.cu", ("void g() {}",), function="f")], {"a.cu": text}, definitions)
    assert edit.text == "// before\nvoid g() {}\n// after\n"


def test_a_function_that_shares_its_lines_with_other_code_needs_a_search_block() -> None:
    for text in ("namespace a { void f() {} }\n", "void f() {\n} // end of f\n", "int x; void f() {\n}\n"):
        with pytest.raises(MalformedReply, match="shares a line with other code"):
            apply_blocks([Block("a.cu", ("x",), function="f")], {"a.cu": text}, definitions)


def test_an_overloaded_function_needs_a_search_block() -> None:
    with pytest.raises(MalformedReply, match="2 definitions of f, at lines 1, 2"):
        apply_blocks([Block("a.cu", ("x",), function="f")], {"a.cu": "f\nf\n"}, lambda *_: [(1, 1), (2, 2)])


LINES = st.lists(st.text(alphabet="ab \t{}", max_size=4), min_size=1, max_size=12)


@given(LINES, st.data(), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_an_edit_that_fits_changes_its_own_lines_only(
    lines: list[str], data: st.DataObject, newline: str, closed: bool
) -> None:
    start = data.draw(st.integers(0, len(lines) - 1))
    end = data.draw(st.integers(start + 1, len(lines)))
    marked = [f"{number}:{line}" for number, line in enumerate(lines)]  # every line is unique
    text = newline.join(marked) + (newline if closed else "")
    new = edited(text, Block("a.cu", ("fresh",), search=tuple(marked[start:end])))
    expected = [*marked[:start], "fresh", *marked[end:]]
    assert new == newline.join(expected) + (newline if closed else "")


def test_the_example_reply_fits_the_example_source() -> None:
    (edit,) = apply_blocks(parse_reply(GOOD_REPLY).blocks, {"src/tally.hip": SOURCE}, nowhere)
    assert edit.text == SOURCE.replace("if (i < n)", "if (i < n && keys[i] >= 0)")
