"""Words that a candidate may not bring in, wherever it puts them; found on the spliced text.

Works on tokens, after line splicing and without comments, so that `as\\<newline>m` and the like are
seen; `##`, digraphs and trigraphs may not be added at all. Only what the candidate *adds* counts: the
user's own code may use any of it.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""
    //[^\n]*|/\*.*?(?:\*/|\Z)
    |(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
    |(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"|(?:u8|[uUL])?'(?:\\.|[^'\\\n])*'
    |(?:\d|\.\d)(?:[eEpP][+-]|'(?=\w)|[\w.])*
    |[A-Za-z_$][\w$]*|%:%:|%:|<%|%>|\#\#|\?\?[=/'()!<>-]|\#|<<<|>>>|::|->|<:|:>|\S
    """,
    re.VERBOSE | re.DOTALL,
)
_LITERAL = re.compile(r"(?:\d|\.\d)|[\"']")
_LONG_DOUBLE = re.compile(r"(?!0[xX])(?=[^lL]*[.eE])[\d.eE'+-]+[lL]|0[xX][^lL]*[.pP][^lL]*[lL]")
_TABLE_LIMIT = 64  # numbers in a row


@dataclass(frozen=True)
class Ban:
    """A kind of word: `pattern` must match the whole token."""

    what: str
    pattern: re.Pattern[str]
    unless_used: bool = False  # fine in a file that used such words before
    called: bool = False  # only where "(" follows: the words are good names for variables, too


def _words(text: str) -> re.Pattern[str]:
    return re.compile("|".join(text.split()))


