"""What the shadow version makes of calls of mathematical functions, by their plain name."""

from __future__ import annotations

import re

# One argument, and a function of the runtime.
NEED_EXPONENTS = frozenset({"exp", "exp2", "exp10", "expm1", "tanh", "sinh", "cosh"})
UNARY = NEED_EXPONENTS | {
    "sqrt", "rsqrt", "cbrt", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "asinh",
    "acosh", "atanh", "erf", "erfc", "tgamma", "lgamma",
}  # fmt: skip
TURNS = {"sinpi": 0, "cospi": 1}
CHOICES = frozenset(["minnum", "maxnum", "minimum", "maximum", "minimumnum", "maximumnum", "fmin", "fmax"])
WHOLE = frozenset(["floor", "ceil", "trunc", "rint", "nearbyint", "round", "roundeven"])
SCALINGS = frozenset(["ldexp", "scalbn", "scalbln"])
_INTRINSIC = re.compile(r"^llvm\.(\w+)(?:\.\w+)*$")
_SUFFIX = re.compile(r"(?:_finite)?$")


def plain_name(symbol: str, kind: str) -> str:
    """`llvm.sqrt.f32`, `sqrtf` and `sqrt` are one function."""
    found = _INTRINSIC.match(symbol)
    if found:
        return found[1]
    name = _SUFFIX.sub("", symbol.removeprefix("__")) if symbol.endswith("_finite") else symbol
    if kind == "float" and name.endswith("f") and name not in ("erf",):
        return name[:-1]
    return name


def need_exponents(text: str) -> bool:
    """Whether a module's text names a function that needs the second field."""
    names = "|".join(sorted(NEED_EXPONENTS | {"pow"}))
    return re.search(rf"@(?:llvm\.)?(?:__)?(?:{names})f?(?:_finite)?(?:\.f\d+)?\(", text) is not None
