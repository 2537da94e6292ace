"""What takes the place of something absent: it can be named, called, inherited from and passed on, but has no value.

Whoever asks for its value gets `DependsOnStandIn`, and what a call came to that reached a stand-in is no finding.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
import sys
from abc import ABCMeta
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import Any, NoReturn

_NEWEST = "999.0.0"
"""The release that an absent package is taken to be of."""
_ERROR = re.compile(r"(?:Error|Exception|Warning)$")
_DATACLASSES = frozenset(("dataclass", "define", "frozen"))
"""Decorators that make what the standard library's `dataclass` does, or nearly so."""
_TYPING = ("typing", "typing_extensions", "dataclasses")
"""Who compares an annotation with those that mean something special."""
_TYPE = "stand-in for "
_NAMED = re.compile(f"{_TYPE}([^'\"]+)")
_MARK = "_depends_on_stand_in"


class DependsOnStandIn(Exception):
    """The value of a stand-in is asked for; `origin` is what it stands for."""

    def __init__(self, origin: str) -> None:
        super().__init__(f"it depends on the stand-in for `{origin}`")
        self.origin = origin


_reached: dict[str, None] = {}


def reach(origin: str) -> None:
    """Note that what happens from now on depends on a stand-in."""
    _reached[origin] = None


@contextmanager
def reaching() -> Iterator[dict[str, None]]:
    """What stand-ins are reached while this lasts, by what they stand for."""
    global _reached
    before, _reached = _reached, {}
    try:
        yield _reached
    finally:
        _reached = before


@contextmanager
def depending_on_nothing() -> Iterator[None]:
    """Raise DependsOnStandIn if a stand-in is reached while this lasts, or an error is about one."""
    with reaching() as reached:
        try:
            yield
        except Exception as error:
            origin = next(iter(reached), None) or reached_by(error)
            if origin is None:
                raise
            raise DependsOnStandIn(origin).with_traceback(error.__traceback__) from error
    if reached:
        raise DependsOnStandIn(next(iter(reached)))


def reached_by(error: BaseException) -> str | None:
    """What the stand-in stands for that an error is about: its own, or one that names a stand-in as of a wrong type."""
    if isinstance(error, DependsOnStandIn):
        return error.origin
    with suppress(Exception):  # the text may be the user's code
        if found := _NAMED.search(str(error)):
            return found[1]
    return None


def origin_of(value: Any) -> str | None:
    """What a value stands for where it is a stand-in, or a kernel that one has decorated."""
    if isinstance(value, StandInModule):
        return value.__name__
    if StandIn in type(value).__mro__:
        return str(vars(value)["_origin"])
    if isinstance(value, type) and value.__module__ == __name__ and (found := vars(value).get(_MARK)):
        return str(found)
    found = getattr(value, "__dict__", {}).get(_MARK)
    return found if isinstance(found, str) else None


def stand_in(origin: str) -> Any:
    """A stand-in for what has that dotted name."""
    name = origin.rpartition(".")[2]
    if _ERROR.search(name):
        return type(name, (Exception,), {_MARK: origin, "__module__": __name__})
    return type(f"{_TYPE}{origin}", (StandIn,), {})(origin)


def _no_value(self: StandIn, *_: Any, **__: Any) -> NoReturn:
    origin = vars(self)["_origin"]
    reach(origin)
    raise DependsOnStandIn(origin)


def _same(self: StandIn, *_: Any) -> Any:
    return self


