"""`@record(frozen=True)`: a frozen dataclass whose methods are not compiled.

`@dataclass(frozen=True)` compiles six functions for each class, which took a quarter of every start. The classes here
share one set of methods, which look up the fields instead. `fields`, `replace` and `asdict` know them as dataclasses;
so does the type checker, to which this is the standard decorator. Where objects are made by the million, that one is
the faster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["record"]

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:
    from dataclasses import MISSING, FrozenInstanceError, dataclass, fields
    from functools import cache

    def record(*, frozen):
        """The decorator; `frozen` says what the reader should know, and has no other value."""
        assert frozen is True

        def decorate(kind):
            for name, method in _METHODS.items():
                if name not in kind.__dict__:
                    setattr(kind, name, method)
            return dataclass(init=False, repr=False, eq=False)(kind)

        return decorate

    def _fill(self, *values, **named):
        known = _fields(type(self))
        if len(values) > len(known):
            raise TypeError(f"{type(self).__name__} takes {len(known)} values, not {len(values)}")
        given = dict(zip(known, values, strict=False))
        for name in named:
            if name in given or name not in known:
                problem = "two values for" if name in given else "no such field as"
                raise TypeError(f"{type(self).__name__}: {problem} {name}")
        given.update(named)
        for name, field in known.items() if len(given) < len(known) else ():
            if name not in given:
                given[name] = _default(self, field)
        self.__dict__.update(given)
        if hasattr(self, "__post_init__"):
            self.__post_init__()

    @cache
    def _fields(kind):
        return {field.name: field for field in fields(kind)}

    def _default(self, field):
        if field.default is not MISSING:
            return field.default
        if field.default_factory is not MISSING:
            return field.default_factory()
        raise TypeError(f"{type(self).__name__}: {field.name} is missing")

    def _values(self):
        return tuple(map(self.__dict__.__getitem__, _fields(type(self))))

    def _shown(self):
        parts = zip(_fields(type(self)), _values(self), strict=True)
        return f"{type(self).__qualname__}({', '.join(f'{name}={value!r}' for name, value in parts)})"

    def _equal(self, other):
        return _values(self) == _values(other) if type(self) is type(other) else NotImplemented

    def _hashed(self):
        return hash(_values(self))

    def _refuse_assignment(self, name, value):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def _refuse_deletion(self, name):
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    _METHODS = {
        "__init__": _fill,
        "__repr__": _shown,
        "__eq__": _equal,
        "__hash__": _hashed,
        "__setattr__": _refuse_assignment,
        "__delattr__": _refuse_deletion,
    }
