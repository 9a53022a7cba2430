"""Integer expressions as polynomials over values that do not change, for proofs of equality.

Casts and widths are looked through: equality holds wherever the original did not overflow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from intelliperf.codegen.rules.lanes import initializer, written
from intelliperf.codegen.rules.uniformity import Uniformity
from intelliperf.codegen.syntax.tree import Node

Monomial = tuple[str, ...]  # atoms, sorted, with repetition
_CASTS = ("CStyleCastExpr", "CXXStaticCastExpr", "CXXFunctionalCastExpr", "ImplicitCastExpr")


@dataclass(frozen=True)
class Polynomial:
    terms: Mapping[Monomial, int]

    def __add__(self, other: Polynomial) -> Polynomial:
        terms = dict(self.terms)
        for monomial, factor in other.terms.items():
            terms[monomial] = terms.get(monomial, 0) + factor
        return Polynomial({monomial: factor for monomial, factor in terms.items() if factor})

    def __mul__(self, other: Polynomial) -> Polynomial:
        total = Polynomial({})
        for left, a in self.terms.items():
            for right, b in other.terms.items():
                total += Polynomial({tuple(sorted(left + right)): a * b})
        return total

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + other * constant(-1)

    def factor_of(self, atom: str) -> Polynomial:
        """What stands before the first power of `atom`."""
        terms: dict[Monomial, int] = {}
        for monomial, factor in self.terms.items():
            if monomial.count(atom) == 1:
                rest = list(monomial)
                rest.remove(atom)
                terms[tuple(rest)] = factor
        return Polynomial(terms)

    @property
    def atoms(self) -> frozenset[str]:
        return frozenset(atom for monomial in self.terms for atom in monomial)


def constant(value: int) -> Polynomial:
    return Polynomial({(): value} if value else {})


def atom(name: str) -> Polynomial:
    return Polynomial({(name,): 1})


GRID_THREAD = atom("blockIdx.x") * atom("blockDim.x") + atom("threadIdx.x")


@dataclass(frozen=True)
class Blocks:
    """Threads of a block along its axes, where all launches agree on more than one; values of outside constants."""

    sizes: Mapping[str, int]
    constants: Mapping[str, int]  # by the id of the declaration

    def named(self, polynomial: Polynomial) -> Polynomial:
        """With `blockDim` for a number that it is, beside the number or the count of blocks along its axis."""
        return sum((self._term(*term) for term in polynomial.terms.items()), constant(0))

    def _term(self, monomial: Monomial, factor: int) -> Polynomial:
        for axis, size in self.sizes.items():
            if not {f"blockIdx.{axis}", f"gridDim.{axis}"} & set(monomial) or f"blockDim.{axis}" in monomial:
                continue
            if factor % size == 0:
                return Polynomial({tuple(sorted((*monomial, f"blockDim.{axis}"))): factor // size})
            same = next((name for name in monomial if self.constants.get(name) == size), None)
            if same is not None:
                rest = list(monomial)
                rest[rest.index(same)] = f"blockDim.{axis}"
                return Polynomial({tuple(sorted(rest)): factor})
        return Polynomial({monomial: factor})


ANY_BLOCKS = Blocks({}, {})


class Algebra:
    """The polynomials of one kernel. Variables that differ between threads are replaced by what they are set to."""

    def __init__(self, kernel: Node, blocks: Blocks = ANY_BLOCKS) -> None:
        self._blocks = blocks
        self.uniform = Uniformity(kernel)
        self.names: dict[str, str] = {}  # of atoms that are variables
        self.modified = {identity for node in kernel.everything() if (identity := written(node)) is not None}
        self.free: set[str] = set()  # variables that are atoms though they change
        self.walked: dict[str, Polynomial] = {}  # what else a loop moves, by its id: where it is in each turn
        self.declared = {node.id: node for node in kernel.everything() if node.kind == "VarDecl"}

    def polynomial(self, expression: Node) -> Polynomial | None:
        """None where the expression is not a polynomial, or reads what may change."""
        if (parameter := _template_parameter(expression)) is not None:
            self.names[parameter.id] = parameter.name
            return atom(parameter.id)
        node = expression.bare()
        if node.kind in _CASTS:
            return self.polynomial(next(child for child in node.children if child.category))
        if node.kind == "IntegerLiteral":
            return constant(int(node.value))
        if node.kind == "Coordinate":
            return atom(node.name)
        if node.kind == "DeclRefExpr":
            return self._variable(node)
        if node.kind == "MemberExpr" and not self.uniform.varying(node):
            return self._member(node)
        if node.kind == "BinaryOperator" and node.opcode in ("+", "-", "*"):
            left, right = (self.polynomial(child) for child in node.children)
            if left is None or right is None:
                return None
            found = left + right if node.opcode == "+" else left - right if node.opcode == "-" else left * right
            return self._blocks.named(found) if self._blocks.sizes else found
        return None

    def start(self, pointer: Node) -> Polynomial | None:
        """Where a pointer leads that is not a polynomial; None: it depends on data."""
        return None

    def advance(self, pointer: str, use: Node) -> Polynomial | None:
        """How far a pointer was moved before `use`, for good; None: that is not known."""
        return None

    def place_elsewhere(self, pointer: str) -> Polynomial | None:
        """Where a pointer leads that changes, but not here; None: it does not change."""
        return None

    def only_steps(self, pointer: str) -> bool:
        """Does a pointer that changes stay in its array?"""
        return False

    def _variable(self, node: Node) -> Polynomial | None:
        reference = node.reference
        if reference is not None and reference.id in self.free:
            self.names[reference.id] = reference.name
            return atom(reference.id)
        if reference is None or reference.id in self.modified:
            return None
        declared = self.declared.get(reference.id)
        initial = initializer(declared) if declared is not None else None
        if initial is not None and self.uniform.varying(initial):
            return self.polynomial(initial)
        if self.uniform.varying(node):
            return None
        plain = self.polynomial(initial) if initial is not None else None
        # A name for the block's number stands for it; other values keep the program's name.
        if plain is not None and (plain.atoms <= _SHAPE or plain.atoms & _BLOCK):
            return plain
        self.names[reference.id] = reference.name
        return atom(reference.id)

    def _member(self, node: Node) -> Polynomial | None:
        base = node.children[0].bare() if node.children else node
        if base.kind != "DeclRefExpr" or base.reference is None or base.reference.id in self.modified:
            return None
        key = f"{base.reference.id}.{node.name}"
        self.names[key] = f"{base.reference.name}.{node.name.removeprefix('.')}"
        return atom(key)

    def text(self, polynomial: Polynomial) -> str:
        """The polynomial in the program's names, `0` if it is nothing."""
        parts = []
        for monomial, factor in polynomial.terms.items():
            factors = [self.names.get(name, name) for name in monomial]
            if factor != 1 or not factors:
                factors.insert(0, str(factor))
            parts.append(" * ".join(factors))
        return " + ".join(parts) or "0"


def _template_parameter(expression: Node) -> Node | None:
    """The parameter of the template that an instantiation has replaced by its value here."""
    node = expression
    while node.kind in ("ImplicitCastExpr", "ParenExpr", "ConstantExpr") and node.children:
        node = node.children[0]
    if node.kind != "SubstNonTypeTemplateParmExpr" or not node.children:
        return None
    return node.children[0] if node.children[0].kind == "NonTypeTemplateParmDecl" else None


_SHAPE = frozenset(f"{name}.{axis}" for name in ("blockDim", "gridDim") for axis in "xyz")
_BLOCK = frozenset(f"blockIdx.{axis}" for axis in "xyz")