BANS: tuple[Ban, ...] = (
    Ban("inline assembly", _words("asm __asm__ __asm")),
    Ban("token pasting or an alternative spelling", _words(r"\#\# %: %:%: <% %> \?\?.")),
    Ban("a pragma in an expression", _words("_Pragma __pragma")),
    Ban(
        "a timer",
        _words(
            "clock64 __clock(64|hi)? wall_clock64 __builtin_readcyclecounter __builtin_amdgcn_s_mem(real)?time "
            "__builtin_amdgcn_s_getreg __nvvm_read_ptx_sreg_(clock|globaltimer).* globaltimer gettimeofday "
            "clock_gettime chrono (hip|cuda|cu)Event\\w* __rdtscp? _rdtsc __builtin_ia32_rdtscp?"
        ),
    ),
    Ban("a system, file, network or environment function", _words(
        "v?fork clone exec[lv]p?e? posix_spawnp? system popen socket connect accept bind open openat creat read "
        "write unlink rename kill raise signal atexit at_quick_exit exit _exit _Exit quick_exit clock"
    ), called=True),
    Ban("a system, file, network or environment function", _words(
        "fopen freopen i?o?fstream (secure_)?getenv [sp]u?t?etenv environ dlopen dlsym syscall mmap mprotect ptrace "
        "sigaction setjmp longjmp pthread_\\w+ jthread __libc_\\w+"
    )),
    Ban("code before main", _words("__constructor__ __destructor__ init_priority")),
    Ban("approximate arithmetic", _words(
        "__expf __exp10f __logf __log2f __log10f __sinf __cosf __tanf __sincosf __powf __fdividef __frsqrt_\\w+ "
        "native_\\w+ unsafeAtomic\\w+ __builtin_amdgcn_(rcp|rsq|exp2?|log|sin|cos|sqrt)\\w* __nv_fast_\\w+ "
        "fast_math reassociate fp_contract float_control FENV_ACCESS STDC"
    )),
    Ban("a narrower number type", _words(
        "half2? __half2?(_raw)? _Float16 __fp16 __bf16 (__)?hip_bfloat162? (__)?nv_bfloat162? bfloat16 __nv_fp\\d\\w* "
        "__hip_fp\\d\\w* (__)?float2?2?(half|bfloat)\\w* __double2half tf32 wmma mma_sync float16_t bfloat16_t"
    ), unless_used=True),
    Ban("a question about the machinery", _words(
        "INTELLIPERF\\w* SIMT\\w* __?simt\\w* __x86_64__ __i386__ __aarch64__ __HIP_DEVICE_COMPILE__ __CUDA_ARCH__ "
        "__HIP_PLATFORM_\\w+ __HIP_CPU\\w* __builtin_cpu_\\w+ __is_identifier __has_include __FILE__ __TIME__ "
        "__DATE__ __TIMESTAMP__ __COUNTER__ __BASE_FILE__ __INCLUDE_LEVEL__ unix linux __(unix|linux|amd64|x86_64|k8)"
    )),
    Ban("a question about the compiler", re.compile(
        r"(?!__(device|global|shared|constant|managed|host|forceinline|noinline|inline|restrict|launch_bounds|align|"
        r"attribute|grid_constant|cluster_dims|func|volatile|const|half|int128)__)__\w+__|__CUDACC_VER_\w+"
    )),
    Ban("a builtin function that is not known to be harmless", re.compile(
        r"(?!__builtin_(amdgcn_\w+|nontemporal_(load|store)|expect(_with_probability)?|assume(_aligned)?|unreachable|trap|"
        r"popcount\w*|clz\w*|ctz\w*|ffs\w*|parity\w*|bswap\w*|bitreverse\w*|rotate(left|right)\w*|bit_cast|"
        r"isnan|isinf|isfinite|inff?|huge_valf?|nanf?|fabsf?|fmaf?|sqrtf?|floorf?|ceilf?|truncf?|f(min|max)f?|"
        r"copysignf?|memcpy|memset|(s|u)?(add|sub|mul)(l|ll)?_overflow|prefetch|constant_p|"
        r"shufflevector|convertvector|elementwise_\w+|reduce_\w+)$)__builtin_\w+"
    )),
    Ban("a member that changes in a constant", _words("mutable")),
    Ban("printing", _words("v?f?printf puts putchar cout cerr fputs fwrite")),
    Ban("a switch of checks", _words("NDEBUG GTEST_SKIP")),
    Ban("device-side allocation", _words("malloc calloc realloc free alloca"), called=True),
    Ban("device-side allocation", _words("new delete __builtin_alloca\\w*")),
    Ban("inclusion of data", _words("embed incbin")),
)  # fmt: skip
_HARMLESS_ATTRIBUTES = _words(
    "_*(aligned|always_inline|noinline|device|host|global|shared|ext_vector_type|vector_size|unused)_* "
    "amdgpu_flat_work_group_size amdgpu_waves_per_eu maybe_unused likely unlikely unroll clang gnu loop nodiscard "
    "const sizeof float int double unsigned char short long"
)
# After one of these a word is the name of a variable or function, as in `int half = n / 2`.
_PLAIN_TYPES = frozenset(
    ("void", "int", "unsigned", "long", "short", "float", "double", "bool", "size_t", "uint32_t", "auto")
)
_GOOD_NAMES = ("half", "half2")
_KEPT = ("assert", "__trap", "abort")  # a candidate may not take these away


def tokens(text: str) -> list[str]:
    """Tokens of the preprocessor's third phase: spliced, without comments."""
    spliced = re.sub(r"\\[ \t]*\r?\n", "", text)
    return [m[0] for m in _TOKEN.finditer(spliced) if not m[0].startswith(("//", "/*"))]


