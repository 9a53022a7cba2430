"""Which numbers of a command are tried as others."""

from __future__ import annotations

from intelliperf.validation.othercommands import other_words


def _commands(*command: str, longer: bool = True) -> list[str]:
    return [" ".join(word.within(command)) for word in other_words(command, longer)]


def test_each_number_is_doubled_then_halved_then_lowered() -> None:
    assert _commands("./app", "64", "--rows=7", "file9", "-n3", "1", "0.5") == [
        "./app 128 --rows=7 file9 -n3 1 0.5",
        "./app 64 --rows=14 file9 -n3 1 0.5",
        "./app 64 --rows=7 file9 -n6 1 0.5",
        "./app 32 --rows=7 file9 -n3 1 0.5",
        "./app 64 --rows=3 file9 -n3 1 0.5",
        "./app 64 --rows=7 file9 -n1 1 0.5",
        "./app 63 --rows=7 file9 -n3 1 0.5",
        "./app 64 --rows=6 file9 -n3 1 0.5",
        "./app 64 --rows=7 file9 -n2 1 0.5",
    ]


def test_an_original_that_takes_long_is_not_given_more_to_do() -> None:
    assert _commands("./app", "64", longer=False) == ["./app 32", "./app 63"]


def test_the_program_itself_and_what_is_no_size_stay() -> None:
    assert _commands("2048", "1", "99999999999", "x64") == []
