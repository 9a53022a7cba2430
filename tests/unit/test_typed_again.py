"""Options given again as words, for the command that is proposed after a diagnosis."""

from __future__ import annotations

from intelliperf.cli.options import Options
from intelliperf.cli.parsing import as_typed


def test_only_what_differs_from_a_default_is_typed_again() -> None:
    assert as_typed(Options(("./app",))) == ()
    given = Options(
        ("./app",), build_command=("make a", "make b"), target="h200", keep_work=True, top_n=3, kernel="sum"
    )
    assert as_typed(given, ("kernel",)) == (
        "--build-command", "make a", "--build-command", "make b", "--top-n", "3", "--target", "h200", "--keep-work",
    )  # fmt: skip
