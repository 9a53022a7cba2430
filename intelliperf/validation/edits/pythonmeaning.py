"""What a run of a Triton kernel may not show: precision given away, weaker order, promises, pointers as numbers."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from intelliperf.project.pythonsource import JitFunction, body_nodes
from intelliperf.validation.edits import pythonwords as words

_PRECISION = ("input_precision", "allow_tf32", "max_num_imprecise_acc", "out_dtype", "fast_math")
_EXACT = ("input_precision='ieee'", "allow_tf32=False", "fast_math=False", "max_num_imprecise_acc=0")
_WIDE_RESULT = ("out_dtype=tl.float32", "out_dtype=tl.float64")
_ORDERS = {"acquire": {"acquire"}, "release": {"release"}, "acq_rel": {"acquire", "release"}}
_REACH = {"cta": 0, "gpu": 1, "sys": 2}
_PROMISES = ("multiple_of", "max_contiguous", "max_constancy", "assume")
_INTEGERS = ("int64", "uint64", "int32", "uint32", "pi32_t")
_VARYING = ("program_id", "num_programs", "arange", "load")


@dataclass(frozen=True, eq=False)
class Facts:
    """What a set of jit functions does, call by call."""

    functions: Sequence[JitFunction]

    @cached_property
    def calls(self) -> tuple[tuple[JitFunction, ast.Call, str], ...]:
        """Every call with the last word of what is called."""
        return tuple(
            (function, node, _word(node.func))
            for function in self.functions
            for node in body_nodes(function.node)
            if isinstance(node, ast.Call)
        )

    def count(self, *names: str) -> int:
        return sum(word in names for _, _, word in self.calls)

    @cached_property
    def atomics(self) -> tuple[tuple[JitFunction, ast.Call, str], ...]:
        return tuple(item for item in self.calls if item[2].startswith("atomic_"))

    @cached_property
    def waits(self) -> bool:
        """Do programs hand data to each other: loops on memory, or atomics whose value is used?"""
        loops = any(isinstance(n, ast.While) for f in self.functions for n in body_nodes(f.node))
        return loops or any(id(call) not in self.unread for _, call, _ in self.atomics)

    @cached_property
    def unread(self) -> frozenset[int]:
        """Expressions that are statements: nobody looks at their value."""
        nodes = (n for f in self.functions for n in body_nodes(f.node))
        return frozenset(id(n.value) for n in nodes if isinstance(n, ast.Expr))


def refusal(new: JitFunction, old: Sequence[JitFunction], keywords: Collection[str]) -> str:
    before, after = Facts(old), Facts([new])
    return (
        _precision(before, after, keywords)
        or _narrow(old, new)
        or _order(before, after, keywords)
        or _promises(old, new)
        or _addresses(old, new)
    )


# ---- precision --------------------------------------------------------------------------------------


def _precision(before: Facts, after: Facts, keywords: Collection[str]) -> str:
    """Of products: none may be less precise than the original's; where it has none, they have to be exact."""
    has = before.count("dot", "dot_scaled") > 0
    plain = any(not _named(call, "input_precision", "allow_tf32") for _, call, w in before.calls if w == "dot")
    for function, call, word in after.calls:
        if word not in ("dot", "dot_scaled"):
            continue
        if len(call.args) > 3:
            return f"line {call.lineno}: the precision of a product has to be given by name"
        for keyword in call.keywords:
            if keyword.arg in _PRECISION and not _precise(keyword, function, keywords):
                return f"line {call.lineno}: a product may not become less precise: {ast.unparse(keyword)}"
        if word == "dot" and not plain and not _named(call, "input_precision", "allow_tf32"):
            told = "the original's products name their precision" if has else "the original has no product of this kind"
            return f"line {call.lineno}: {told}; say input_precision='ieee'"
    return ""


def _precise(keyword: ast.keyword, function: JitFunction, keywords: Collection[str]) -> bool:
    text = ast.unparse(keyword)
    if text in keywords or text in _EXACT:
        return True
    wide = keyword.arg == "out_dtype" and (function.module.dotted(keyword.value) or "").endswith(("float32", "float64"))
    return wide or text in _WIDE_RESULT


