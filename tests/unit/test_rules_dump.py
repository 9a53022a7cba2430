"""What a dump of a whole unit gives for a name, and which headers may be parsed ahead of it."""

from __future__ import annotations

from intelliperf.codegen.syntax.dump import Dump
from intelliperf.codegen.syntax.prefix import leading_includes


def function(name: str, **more: object) -> dict[str, object]:
    return {"id": f"of-{name}", "kind": "FunctionDecl", "name": name, **more}


UNIT = {
    "kind": "TranslationUnitDecl",
    "id": "unit",
    "inner": [
        {"id": "n", "kind": "NamespaceDecl", "name": "math", "inner": [function("dot")]},
        {"id": "a", "kind": "NamespaceDecl", "inner": [function("hidden")]},
        {"id": "c", "kind": "CXXRecordDecl", "name": "Grid", "inner": [function("declared")]},
        function("outside", parentDeclContextId="c", inner=[{"kind": "VarDecl", "id": "v", "name": "outside_too"}]),
    ],
}


def names(asked: str) -> list[str]:
    return [raw.get("name", "") for raw in Dump(UNIT).matching(asked)]


def test_a_qualified_name_is_found_below_its_namespace() -> None:
    assert names("math::dot") == ["dot"]
    assert names("(anonymous namespace)::hidden") == ["hidden"]


def test_a_member_defined_outside_its_class_has_the_name_of_the_class() -> None:
    assert names("Grid::outside") == ["outside"]


def test_only_the_outermost_match_is_given() -> None:
    assert names("outside") == ["outside"]
    assert names("Grid") == ["Grid", "outside"]


def test_a_name_that_is_not_there_is_not_found() -> None:
    assert names("dott") == []


def test_includes_after_a_macro_or_a_condition_stay_in_the_unit() -> None:
    text = '// first\n#include <cstdio>\n#include "own.h"\n# include <vector>\n#define X 1\n#include <cmath>\n'
    assert leading_includes(text) == "#include <cstdio>\n# include <vector>\n"
    assert leading_includes("#ifdef A\n#include <cuda.h>\n#endif\n") == ""
