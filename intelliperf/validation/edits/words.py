"""Words that a candidate may not bring in, because the compiler that judges cannot see what they do elsewhere.

Questions about the compiler, the machine and the place are answered before there is code to compare, and other
compilers answer them otherwise. What the original's sources use already is free.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import pairwise

from intelliperf.validation.edits.tokens import Directive, Token, directives

_HEADERS = re.compile(
    r"<(?:hip/(?:hip_runtime|hip_cooperative_groups|hip_fp8|hip_fp16|hip_bf16|hip_bfloat16|hip_vector_types|hip_complex)"
    r"\.h|cooperative_groups(?:/\w+)?\.h|cuda_(?:runtime|fp8|fp16|bf16|pipeline|pipeline_primitives)\.h|cuda/\w+|mma\.h"
    r"|cuComplex\.h|vector_types\.h|(?:(?:hip)?cub|rocprim)/[\w/]+\.(?:cuh|hpp)|type_traits|c?stdint(?:\.h)?"
    r"|c?stddef(?:\.h)?|cmath|math\.h|limits|climits|cfloat|float\.h|limits\.h|utility|algorithm|array|bit|tuple|numeric"
    r"|functional|iterator|concepts|initializer_list|span|c?string(?:\.h)?|cassert|assert\.h)>"
)
_PRAGMA = re.compile(r"(?:unroll|nounroll|GCC unroll|clang loop (?:unroll|vectorize|interleave)|once)\b")
_CONDITIONALS = frozenset(("if", "ifdef", "ifndef", "elif", "elifdef", "elifndef"))
_FREE_DIRECTIVES = frozenset(("else", "endif", ""))
_RESERVED = re.compile(r"_[_A-Z]\w*|\w*__\w*")
_PLATFORM = re.compile(
    r"(?:HIP|CUDA|CUDART|CUB|THRUST|ROCM|SIMT|INTELLIPERF|GTEST|WIN|_GLIBCXX|_LIBCPP)\w*|NDEBUG|unix|linux|i386|NULL|"
    r"(?:hip|cuda|cu)[A-Z]\w*|__\w+"
)
_KEYWORDS = re.compile(
    "if|else|for|while|do|return|break|continue|switch|case|default|int|float|double|char|bool|void|unsigned|signed|"
    "short|long|const|static|inline|template|typename|struct|class|union|enum|true|false|sizeof|auto|volatile|"
    "namespace|using|operator|new|delete|this|constexpr|extern|goto|typedef|dim3|size_t|main|assert|printf|std|defined"
)


@dataclass(frozen=True)
class Ban:
    """A kind of word; `pattern` matches the whole of it."""

    what: str
    pattern: re.Pattern[str]


def _words(text: str) -> re.Pattern[str]:
    return re.compile("|".join(text.split()))


BANS: tuple[Ban, ...] = (
    Ban("inline assembly", _words("asm __asm__ __asm")),
    Ban("a timer", _words(
        "clock64 __clock(64|hi)? wall_clock64 __builtin_readcyclecounter __builtin_readsteadycounter "
        "__builtin_amdgcn_s_(mem(real)?time|getreg) __nvvm_read_ptx_sreg_(clock|globaltimer).* globaltimer"
    )),
    Ban("approximate arithmetic", _words(
        "__expf __exp10f __logf __log2f __log10f __sinf __cosf __tanf __sincosf __powf __fdividef __frsqrt_\\w+ "
        "native_\\w+ unsafeAtomic\\w+ __builtin_amdgcn_(rcp|rsq|exp2?|log|sin|cos|sqrt|fract|frexp\\w*)\\w* "
        "__nv_fast_\\w+ __ocml_native_\\w+"
    )),
    Ban("a question about the machinery", _words(
        "\\w*__device_stub__\\w* INTELLIPERF\\w* SIMT_\\w* __simt\\w* simt __x86_64__ __i386__ __aarch64__ "
        "__HIP_DEVICE_COMPILE__ __CUDA_ARCH\\w* __HIP_PLATFORM_\\w+ __HIP_CPU\\w* __builtin_cpu_\\w+ __is_identifier "
        "__has_\\w+ __FILE(_NAME)?__ __TIME__ __LINE__ __DATE__ __TIMESTAMP__ __COUNTER__ __BASE_FILE__ "
        "__INCLUDE_LEVEL__ unix linux source_location __builtin_(LINE|FILE|FILE_NAME|FUNCTION|COLUMN|source_location) "
        "__builtin_(return_address|frame_address|constant_p) __(PRETTY_FUNCTION|FUNCSIG|FUNCDNAME)__ "
        "is_constant_evaluated is_device_compile"
    )),
    Ban("a question about the compiler", re.compile(
        r"(?!__(device|global|shared|constant|managed|host|forceinline|noinline|inline|restrict|launch_bounds|align|"
        r"attribute|grid_constant|cluster_dims|func|FUNCTION|volatile|const|half|int128)__)__\w+__|__CUDACC_VER_\w+"
    )),
    Ban("a builtin function that is not known to be harmless", re.compile(
        r"(?!__builtin_(amdgcn_\w+|nontemporal_(load|store)|expect(_with_probability)?|assume(_aligned)?|unreachable|trap|"
        r"popcount\w*|clz\w*|ctz\w*|ffs\w*|parity\w*|bswap\w*|bitreverse\w*|rotate(left|right)\w*|bit_cast|"
        r"isnan|isinf|isfinite|inff?|huge_valf?|nanf?|fabsf?|fmaf?|sqrtf?|floorf?|ceilf?|truncf?|f(min|max)f?|"
        r"copysignf?|memcpy|memset|(s|u)?(add|sub|mul)(l|ll)?_overflow|prefetch|"
        r"shufflevector|convertvector|elementwise_\w+|reduce_\w+)$)__builtin_\w+"
    )),
    Ban("a switch of checks", _words("NDEBUG GTEST_SKIP")),
    Ban("inclusion of data", _words("embed incbin")),
)  # fmt: skip
_LONG_DOUBLE = re.compile(r"(?!0[xX])(?=[^lL]*[.eE])[\d.eE'+-]+[lL]|0[xX][^lL]*[.pP][^lL]*[lL]")
_CHECKS = ("assert", "__trap", "abort")
_HARMLESS_ATTRIBUTES = _words(
    "_*(aligned|always_inline|noinline|device|host|global|shared|constant|ext_vector_type|vector_size|"
    "(maybe_)?unused)_* amdgpu_\\w+ maxntid minnctapersm launch_bounds likely unlikely unroll clang gnu loop "
    "nodiscard noalias restrict pure fallthrough assume const sizeof float int double unsigned char short long alignas "
    "alignof __align__ \\w*[a-z0-9]_t"
)


def violation(old: list[Token], new: list[Token], known: Collection[str], own: Collection[tuple[str, ...]] = ()) -> str:
    """The first thing that the new tokens bring in and may not; "" if nothing.

    `known`: all words of the original; `own`: spellings of headers that are looked at themselves.
    """
    had = Counter(token.text for token in old)
    for token in new:
        if token.text in known or token.kind != "raw_identifier":
            continue
        ban = next((ban for ban in BANS if ban.pattern.fullmatch(token.text)), None)
        if ban is not None:
            return f"line {token.line}: the candidate adds {ban.what}: {token.text}"
    now = Counter(token.text for token in new)
    for word in _CHECKS:
        if now[word] < had[word]:
            return f"a check was taken away: {word}"
    if _long_doubles(new) > _long_doubles(old):
        return "the candidate adds a type that no GPU has, and whose size tells where the code runs: long double"
    return _attribute_refusal(old, new) or _directive_refusal(old, new, known, own)


def added_includes(old: list[Token], new: list[Token]) -> tuple[tuple[str, ...], ...]:
    """The spellings of headers that only the new tokens include, and that are not free to everybody."""
    had = {d.words for d in directives(old) if d.name == "include"}
    asked = {d.words for d in directives(new) if d.name == "include"}
    return tuple(sorted(words for words in asked - had if not _HEADERS.fullmatch("".join(words))))


def header_violation(row: list[Token], known: Collection[str], own: Collection[tuple[str, ...]]) -> str:
    """`violation` of a header that only the new text includes; its guard against being read twice is its own affair."""
    return violation([], _without_guard(row), known, own)


def _without_guard(row: list[Token]) -> list[Token]:
    """Without `#ifndef X` and `#define X` at the beginning, whose X is nothing else."""
    first = [token.text for token in row[:6]]
    guarded = (
        len(first) == 6 and first[:2] == ["#", "ifndef"] and first[3:5] == ["#", "define"] and first[2] == first[5]
    )
    alone = guarded and sum(token.text == first[2] for token in row) == 2 and (len(row) == 6 or row[6].first)
    return row[6:] if alone else row


def _long_doubles(row: list[Token]) -> int:
    named = sum({left.text, right.text} == {"long", "double"} for left, right in pairwise(row))
    return named + sum(_LONG_DOUBLE.fullmatch(token.text) is not None for token in row)


def _attribute_refusal(old: list[Token], new: list[Token]) -> str:
    had = {token.text for token in _attributes(old)}
    for token in _attributes(new):
        if token.text not in had and not _HARMLESS_ATTRIBUTES.fullmatch(token.text):
            return f"line {token.line}: the candidate adds an attribute: {token.text}"
    return ""


def _attributes(row: list[Token]) -> list[Token]:
    """Identifiers inside `__attribute__((…))`, `__declspec(…)` and `[[…]]`."""
    found: list[Token] = []
    depth = 0
    ends = ""
    for at, token in enumerate(row):
        if depth == 0:
            double = token.text == "[" and row[at + 1 : at + 2] and row[at + 1].text == "["
            if token.text in ("__attribute__", "__attribute", "__declspec"):
                depth, ends = 1, "()"
            elif double:
                depth, ends = 1, "[]"
            continue
        depth += (token.text == ends[0]) - (token.text == ends[1])
        if token.kind == "raw_identifier":
            found.append(token)
        if token.text == ends[1] and depth <= 1:
            depth = 0
    return found


def _directive_refusal(
    old: list[Token], new: list[Token], known: Collection[str], own: Collection[tuple[str, ...]]
) -> str:
    had = Counter((d.name, d.words) for d in directives(old))
    included = {d.words for d in directives(old) if d.name == "include"}.union(own)
    for directive in directives(new):
        key = (directive.name, directive.words)
        had[key] -= 1
        if had[key] >= 0:
            continue
        told = _new_directive_refusal(directive, included, known)
        if told:
            return f"line {directive.line}: {told}"
    for (name, words), count in had.items():
        if count > 0 and name not in ("define", "undef", "include", "pragma", "endif", "else", ""):
            return f"a preprocessor directive was taken away: #{name} {' '.join(words)}".rstrip()
    return ""


def _new_directive_refusal(directive: Directive, included: Collection[tuple[str, ...]], known: Collection[str]) -> str:
    joined = "".join(directive.words)
    if directive.name == "include":
        fine = _HEADERS.fullmatch(joined) or directive.words in included
        return "" if fine else f"#include {joined} is not among the headers that may be added"
    if directive.name == "pragma":
        return "" if _PRAGMA.match(" ".join(directive.words)) else f"the candidate adds a pragma: {directive}"
    if directive.name in ("define", "undef"):
        return _macro_refusal(directive.words[0] if directive.words else "")
    if directive.name in _CONDITIONALS:
        asked = _asked(directive.words, known)
        return f"the candidate asks the preprocessor about {asked}: {directive}" if asked else ""
    return "" if directive.name in _FREE_DIRECTIVES else f"the candidate adds a preprocessor directive: {directive}"


def _asked(words: Iterable[str], known: Collection[str]) -> str:
    """A name in a condition that the build, the compiler or a header may answer otherwise elsewhere."""
    names = [word for word in words if re.fullmatch(r"[A-Za-z_]\w*", word) and word != "defined"]
    return next((n for n in names if _RESERVED.fullmatch(n) or _PLATFORM.fullmatch(n) or n in known), "")


def _macro_refusal(name: str) -> str:
    if _KEYWORDS.fullmatch(name) or _PLATFORM.fullmatch(name) or _RESERVED.fullmatch(name):
        return f"a macro over the name {name}"
    return ""


def operator_pragmas(row: list[Token]) -> str:
    """The first `_Pragma("…")` that is none of the harmless ones."""
    for at, token in enumerate(row):
        if token.text in ("_Pragma", "__pragma"):
            inside = row[at + 2].text.strip('"') if at + 2 < len(row) else ""
            if not _PRAGMA.match(inside):
                return f"line {token.line}: the candidate adds a pragma: {inside}"
    return ""


def synchronising(row: list[Token]) -> Counter[str]:
    """How often each word of barriers, atomics and LDS occurs."""
    pattern = re.compile(r"__sync\w+|sync|\w*barrier\w*|atomic\w+|__threadfence\w*|__shared__|volatile")
    return Counter(token.text for token in row if pattern.fullmatch(token.text))