def _narrow(old: Sequence[JitFunction], new: JitFunction) -> str:
    """Types of fewer bits that the original does not name: not to add up in, and converted to only where one stores."""
    known = {name for function in old for name in _narrow_types(function, body_nodes(function.node))}
    made = {name for f in old for call in _creations(f) for name in _narrow_types(f, ast.walk(call))}
    for call in _creations(new):
        found = _narrow_types(new, ast.walk(call)) - made
        if found:
            return f"line {call.lineno}: the candidate computes in a narrower type: {sorted(found)[0]}"
    stored = _stored(new)
    for node in body_nodes(new.node):
        if isinstance(node, ast.Call) and _word(node.func) in ("to", "cast"):
            found = _narrow_types(new, [*node.args, *(keyword.value for keyword in node.keywords)]) - known
            if found and id(node) not in stored:
                return f"line {node.lineno}: the candidate computes in a narrower type: {sorted(found)[0]}"
    return ""


def _narrow_types(function: JitFunction, nodes: Iterator[ast.AST] | Sequence[ast.AST]) -> set[str]:
    found = set()
    for node in nodes:
        dotted = function.module.dotted(node) if isinstance(node, (ast.Name, ast.Attribute)) else None
        if dotted is not None and dotted.startswith(words.TL) and dotted.removeprefix(words.TL) in words.NARROW:
            found.add(dotted.removeprefix(words.TL))
        if isinstance(node, ast.Constant) and node.value in ("fp16", "bf16", "fp8e5", "fp8e4nv", "float16", "bfloat16"):
            found.add(str(node.value))
    return found


def _creations(function: JitFunction) -> list[ast.Call]:
    """Tensors that are made, and sums that name the type to add up in."""
    makers = ("zeros", "full", "zeros_like", "sum", "cumsum", "reduce")
    return [n for n in body_nodes(function.node) if isinstance(n, ast.Call) and _word(n.func) in makers]


def _stored(function: JitFunction) -> set[int]:
    """Expressions that are nothing but the value of a store or of an atomic."""
    found = set()
    for node in body_nodes(function.node):
        if isinstance(node, ast.Call) and (_word(node.func) == "store" or _word(node.func).startswith("atomic_")):
            given = [*node.args[1:2], *(k.value for k in node.keywords if k.arg in ("value", "val"))]
            found |= {id(item) for item in given}
    return found


# ---- order between programs -------------------------------------------------------------------------


def _order(before: Facts, after: Facts, keywords: Collection[str]) -> str:
    known = {_orders(call) for _, call, _ in before.atomics}
    narrowest = min((_reach(call) for _, call, _ in before.atomics), default=1)
    for _, call, word in after.atomics:
        for keyword in call.keywords:
            literal = keyword.arg not in ("sem", "scope") or isinstance(keyword.value, ast.Constant)
            if not literal and ast.unparse(keyword) not in keywords:
                return f"line {call.lineno}: the order of {word} has to be a literal"
        if _reach(call) < narrowest:
            return f"line {call.lineno}: {word} reaches fewer programs than the original's: scope='cta'"
        # What announces has to release, and what is read to acquire: how far that is enough, races show.
        needed = "release" if id(call) in after.unread else "acquire"
        enough = needed in _orders(call) or any(orders <= _orders(call) for orders in known)
        if before.waits and known and not enough:
            return f"line {call.lineno}: {word} orders less than the original's, whose programs wait for each other"
    return _memory_words(after, keywords)


def _orders(call: ast.Call) -> frozenset[str]:
    return frozenset(_ORDERS.get(_literal(call, "sem", "acq_rel"), ()))


def _reach(call: ast.Call) -> int:
    return _REACH.get(_literal(call, "scope", "gpu"), 0)


def _literal(call: ast.Call, name: str, otherwise: str) -> str:
    value = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
    if value is None or isinstance(value, ast.Constant) and value.value is None:
        return otherwise
    return str(value.value) if isinstance(value, ast.Constant) else ast.unparse(value)