class StandIn:
    """In the place of a class, a function or a value of what is absent."""

    def __init__(self, origin: str) -> None:
        vars(self).update(_origin=origin, _class=None)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        child = stand_in(f"{vars(self)['_origin']}.{name}")
        vars(self)[name] = child
        return child

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        origin: str = vars(self)["_origin"]
        if any(map(_is_tensor, _flat((*arguments, *keywords.values())))):
            _no_value(self)
        if len(arguments) == 1 and not keywords and _is_decorated(arguments[0]):
            return _decorated(origin, arguments[0])
        if origin.rpartition(".")[2] in _DATACLASSES and not arguments:
            return self
        return stand_in(origin)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        origin = vars(self)["_origin"]
        if vars(self)["_class"] is None:
            vars(self)["_class"] = _Inherited(origin.rpartition(".")[2], (_Base,), {_MARK: origin})
        found = vars(self)["_class"]
        return () if any(base is found for base in bases) else (found,)

    def __instancecheck__(self, instance: Any) -> bool:
        if origin_of(instance) is not None:
            _no_value(self)
        return self.__subclasscheck__(type(instance))

    def __subclasscheck__(self, subclass: type) -> bool:
        return any(
            base is vars(self)["_class"] for base in subclass.__mro__
        )  # nothing else can be of a class that is absent

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return other is self or (sys._getframe(1).f_globals.get("__name__") not in _TYPING and _no_value(self))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __repr__(self) -> str:
        return f"<{_TYPE}{vars(self)['_origin']}>"

    def __enter__(self) -> StandIn:
        reach(vars(self)["_origin"])
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing was entered."""

    __getitem__ = __or__ = __ror__ = _same
    __bool__ = __len__ = __iter__ = __contains__ = __int__ = __float__ = __index__ = __fspath__ = _no_value
    __lt__ = __le__ = __gt__ = __ge__ = __neg__ = __invert__ = __abs__ = __setitem__ = _no_value
    __add__ = __sub__ = __mul__ = __matmul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = _no_value
    __radd__ = __rsub__ = __rmul__ = __rmatmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rpow__ = _no_value
    __and__ = __rand__ = __lshift__ = __rshift__ = __rlshift__ = __rrshift__ = _no_value


class _Inherited(ABCMeta):
    """Of classes that inherit from what is absent: they have whatever attribute is asked for."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return stand_in(f"{_absent_base(cls)}.{name}")


def _absent_base(cls: type) -> str:
    return next(str(vars(base)[_MARK]) for base in cls.__mro__ if _MARK in vars(base))


class _Base:
    def __init__(self, *_: Any, **keywords: Any) -> None:
        vars(self).update(keywords)

    def __init_subclass__(cls, **_: Any) -> None:
        """Whatever the absent class makes of its keywords."""

    def __class_getitem__(cls, _: Any) -> Any:
        return cls

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return stand_in(f"{_absent_base(type(self))}.{name}")


class StandInModule(ModuleType):
    """In the place of a module that is absent, and of all modules below it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__: list[str] = []
        self.__version__ = _NEWEST

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            from tritonaudit.absent.stars import names_wanted

            return names_wanted(sys._getframe(1))
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        child = stand_in(f"{self.__name__}.{name}")
        setattr(self, name, child)
        return child


def _is_decorated(value: Any) -> bool:
    return inspect.isfunction(value) or inspect.isclass(value) or _is_kernel(value)


def _is_kernel(value: Any) -> bool:
    return hasattr(type(value), "run") and hasattr(value, "fn")


def _decorated(origin: str, value: Any) -> Any:
    """What an absent decorator makes of something: nearly that itself."""
    if not inspect.isclass(value):
        return depending(origin, value)
    is_bare = origin.rpartition(".")[2] in _DATACLASSES and "__init__" not in vars(value)
    return dataclasses.dataclass(value) if is_bare else value


def depending(origin: str, function: Any) -> Any:
    """A function or a kernel as it is, but whoever calls it depends on a stand-in."""
    if _is_kernel(function):
        inner = function
        while _is_kernel(inner):
            setattr(inner, _MARK, origin)
            inner = inner.fn
        return function

    @functools.wraps(function)
    def called(*arguments: Any, **keywords: Any) -> Any:
        reach(origin)
        return function(*arguments, **keywords)

    return called


def _flat(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, dict):
            yield from _flat(value.values())
        elif isinstance(value, (tuple, list)):
            yield from _flat(value)
        else:
            yield value


def _is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)
