"""Records to JSON values and back, by their declared types.

Text that is not valid UTF-8 (kept with surrogateescape) survives the round trip. A value of
another shape than the type says raises `ProtocolError`: files are read back strictly.
"""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from intelliperf.errors import ProtocolError

T = TypeVar("T")


def encode(value: object) -> Any:
    """A JSON value: dataclasses become objects, tuples arrays, enums their value, paths text."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: encode(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(encode(key)): encode(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [encode(item) for item in value]
    raise TypeError(f"no JSON form for {type(value).__name__}")


def decode(kind: type[T], value: object) -> T:
    """The record of type `kind` that `encode` made `value` from."""
    try:
        return _decode(kind, value)  # type: ignore[no-any-return]
    except (TypeError, ValueError, KeyError) as error:
        raise ProtocolError(f"not a {getattr(kind, '__name__', kind)}: {error}") from error


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _decode(kind: Any, value: Any) -> Any:
    if kind is Any or kind is object:
        return value
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _decode_union(get_args(kind), value)
    if origin is tuple:
        return _decode_tuple(get_args(kind), value)
    if origin is not None and issubclass(origin, Mapping):
        key, item = get_args(kind)
        return {_decode(key, k): _decode(item, v) for k, v in _checked(value, dict).items()}
    if origin is not None and issubclass(origin, Sequence):
        (item,) = get_args(kind)
        return tuple(_decode(item, v) for v in _checked(value, list))
    if dataclasses.is_dataclass(kind):
        return _decode_record(kind, value)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    if kind is Path:
        return Path(_checked(value, str))
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return _checked(value, kind)


def _decode_union(kinds: tuple[Any, ...], value: Any) -> Any:
    if value is None:
        if type(None) not in kinds:
            raise TypeError("null is not allowed here")
        return None
    others = [k for k in kinds if k is not type(None)]
    kind = others[0] if len(others) == 1 else next((k for k in others if type(value) is k), None)
    if kind is None:
        raise TypeError(f"{type(value).__name__} is none of {', '.join(k.__name__ for k in others)}")
    return _decode(kind, value)


def _decode_tuple(kinds: tuple[Any, ...], value: Any) -> Any:
    items = _checked(value, list)
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        return tuple(_decode(kinds[0], item) for item in items)
    if len(items) != len(kinds):
        raise TypeError(f"{len(items)} values instead of {len(kinds)}")
    return tuple(_decode(kind, item) for kind, item in zip(kinds, items, strict=True))


def _decode_record(kind: Any, value: Any) -> Any:
    hints = _hints(kind)
    fields = {f.name: f for f in dataclasses.fields(kind)}
    given = _checked(value, dict)
    if unknown := set(given) - set(fields):
        raise TypeError(f"unknown field {sorted(unknown)[0]!r} of {kind.__name__}")
    return kind(**{name: _decode(hints[name], item) for name, item in given.items()})


def _checked(value: Any, kind: type) -> Any:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise TypeError(f"{value!r:.60} is not {kind.__name__}")
    return value