# What an access may say anew: it goes by fewer caches than one that says nothing, or is kept in them for less long.
_PAST_CACHES = {"load": frozenset((".cg", ".cv")), "store": frozenset((".wb", ".cg", ".cs", ".wt"))}


def _memory_words(after: Facts, keywords: Collection[str]) -> str:
    for _, call, word in after.calls:
        if word not in ("load", "store"):
            continue
        if len(call.args) > (3 if word == "load" else 3):
            return f"line {call.lineno}: options of {word} have to be given by name"
        for keyword in call.keywords:
            text = ast.unparse(keyword)
            if keyword.arg == "volatile" and text not in keywords:
                return f"line {call.lineno}: a volatile access is not an atomic one, and the original has none: {text}"
            outer = _literal(call, "cache_modifier", "") in _PAST_CACHES[word]
            if keyword.arg == "cache_modifier" and text not in keywords and not outer:
                return f"line {call.lineno}: which caches an access goes by can change what it reads: {text}"
    return ""


def taken_away(old: Sequence[JitFunction], new: Sequence[JitFunction]) -> str:
    """What the original's kernel has and the candidate's, all that it reaches together, has not."""
    before, after = Facts(old), Facts(new)
    for name in sorted(words.CHECKS):
        if after.count(name) < before.count(name):
            return f"a check was taken away: {name}"
    if before.atomics and after.atomics and after.count("debug_barrier") < before.count("debug_barrier"):
        return "a barrier was taken away from a kernel whose programs share memory: debug_barrier"
    for option in ("volatile=True", "cache_modifier='.cv'"):
        if _mentions(new, option) < _mentions(old, option):
            return f"an access that has to reach memory no longer says so: {option}"
    return ""


def _mentions(functions: Sequence[JitFunction], option: str) -> int:
    nodes = (node for function in functions for node in body_nodes(function.node))
    return sum(isinstance(node, ast.keyword) and ast.unparse(node) == option for node in nodes)


def synchronising(functions: Sequence[JitFunction]) -> list[str]:
    facts = Facts(functions)
    return sorted(word for _, _, word in facts.calls if word.startswith("atomic_") or word == "debug_barrier")


def unused(old: JitFunction, new: JitFunction) -> str:
    """An argument of the kernel that it no longer reads: its value was taken for granted."""
    for item in old.parameters:
        if item.arg in old.constants:
            continue
        if _reads(old, item.arg) and not _reads(new, item.arg):
            return f"line {new.node.lineno}: {new.name} no longer depends on its argument {item.arg}"
    return ""


def _reads(function: JitFunction, name: str) -> bool:
    nodes = body_nodes(function.node)
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) for n in nodes)


# ---- promises and addresses -------------------------------------------------------------------------


def _promises(old: Sequence[JitFunction], new: JitFunction) -> str:
    """What the compiler is told to rely on may not speak of arguments: nobody proves it for another launch."""
    known = {ast.unparse(call) for _, call, word in Facts(old).calls if word in _PROMISES}
    for _, call, word in Facts([new]).calls:
        if word not in _PROMISES or ast.unparse(call) in known:
            continue
        free = _sources(call, new) - new.constants
        arguments = sorted(free & {item.arg for item in new.parameters})
        if arguments:
            return f"line {call.lineno}: a promise about {arguments[0]}, which nothing proves: {ast.unparse(call)[:60]}"
        if _reads_memory(call, new):
            return f"line {call.lineno}: a promise about what memory holds: {ast.unparse(call)[:60]}"
    return ""


def _sources(node: ast.AST, function: JitFunction) -> set[str]:
    """Names that the value of an expression may come from, through the function's assignments."""
    found = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    while True:
        more = {name for local in found for name in _assigned_from(function).get(local, ())} - found
        if not more:
            return found
        found |= more


