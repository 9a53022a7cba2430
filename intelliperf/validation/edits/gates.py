"""The static gate: may this candidate change what it changes? Decided before anything is built.

Allowed: the body of the target kernel and of device-only functions of the named files, new ones of the
latter, and new constants, macros, types and standard includes that collide with nothing. What a
candidate declares opens launch configurations, launches and scratch memory. Everything else of the
files must stay token for token; comments and white space are free.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from intelliperf.records import NO_FILE, Candidate, Declaration, FileEdit, content_hash
from intelliperf.validation.edits import denylist, launchsites, persistence
from intelliperf.validation.edits.macros import Macro, macros_of
from intelliperf.validation.edits.source import Function, Item, Source, base_name, leaves, walk

_INCLUDES = re.compile(
    r"<(?:hip/(?:hip_runtime|hip_cooperative_groups|hip_fp16|hip_bf16|hip_bfloat16|hip_vector_types|hip_complex)\.h"
    r"|cooperative_groups(?:/\w+)?\.h|cuda_(?:runtime|fp16|bf16|pipeline)\.h|cuda/\w+|vector_types\.h"
    r"|(?:hip)?cub/[\w/]+\.(?:cuh|hpp)|type_traits|cstdint|stdint\.h|cmath|limits|climits|cfloat|utility)>"
)
_API_NAME = re.compile(r"(?:hip|cuda|cu|__)[A-Z_a-z]|main$|assert$|printf$|std$|threadIdx$|blockIdx$|warpSize$")
_KEYWORDS = re.compile(
    "if|else|for|while|do|return|break|continue|switch|case|default|int|float|double|char|bool|void|unsigned|signed|"
    "short|long|const|static|inline|template|typename|struct|class|union|enum|true|false|sizeof|auto|volatile|"
    "namespace|using|operator|new|delete|this|constexpr|extern|goto|typedef|dim3|size_t"
)
_SYNCHRONISES = re.compile(r"__sync\w+|sync|\w*barrier\w*|atomic\w+|__threadfence\w*|__shared__|volatile")
_NUMBER = re.compile(r"\(?\d+[uUlL]*\)?")
_TYPE_KINDS = ("struct_specifier", "union_specifier", "enum_specifier", "alias_declaration", "type_definition")
_SAFE_USINGS = ("cooperative_groups", "cub", "hipcub")


@dataclass(frozen=True)
class StaticVerdict:
    """`refusal` says what is not allowed, with file and line; empty if all is."""

    refusal: str = ""
    beyond_target: bool = False  # code that other kernels may use was changed, too
    restricted: bool = False  # __restrict__ was added
    synchronisation: bool = False  # barriers, atomics or LDS came or went


@dataclass(frozen=True)
class _File:
    path: str
    old: Source
    new: Source


@dataclass(frozen=True)
class _Rules:
    target: str  # the kernel's name without scope and template arguments
    declares: Declaration
    known: frozenset[str]  # identifiers of all old sources
    macros: Mapping[str, Macro]  # of all old sources


def examine(
    candidate: Candidate,
    sources: Mapping[str, str],
    allowed: Collection[str],
    kernel_name: str,
) -> StaticVerdict:
    """Judge the edits against `sources`, the texts that they were made for. `allowed`: paths that may change."""
    for edit in candidate.edits:
        refusal = _file_refusal(edit, sources, allowed)
        if refusal:
            return StaticVerdict(refusal)
    target = "" if "lambda" in kernel_name or "$_" in kernel_name else base_name(kernel_name)
    known = frozenset(word for text in sources.values() for word in denylist.tokens(text))
    rules = _Rules(target, candidate.declares, known, macros_of(sources.values()))
    verdicts = []
    for edit in candidate.edits:
        verdict = _examine_file(edit, sources[edit.path], rules)
        if verdict.refusal:
            return verdict
        verdicts.append(verdict)
    return StaticVerdict(
        beyond_target=any(v.beyond_target for v in verdicts),
        restricted=any(v.restricted for v in verdicts),
        synchronisation=any(v.synchronisation for v in verdicts),
    )


def _file_refusal(edit: FileEdit, sources: Mapping[str, str], allowed: Collection[str]) -> str:
    if edit.base_hash == NO_FILE:
        return f"the candidate adds the file {edit.path}: only sources that exist may change"
    if not edit.text.strip():
        return f"the candidate removes {edit.path} or all that it holds"
    if edit.path not in allowed or edit.path not in sources:
        return f"{edit.path} is not a source of the kernel; only these may change: {', '.join(sorted(allowed))}"
    if content_hash(sources[edit.path]) != edit.base_hash:
        return f"{edit.path} is not the text that this edit was made for"
    if "\0" in edit.text:
        return f"{edit.path}: a NUL character"
    return ""


def _examine_file(edit: FileEdit, before: str, rules: _Rules) -> StaticVerdict:
    found = denylist.violation(before, edit.text)
    if found is not None:
        return StaticVerdict(
            f"{edit.path}: the candidate adds {found}" if "taken" not in found else f"{edit.path}: {found}"
        )
    file = _File(edit.path, Source(before, rules.macros), Source(edit.text, rules.macros))
    refusal = (
        _directive_refusal(before, edit.text, rules)
        or _parse_refusal(file)
        or _compare_items(file, rules)
        or persistence.refusal(file.old, file.new)
    )
    if refusal:
        return StaticVerdict(f"{edit.path}: {refusal}")
    beyond = _rows(file, lambda f: _is_target(f, rules))
    restrict = [denylist.tokens(text) for text in (before, edit.text)]
    added = sum(t in ("__restrict__", "__restrict") for t in restrict[1])
    return StaticVerdict(
        beyond_target=[i.tokens for i in beyond[0]] != [i.tokens for i in beyond[1]],
        restricted=added > sum(t in ("__restrict__", "__restrict") for t in restrict[0]),
        synchronisation=_synchronising(before) != _synchronising(edit.text),
    )


def _synchronising(text: str) -> Counter[str]:
    return Counter(token for token in denylist.tokens(text) if _SYNCHRONISES.fullmatch(token))


def _is_target(function: Function, rules: _Rules) -> bool:
    return function.kind == "kernel" and function.name == rules.target


def _open(function: Function, rules: _Rules) -> bool:
    return function.kind == "device" or _is_target(function, rules)


def _rows(file: _File, opened: Callable[[Function], bool], lambdas: bool = False) -> tuple[list[Item], list[Item]]:
    return file.old.items(opened, lambdas), file.new.items(opened, lambdas)


def _parse_refusal(file: _File) -> str:
    """Parser and brace counter must agree on where every changed body ends."""
    errors = [sum(n.type == "ERROR" or n.is_missing for n in walk(s.root)) for s in (file.old, file.new)]
    if errors[1] > errors[0]:
        place = next(n for n in walk(file.new.root) if n.type == "ERROR" or n.is_missing)
        return f"line {place.start_point[0] + 1} does not parse"
    for function in file.new.functions():
        if function.body is not None and not denylist.balanced(file.new.text(function.body)):
            return f"the braces of {function.name} do not match"
    return ""


def _compare_items(file: _File, rules: _Rules) -> str:
    old, new = _rows(file, lambda f: _open(f, rules), lambdas=not rules.target)
    rows = [i.tokens for i in old], [i.tokens for i in new]
    removed: list[Item] = []
    added: list[Item] = []
    for tag, i, j, k, m in difflib.SequenceMatcher(None, *rows, autojunk=False).get_opcodes():
        if tag != "equal":
            removed += old[i:j]
            added += new[k:m]
    return _changed_refusal(file, removed, added, rules)


def _changed_refusal(file: _File, removed: list[Item], added: list[Item], rules: _Rules) -> str:
    gone = {item.name for item in removed if item.function is not None}
    for item in removed:
        twin = next((n for n in added if n.kind == item.kind and n.name == item.name and item.name), None)
        refusal = _removal_refusal(file, item, twin, rules)
        if refusal:
            return refusal
        if twin is not None and item.function is not None:
            added = [n for n in added if n is not twin]
    for item in added:
        refusal = _addition_refusal(file.new, item, gone, rules)
        if refusal:
            return f"line {item.line}: {refusal}"
    return ""


def _removal_refusal(file: _File, item: Item, twin: Item | None, rules: _Rules) -> str:
    """`twin`: the item of the new version that carries the same name."""
    function = item.function
    if function is not None and function.kind == "device":
        return ""
    if function is not None and _is_target(function, rules):
        if rules.declares.kernels:
            return ""
        return f"line {item.line}: the signature of kernel {function.name} changes or the kernel is gone; not declared"
    launches = rules.declares.geometry or rules.declares.kernels
    if launches and function is not None and function.kind == "host" and twin is not None:
        problem = launchsites.difference((file.old, item), (file.new, twin), rules.declares)
        return f"{problem} changes beyond the declared launch" if problem else ""
    if item.kind in ("preproc_def", "declaration") and rules.declares.geometry and _is_number(item):
        return ""
    what = f"{function.kind} function {function.name}" if function is not None else " ".join(item.tokens[:8])
    line = _first_change(item, twin) if twin is not None else item.line
    return f"line {line}: {what} is outside of the kernel and its device functions and must not change"


def _first_change(item: Item, twin: Item) -> int:
    """Line of the new text where the twin stops being the same."""
    old = [leaf.text for leaf in leaves(item.node)]
    line = twin.line
    for place, leaf in enumerate(leaves(twin.node)):
        line = leaf.start_point[0] + 1
        if place >= len(old) or old[place] != leaf.text:
            break
    return line


def _is_number(item: Item) -> bool:
    """A macro or constant that is one number."""
    if item.kind == "preproc_def":
        return len(item.tokens) == 3 and _NUMBER.fullmatch(item.tokens[2]) is not None
    constant = "constexpr" in item.tokens or "const" in item.tokens
    return constant and len([t for t in item.tokens if re.match(r"\d", t)]) == 1 and "(" not in item.tokens


def _addition_refusal(source: Source, item: Item, gone: set[str], rules: _Rules) -> str:
    if item.tokens == (";",):
        return ""
    function = item.function
    if function is not None:
        return _new_function_refusal(source, item, gone, rules)
    if item.kind in ("preproc_def", "preproc_function_def", "preproc_include"):
        return ""  # see _directive_refusal
    if item.kind == "declaration":
        return _new_declaration_refusal(source, item, rules)
    if item.kind in _TYPE_KINDS:
        return _new_type_refusal(source, item, rules)
    if item.kind in ("using_declaration", "namespace_alias_definition"):
        return "" if item.tokens[-2] in _SAFE_USINGS else "a using-directive of another namespace"
    if item.kind == "static_assert_declaration" or item.kind == "preproc_call":
        return ""
    return f"new code outside of device functions: {' '.join(item.tokens[:8])}"


def _new_function_refusal(source: Source, item: Item, gone: set[str], rules: _Rules) -> str:
    function = item.function
    if function is None:
        return ""
    helper = {"constexpr", "__device__"} & set(source.header(function)) and re.fullmatch(r"[A-Za-z_]\w*", function.name)
    if function.kind == "host" and not helper:
        return f"a new host function: {function.name}"
    if persistence.linked_by_plain_name(item):
        return f"a new function that may take the place of a library's: {function.name}"
    if function.kind == "kernel" and not rules.declares.kernels:
        return f"a new kernel: {function.name}; not declared"
    if function.name in rules.known and function.name not in gone:
        return f"a new function under a name that is in use: {function.name}"
    return f"a function may not be called {function.name}" if _API_NAME.match(function.name) else ""


def _directive_refusal(before: str, after: str, rules: _Rules) -> str:
    """New macros and includes, in bodies as well as outside."""
    for directive, rest in denylist.directives(after) - denylist.directives(before):
        if directive == "include" and not _INCLUDES.fullmatch(rest):
            return f"#include {rest} is not among the headers that may be added"
        if directive == "define" and (refusal := _new_macro_refusal(rest, rules)):
            return refusal
    return ""


def _new_macro_refusal(definition: str, rules: _Rules) -> str:
    name, _, value = definition.partition(" ")
    name, _, parameters = name.partition("(")
    if _KEYWORDS.fullmatch(name) or _API_NAME.match(name):
        return f"a macro over the name {name}"
    if name in rules.known and not (rules.declares.geometry and _NUMBER.fullmatch(value)):
        return f"a macro over a name that is in use: {name}"
    return "a macro that makes strings or names" if "#" in parameters + value else ""


def _new_declaration_refusal(source: Source, item: Item, rules: _Rules) -> str:
    if item.name in rules.known and not (rules.declares.geometry and _is_number(item)):
        return f"a new declaration of a name that is in use: {item.name}"
    if persistence.linked_by_plain_name(item):
        return f"a declaration of something that another library may define: {item.name}"
    if persistence.is_prototype(item.node):
        defined = any(function.name == item.name for function in source.functions())
        return "" if defined and "__device__" in item.tokens else f"a function that nothing defines: {item.name}"
    if "__shared__" in item.tokens and "extern" in item.tokens:
        return ""
    if not persistence.is_constant(source, item.node):
        # Whatever a launch leaves in it is found when buffers are compared.
        return "" if persistence.starts_as_zeros(source, item.node) else f"a new global variable: {item.name}"
    calls = any(node.type in ("call_expression", "lambda_expression") for node in walk(item.node))
    return f"a global constant that is computed by a call: {item.name}" if calls else ""


def _new_type_refusal(source: Source, item: Item, rules: _Rules) -> str:
    if item.name in rules.known or _KEYWORDS.fullmatch(item.name):
        return f"a new type under a name that is in use: {item.name}"
    for node in walk(item.node):
        if node.type == "field_declaration" and persistence.keeps_values(source, node):
            return f"a type with a static variable: {item.name}"
        if node.type == "function_definition":
            words = [source.text(leaf) for leaf in leaves(node)]
            if "__device__" not in words or "__host__" in words:
                return f"a type with host functions: {item.name}"
    return ""
