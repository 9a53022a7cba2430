"""Shapes of a Triton kernel's values, as the source spells them: ("BLOCK",), ("BM", "1"), () for a scalar."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from intelliperf.codegen.rules.triton import Kernel, argument, word_of

Shape = tuple[str, ...]
_DEEPEST = 40


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SAME = words(
    "abs exp exp2 log log2 sin cos sqrt sqrt_rn rsqrt erf floor ceil to cast cumsum cumprod sort flip sigmoid softmax "
    "multiple_of max_contiguous max_constancy zeros_like"
)
_TOGETHER = words("where maximum minimum fma load add sub mul fdiv div_rn clamp umulhi cdiv")
_REDUCING = words("sum max min argmax argmin xor_sum reduce_or")
_SCALARS = words("program_id num_programs cdiv next_power_of_2 float")


def shape_of(kernel: Kernel, node: ast.expr, given: Mapping[str, Shape] | None = None, depth: int = 0) -> Shape | None:
    """None where it cannot be told."""
    if depth > _DEEPEST:
        return None
    return _Shapes(kernel, given or {}, depth).of(node)


class _Shapes:
    def __init__(self, kernel: Kernel, given: Mapping[str, Shape], depth: int) -> None:
        self._kernel = kernel
        self._given = given
        self._depth = depth

    def of(self, node: ast.expr) -> Shape | None:
        if isinstance(node, ast.Constant):
            return ()
        if isinstance(node, ast.Name):
            return self._name(node.id)
        if isinstance(node, (ast.BinOp, ast.Compare, ast.BoolOp)):
            return self._all(_operands(node))
        if isinstance(node, ast.UnaryOp):
            return self.of(node.operand)
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Attribute) and node.attr == "T":
            turned = self.of(node.value)
            return turned[::-1] if turned is not None and len(turned) == 2 else None
        return None

    def _deeper(self, node: ast.expr) -> Shape | None:
        return shape_of(self._kernel, node, self._given, self._depth + 1)

    def _name(self, name: str) -> Shape | None:
        if name in self._given:
            return self._given[name]
        if name in {item.arg for item in self._kernel.function.parameters}:
            return ()
        found = [statement for statement in self._kernel.definitions(name)]
        if not found:
            return ()
        first = found[0]  # Triton keeps a variable's shape through loops and conditions
        if isinstance(first, ast.For):
            return ()
        if isinstance(first, ast.Assign) and len(first.targets) == 1:
            return self._one_of(name, first.targets[0], first.value)
        return self._deeper(first.value) if isinstance(first, ast.AnnAssign) and first.value is not None else None

    def _one_of(self, name: str, target: ast.expr, value: ast.expr) -> Shape | None:
        """Of a variable that is set alone, or together with others."""
        if isinstance(target, ast.Name):
            return self._deeper(value)
        names = [item.id if isinstance(item, ast.Name) else "" for item in getattr(target, "elts", ())]
        if isinstance(value, ast.Tuple) and len(value.elts) == len(names) and names.count(name) == 1:
            return self._deeper(value.elts[names.index(name)])
        if isinstance(value, ast.Call) and self._kernel.called(value) == "swizzle2d":
            return self._deeper(value.args[0]) if value.args else None
        return None

    def _all(self, nodes: Sequence[ast.expr]) -> Shape | None:
        result: Shape | None = ()
        for node in nodes:
            other = self.of(node)
            result = None if result is None or other is None else together(result, other)
        return result

    def _subscript(self, node: ast.Subscript) -> Shape | None:
        """`x[:, None]`."""
        base = self.of(node.value)
        if base is None:
            return None
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        result: list[str] = []
        left = list(base)
        for item in items:
            if isinstance(item, ast.Constant) and item.value is None:
                result.append("1")
            elif isinstance(item, ast.Slice) and left and item.lower is item.upper is item.step is None:
                result.append(left.pop(0))
            else:
                return None
        return (*result, *left)

    def _call(self, call: ast.Call) -> Shape | None:
        word = self._kernel.called(call)
        if word in _SCALARS:
            return ()
        if word == "arange":
            return self._arange(call)
        if word in ("zeros", "full"):
            return _dimensions(argument(call, 0, "shape"))
        if word in ("reshape", "view", "broadcast_to"):
            return self._reshaped(call)
        operands = self._operands(call, word)
        if word == "load" and (block := self._block_of(call)) is not None:
            return _dimensions(block)
        if isinstance(call.func, ast.Name) and word == "" and call.func.id in ("min", "max"):
            return self._all(call.args)  # Python's own, which Triton takes for elements
        if word in (*_REDUCING, "expand_dims"):
            return self._along_axis(call, word, operands)
        if word in _SAME and operands:
            return self.of(operands[0])
        if word in _TOGETHER:
            more = [k.value for k in call.keywords if k.arg in ("mask", "other")]
            return self._all([*operands[:3], *more] if word != "load" else [*operands[:2], *more[:1]])
        if word == "dot" and len(operands) >= 2:
            return _product(self.of(operands[0]), self.of(operands[1]))
        if word in ("trans", "permute") and len(operands) == 1:
            turned = self.of(operands[0])
            return turned[::-1] if turned is not None and len(turned) == 2 else None
        return self._helper(call) if word == "" else None

    def _block_of(self, call: ast.Call) -> ast.expr | None:
        """The block that `descriptor.load(…)` reads."""
        if not isinstance(call.func, ast.Attribute) or not isinstance(call.func.value, ast.Name):
            return None
        made = self._kernel.definition(call.func.value.id)
        if not isinstance(made, ast.Call) or self._kernel.called(made) != "make_tensor_descriptor":
            return None
        return argument(made, 3, "block_shape")

    def _operands(self, call: ast.Call, word: str) -> list[ast.expr]:
        """Of `tl.sum(x)` and of `x.sum()` alike."""
        method = self._kernel.function.module.dotted(call.func) is None and isinstance(call.func, ast.Attribute)
        return [call.func.value, *call.args] if method and isinstance(call.func, ast.Attribute) else list(call.args)

    def _arange(self, call: ast.Call) -> Shape | None:
        first, last = argument(call, 0, "start"), argument(call, 1, "end")
        if not isinstance(first, ast.Constant) or first.value != 0 or last is None:
            return None
        return (ast.unparse(last),)

    def _reshaped(self, call: ast.Call) -> Shape | None:
        operands = self._operands(call, "")
        if len(operands) == 2:
            return _dimensions(operands[1])
        return tuple(ast.unparse(item) for item in operands[1:]) or None

    def _along_axis(self, call: ast.Call, word: str, operands: Sequence[ast.expr]) -> Shape | None:
        """Of a reduction, or of what gets a further dimension."""
        base = self.of(operands[0]) if operands else None
        axis = operands[1] if len(operands) > 1 else next((k.value for k in call.keywords if k.arg == "axis"), None)
        if base is None or any(k.arg == "return_indices" for k in call.keywords):
            return None
        if word == "expand_dims":
            at = _axis(axis, len(base) + 1)
            return None if at is None else (*base[:at], "1", *base[at:])
        keeps = next((k.value for k in call.keywords if k.arg == "keep_dims"), ast.Constant(False))
        if not isinstance(keeps, ast.Constant):
            return None
        if axis is None or isinstance(axis, ast.Constant) and axis.value is None:
            return ("1",) * len(base) if keeps.value else ()
        at = _axis(axis, len(base))
        return None if at is None else (*base[:at], *(("1",) if keeps.value else ()), *base[at + 1 :])

    def _helper(self, call: ast.Call) -> Shape | None:
        """Of a jit function of the project, with the shapes that it is given."""
        if not isinstance(call.func, (ast.Name, ast.Attribute)) or any(isinstance(a, ast.Starred) for a in call.args):
            return None
        helpers = self._kernel.program.jit_named(self._kernel.function, call.func)
        if len(helpers) != 1:
            return None
        (helper,) = helpers
        returns = [n.value for n in ast.walk(helper.node) if isinstance(n, ast.Return)]
        names = [item.arg for item in helper.parameters]
        values = {**dict(zip(names, call.args, strict=False)), **{k.arg: k.value for k in call.keywords if k.arg}}
        if len(returns) != 1 or returns[0] is None:
            return None
        shapes = {name: self.of(value) for name, value in values.items()}
        known = {name: shape for name, shape in shapes.items() if shape is not None}
        inside = Kernel(helper, self._kernel.source, self._kernel.program)
        found = shape_of(inside, returns[0], known, self._depth + 1)
        return _renamed(found, {name: ast.unparse(value) for name, value in values.items()}) if found else found


def _renamed(shape: Shape, given: Mapping[str, str]) -> Shape | None:
    """Sizes in the caller's words."""
    renamed = tuple(given.get(size, size if size.isdigit() else "") for size in shape)
    return None if "" in renamed else renamed