def _reads_memory(node: ast.AST, function: JitFunction) -> bool:
    names = _sources(node, function)
    loaded = {
        target.id
        for statement in body_nodes(function.node)
        if isinstance(statement, ast.Assign) and any(_is_load(n) for n in ast.walk(statement.value))
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    return bool(names & loaded) or any(_is_load(n) for n in ast.walk(node))


def _is_load(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and (_word(node.func) == "load" or _word(node.func).startswith("atomic_"))


def _assigned_from(function: JitFunction) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for node in body_nodes(function.node):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets, value = node.targets, node.value
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign)) and node.value is not None:
            targets, value = [node.target], node.value
        elif isinstance(node, ast.For):
            targets, value = [node.target], node.iter
        else:
            continue
        read = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
        for target in targets:
            for name in (n.id for n in ast.walk(target) if isinstance(n, ast.Name)):
                found.setdefault(name, set()).update(read)
    return found


def _addresses(old: Sequence[JitFunction], new: JitFunction) -> str:
    """A pointer that becomes a number lets a kernel tell where it runs."""
    if any(_is_number_of_pointer(call, function) for function, call, _ in Facts(old).calls):
        return ""
    for function, call, _ in Facts([new]).calls:
        if _is_number_of_pointer(call, function):
            return f"line {call.lineno}: a pointer becomes a number: {ast.unparse(call)[:60]}"
    for node in body_nodes(new.node):
        sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
        absent = any(isinstance(side, ast.Constant) and side.value is None for side in sides)
        if any(_is_pointer(side, new) for side in sides) and not absent:
            return f"line {sides[0].lineno}: pointers are compared: {ast.unparse(node)[:60]}"
    return ""


def _is_number_of_pointer(call: ast.Call, function: JitFunction) -> bool:
    if _word(call.func) not in ("to", "cast"):
        return False
    value = call.func.value if _word(call.func) == "to" and isinstance(call.func, ast.Attribute) else None
    kinds = [*call.args, *(keyword.value for keyword in call.keywords)]
    if value is None or isinstance(call.func, ast.Attribute) and function.module.dotted(call.func) is not None:
        value, kinds = (call.args[0] if call.args else None), [*call.args[1:], *(k.value for k in call.keywords)]
    integer = any((function.module.dotted(kind) or "").rpartition(".")[2] in _INTEGERS for kind in kinds)
    return value is not None and integer and _is_pointer(value, function)


def _is_pointer(node: ast.expr, function: JitFunction) -> bool:
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        left, right = _is_pointer(node.left, function), _is_pointer(node.right, function)
        return left != right if isinstance(node.op, ast.Sub) else left or right
    return isinstance(node, ast.Name) and node.id in pointers(function)


def pointers(function: JitFunction) -> frozenset[str]:
    """Names that hold addresses: what loads, stores and atomics go by, and what that is made of by adding."""
    found: set[str] = set()
    for node in body_nodes(function.node):
        if isinstance(node, ast.Call) and node.args:
            word = _word(node.func)
            if word in ("load", "store") or word.startswith("atomic_"):
                found |= _heads(node.args[0])
    given = {item.arg for item in function.parameters}
    while True:
        more = set(found)
        for node in body_nodes(function.node):
            if isinstance(node, (ast.Assign, ast.AugAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    if isinstance(target, ast.Name) and target.id in found:
                        more |= _heads(node.value) & (given | found | function.locals)
        if more == found:
            break
        found = more
    # An offset is added to an address, too: of a sum only parameters that nothing multiplies can be addresses.
    return frozenset(name for name in found if name not in function.constants and not _is_offset(name, function))


def _heads(node: ast.AST) -> set[str]:
    """Names at the left end of a sum: `p` of `p + i * s + j`."""
    while isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        node = node.left
    return {node.id} if isinstance(node, ast.Name) else set()


def _is_offset(name: str, function: JitFunction) -> bool:
    nodes = (n for n in body_nodes(function.node) if isinstance(n, ast.BinOp))
    return any(
        not isinstance(n.op, (ast.Add, ast.Sub))
        and any(isinstance(side, ast.Name) and side.id == name for side in (n.left, n.right))
        for n in nodes
    )


def _named(call: ast.Call, *names: str) -> bool:
    return any(keyword.arg in names for keyword in call.keywords)


def _word(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