def violation(before: str, after: str) -> str | None:
    """The first banned thing that `after` has more of than `before`, for people."""
    old, new = tokens(before), tokens(after)
    counts = Counter(old), Counter(new)
    pairs = list(itertools.pairwise(new))
    variables = {right for left, right in pairs if left in _PLAIN_TYPES and right in _GOOD_NAMES}
    variables -= {left for left, right in pairs if right[0].isalpha() or right[0] == "_"}  # `half x;` is the type
    words = [word for word in _more(counts[1], counts[0]) if word not in variables]
    calls = _more(_calls(new), _calls(old))
    for ban in BANS:
        used = ban.unless_used and any(ban.pattern.fullmatch(token) for token in counts[0])
        added = calls if ban.called else words
        found = next((token for token in added if not used and ban.pattern.fullmatch(token)), None)
        if found is not None:
            return f"{ban.what}: {found}"
    for word in _KEPT:
        if counts[1][word] < counts[0][word]:
            return f"a check was taken away: {word}"
    for name in _more(_attributes(new), _attributes(old)):
        if not _HARMLESS_ATTRIBUTES.fullmatch(name):
            return f"an attribute: {name}"
    if _long_doubles(new) > _long_doubles(old):
        return "a type that no GPU has, and whose size tells where the code runs: long double"
    if _longest_table(new) > max(_TABLE_LIMIT, _longest_table(old)):
        return f"a table of more than {_TABLE_LIMIT} literals"
    return _directive_violation(before, after)


def _more(new: Counter[str], old: Counter[str]) -> list[str]:
    return [token for token, count in new.items() if count > old[token]]


def _calls(row: list[str]) -> Counter[str]:
    return Counter(left for left, right in itertools.pairwise(row) if right == "(")


def _attributes(row: list[str]) -> Counter[str]:
    """Words inside `__attribute__((…))`, `__declspec(…)` and `[[…]]`, their arguments included."""
    found: Counter[str] = Counter()
    depth = 0
    for place, token in enumerate(row):
        if depth == 0:
            opens = token in ("__attribute__", "__attribute", "__declspec", "alignas")
            double = token == "[" and row[place + 1 : place + 2] == ["["]
            depth = 1 if opens or double else 0
            nesting, closing = 0, "])"[opens]
            continue
        nesting += (token in "([") - (token in ")]")
        if token[0].isalpha() or token[0] == "_":
            found[token] += 1
        if nesting <= 0 and token == closing:
            depth = 0
    return found


def _long_doubles(row: list[str]) -> int:
    """Mentions of the type and literals of it."""
    named = sum({left, right} == {"long", "double"} for left, right in itertools.pairwise(row))
    return named + sum(_LONG_DOUBLE.fullmatch(token) is not None for token in row)


def _longest_table(row: list[str]) -> int:
    """Most literals in a row with nothing but commas, signs and braces between."""
    longest = current = 0
    for token in row:
        if _LITERAL.match(token):
            current += 1
            longest = max(longest, current)
        elif token not in (",", "-", "+", "{", "}", "(", ")"):
            current = 0
    return longest


_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w+)[ \t]*(.*)$", re.MULTILINE)
_PRAGMA = re.compile(r"(?:unroll|nounroll|GCC unroll|clang loop unroll)\b")


def directives(text: str) -> Counter[tuple[str, str]]:
    """Preprocessor lines, white space normalised, without comments."""
    spliced = re.sub(r"\\[ \t]*\r?\n", " ", text)
    plain = re.sub(r"/\*.*?\*/", " ", spliced, flags=re.DOTALL)
    plain = re.sub(r"//[^\n]*", "", plain)
    return Counter((m[1], " ".join(m[2].split())) for m in _DIRECTIVE.finditer(plain))


def _directive_violation(before: str, after: str) -> str | None:
    for name, rest in directives(after) - directives(before):
        if name == "pragma" and not _PRAGMA.match(rest) and rest != "once":
            return f"a pragma: #pragma {rest}"
        if name not in ("pragma", "define", "include"):
            return f"a preprocessor directive: #{name} {rest}".rstrip()
    for name, rest in directives(before) - directives(after):
        if name not in ("pragma", "define", "include"):
            return f"a preprocessor directive was taken away: #{name} {rest}".rstrip()
    return None


def balanced(body: str) -> bool:
    """Do braces open and close properly, with the first one closing last? An opinion independent of the parser."""
    depth = 0
    row = tokens(body)
    for place, token in enumerate(row):
        depth += (token == "{") - (token == "}")
        if depth <= 0 and place < len(row) - 1:
            return False
    return depth == 0