def together(one: Shape, other: Shape) -> Shape | None:
    """Broadcast."""
    longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
    padded = ("1",) * (len(longer) - len(shorter)) + shorter
    result = []
    for left, right in zip(longer, padded, strict=True):
        if left != right and "1" not in (left, right):
            return None
        result.append(right if left == "1" else left)
    return tuple(result)


def spelled(shape: Shape) -> str:
    """As Python source."""
    return f"({shape[0]},)" if len(shape) == 1 else f"({', '.join(shape)})"


def _axis(node: ast.expr | None, dimensions: int) -> int | None:
    """Counted from 0; None where it cannot be told."""
    negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    number = node.operand if isinstance(node, ast.UnaryOp) and negative else node
    if not isinstance(number, ast.Constant) or type(number.value) is not int:
        return None
    axis = -number.value if negative else number.value
    return axis % dimensions if -dimensions <= axis < dimensions else None


def _product(one: Shape | None, other: Shape | None) -> Shape | None:
    if one is None or other is None or len(one) != 2 or len(other) != 2:
        return None
    return one[0], other[1]


def _dimensions(node: ast.expr | None) -> Shape | None:
    if isinstance(node, (ast.Tuple, ast.List)):
        return tuple(ast.unparse(item) for item in node.elts)
    return None


def _operands(node: ast.BinOp | ast.Compare | ast.BoolOp) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    return [node.left, *node.comparators] if isinstance(node, ast.Compare) else node.values


def is_full_reduction(kernel: Kernel, call: ast.Call, words: Sequence[str]) -> bool:
    """Does it reduce all lanes to one number?"""
    if kernel.called(call) not in words and word_of(call) not in words:
        return False
    return shape_of(kernel, call) == ()
