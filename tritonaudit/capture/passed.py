"""What a kernel's launches pass, as the host code makes them: at trial sizes, which stand for what comes in."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tritonaudit import usual
from tritonaudit.domains.affine import Affine, Atom
from tritonaudit.host.arithmetic import TooLarge
from tritonaudit.host.facts import AT_MOST, EQUAL, IS, TRUTH
from tritonaudit.host.host import Host, LaunchSite, used_as_tensors
from tritonaudit.host.run import CONTIGUOUS
from tritonaudit.host.values import Condition, Described, Dtype, Kernel, Key, Ratio, Symbol, Tensor, Value

_MOST_LAUNCHES = 6


_SCALARS = ("int", "float", "bool", "str", "Optional[int]", "Optional[float]", "Optional[bool]", "Optional[str]")
"""Annotations of what is None where it is left out; of others, a tensor is given."""


class _Unknown:
    """The one value of which nothing is known."""

    def __repr__(self) -> str:
        return "unknown"


UNKNOWN: Any = _Unknown()


class LeftOut(Exception):
    """The host code uses as a tensor what its caller leaves out."""


@dataclass(frozen=True)
class Pointed:
    """A tensor that is passed; its dtype, where the text tells it."""

    dtype: str | None


@dataclass(frozen=True)
class DescribedBlock:
    """A descriptor that is passed: the dtype of its tensor, and the sizes of its block as far as they are known."""

    dtype: str | None
    block: tuple[int | None, ...]


@dataclass(frozen=True)
class Given:
    """What is passed for a parameter, and whether that rests on the trial sizes."""

    value: Any
    guessed: bool = False


@dataclass(frozen=True)
class Passed:
    """What one launch passes: values by the kernel's parameters, and the launch's own options, such as num_warps."""

    site: LaunchSite
    arguments: Mapping[str, Given]
    options: Mapping[str, int]


@dataclass
class Launched:
    """The launches of a kernel, of which that comes first of which the text tells most.

    `counts` are parameters that the kernel's body says to be small, `pointers` those that it uses as addresses.
    """

    host: Host
    sites: tuple[LaunchSite, ...]
    dtype: str
    counts: Mapping[str, int]
    pointers: frozenset[str] = frozenset()
    calls: list[Passed] = field(init=False)

    def __post_init__(self) -> None:
        by_call: dict[int, list[LaunchSite]] = {}
        for site in self.sites:
            by_call.setdefault(id(site.call), []).append(site)
        found = [self._best(sites) for sites in list(by_call.values())[:_MOST_LAUNCHES]]
        self.calls = sorted((one for one in found if one is not None), key=lambda one: -len(one.arguments))

    def _best(self, sites: list[LaunchSite], without: Key | None = None) -> Passed | None:
        """The launch on the path that trial sizes take; another one where there is none that they surely take."""
        trials = [_Trial(self, site, without) for site in sites]
        ranked = [(trial, trial.contradictions()) for trial in trials]
        if without is not None:
            ranked = [(trial, count) for trial, count in ranked if count == 0]
        chosen = min(ranked, key=lambda pair: pair[1], default=None)
        return None if chosen is None else chosen[0].passed()

    def without_optional(self) -> Iterator[tuple[str, Passed, Passed]]:
        """For each tensor that a wrapper's caller may leave out, what is passed with and without it."""
        for passed in self.calls:
            sites = [site for site in self.sites if site.call is passed.site.call]
            for name in _optional(passed.site.entry.node):
                if _Trial(self, passed.site).is_tensor(("input", name)):
                    try:
                        without = self._best(sites, ("input", name))
                    except LeftOut:
                        continue
                    if without is not None:
                        yield name, passed, without


def _optional(node: ast.FunctionDef) -> Iterator[str]:
    """The parameters that are None by default."""
    for name, default in _defaults(node).items():
        if isinstance(default, ast.Constant) and default.value is None:
            yield name


def _defaults(node: ast.FunctionDef) -> dict[str, ast.expr]:
    spec = node.args
    positional = [arg.arg for arg in (*spec.posonlyargs, *spec.args)]
    found = dict(zip(positional[len(positional) - len(spec.defaults) :], spec.defaults, strict=True))
    only = zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
    return {**found, **{arg.arg: default for arg, default in only if default is not None}}


class _Trial:
    """One launch with numbers, dtypes and truth values put in for what its host code is given."""

    def __init__(self, launched: Launched, site: LaunchSite, without: Key | None = None) -> None:
        self._launched, self._site, self._without = launched, site, without
        node = site.entry.node
        self._annotated = {
            arg.arg: ast.unparse(arg.annotation)
            for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            if arg.annotation is not None
        }
        self._defaults = _defaults(node)
        self._asked = used_as_tensors(node, site.entry.scope.module)
        self._saved = launched.host.saved(site.entry)
        self._chosen = dict(site.configs[0].constants) if site.configs else {}
        self._named = self._names()

    def _names(self) -> dict[Atom, str]:
        """What sizes are called by the host code, or by the kernel: `D` of `x.shape[1]`."""
        found = dict(self._site.made.called)
        for name, value in self._site.arguments.items():
            whole = value.atom if isinstance(value, Affine) else None
            if whole is not None and (whole not in found or name in self._launched.counts):
                found[whole] = name
        return found

    # -- the launch ----------------------------------------------------------------------------------------------

    def passed(self) -> Passed:
        arguments = {name: self.given(value) for name, value in self._site.arguments.items()}
        options = {name: value.value for name, value in self._site.options.items() if isinstance(value, Affine)}
        return Passed(
            self._site,
            {name: given for name, given in arguments.items() if given.value is not UNKNOWN},
            {name: value for name, value in options.items() if value is not None},
        )

    def contradictions(self) -> int:
        """How many of the conditions on the way to the launch do not hold."""
        return sum(self.truth(condition) is False for condition in self._site.conditions)

    def is_tensor(self, key: Key) -> bool:
        """Whether an input is a tensor: by its annotation, by what it is asked for, by the pointer that it becomes."""
        name = str(key[1]) if key[0] == "input" and len(key) == 2 else ""
        if "Tensor" in self._annotated.get(name, "") or name in self._asked:
            return True
        passed = (value for name, value in self._site.arguments.items() if name in self._launched.pointers)
        symbols = (value.symbol if isinstance(value, Tensor) else value for value in passed)
        return any(isinstance(symbol, Symbol) and symbol.key == key for symbol in symbols)

    # -- values --------------------------------------------------------------------------------------------------

    def given(self, value: Value) -> Given:
        """A value of the host code as what a kernel is passed."""
        if isinstance(value, Affine):
            return Given(self._number(value), value.value is None)
        if isinstance(value, Condition):
            truth = self.truth(value)
            return Given(UNKNOWN if truth is None else truth, True)
        if isinstance(value, Symbol):
            return self._symbol(value)
        if isinstance(value, Tensor):
            return self._tensor(value)
        if isinstance(value, Ratio):
            above, below = self._number(value.above), self._number(value.below)
            is_known = isinstance(above, int) and isinstance(below, int) and below != 0
            return Given(above / below if is_known else UNKNOWN, True)
        if isinstance(value, Described):
            block = value.block if isinstance(value.block, (tuple, list)) else ()
            sizes = tuple(size.value if isinstance(size, Affine) else None for size in block)
            return Given(DescribedBlock(self._tensor(value.tensor).value.dtype, sizes))
        if isinstance(value, (tuple, list)):
            parts = [self.given(part) for part in value]
            is_known = all(part.value is not UNKNOWN for part in parts)
            return Given(tuple(p.value for p in parts) if is_known else UNKNOWN, any(p.guessed for p in parts))
        is_plain = value is None or isinstance(value, (bool, float, str, Dtype, Kernel))
        return Given(value if is_plain else UNKNOWN)

    def _tensor(self, value: Tensor) -> Given:
        if value.symbol.key == self._without:
            raise LeftOut
        known = value.dtype.name if isinstance(value.dtype, Dtype) else None
        if known is None and value.symbol.key[0] == "input" and not self.is_tensor(value.symbol.key):
            return Given(UNKNOWN)  # a decorator asks it of whatever comes in
        if known is None and isinstance(value.dtype, Symbol):
            kept = self._kept(value.dtype.key[:-1])
            known = kept.dtype.name if isinstance(kept, Tensor) and isinstance(kept.dtype, Dtype) else None
        return Given(Pointed(known))

    def _kept(self, key: Key) -> Value:
        """What the forward of an autograd function has kept for its backward by this key."""
        return self._saved.get(key)

    def _symbol(self, symbol: Symbol) -> Given:
        key = symbol.key
        if key == self._without:
            return Given(None)
        if key[0] == "config":
            chosen = self._chosen.get(str(key[-1]))
            return Given(UNKNOWN) if chosen is None else self.given(chosen)
        kept = self._kept(key)
        if kept is not None and kept is not symbol:
            return self.given(kept)
        if key[-1] == "dtype":
            return self._dtype_of(key[:-1])
        if symbol.reason:
            return Given(UNKNOWN)
        if self.is_tensor(key):
            return Given(Pointed(None))
        return self._input(str(key[1])) if key[0] == "input" and len(key) == 2 else Given(UNKNOWN)

    def _dtype_of(self, key: Key) -> Given:
        kept = self._kept(key)
        if isinstance(kept, Tensor) and isinstance(kept.dtype, Dtype):
            return Given(kept.dtype)
        return Given(Dtype(self._launched.dtype), True)

    def _input(self, name: str) -> Given:
        """A parameter of the wrapper by its default or its annotation."""
        default, annotation = self._defaults.get(name), self._annotated.get(name, "")
        if isinstance(default, ast.Constant) and (default.value is not None or annotation.startswith(_SCALARS)):
            return Given(default.value)
        if annotation in ("int", "Optional[int]", "int | None") and not usual.is_float(name):
            return Given(usual.number(name), True)
        if "float" in annotation:
            return Given(1.0)
        if annotation == "bool":
            return Given(False)
        return Given(Dtype(self._launched.dtype), True) if "dtype" in annotation else Given(UNKNOWN)

    # -- numbers and conditions ----------------------------------------------------------------------------------

    def _number(self, value: Affine) -> Any:
        try:
            found = self._site.arithmetic.put_in(value, self._size)
        except (TooLarge, ArithmeticError, ValueError):
            return UNKNOWN
        return UNKNOWN if found.value is None else found.value

    def _size(self, atom: Atom) -> Affine | None:
        """A trial size for what comes in; None for functions of others."""
        return None if atom.inner else Affine.constant(self._whole(atom))

    def _whole(self, atom: Atom) -> int:
        key: Any = self._site.arithmetic.keys.get(atom) or ()
        if self._without is not None and key[: len(self._without)] == self._without:
            raise LeftOut
        name = self._named.get(atom, atom.name)
        if name in self._launched.counts:
            return self._launched.counts[name]
        if key:
            known = self._symbol(Symbol(key, atom.name)).value
            if isinstance(known, int):
                return int(known)
        if "stride" in key:
            index = key[-1]
            return 1 if index in (-1, self._site.ranks.get(key[: key.index("stride")], 0) - 1) else usual.SIZE
        return usual.ELEMENTS if "numel" in key else usual.number(name.rpartition(".")[2])

    def truth(self, condition: Condition) -> bool | None:
        """Whether it holds; None where that is not known."""
        decide = _DECIDE.get(condition.test.relation)
        found = None if decide is None else decide(self, condition)
        return None if found is None else found is condition.holds

    def _is_zero(self, condition: Condition) -> bool | None:
        assert condition.test.polynomial is not None
        found = self._number(condition.test.polynomial)
        return None if found is UNKNOWN else bool(found == 0)

    def _is_at_most_zero(self, condition: Condition) -> bool | None:
        assert condition.test.polynomial is not None
        found = self._number(condition.test.polynomial)
        return None if found is UNKNOWN else bool(found <= 0)

    def _is(self, condition: Condition) -> bool | None:
        key, known = condition.test.key[:2]
        if not isinstance(key, tuple) or key[:1] == ("shapes",):
            return None
        found = self._symbol(Symbol(key, str(key[-1]), condition.test.reason)).value
        if known is None:
            return found is None if found is not UNKNOWN or not condition.test.reason else None
        return None if found is UNKNOWN or isinstance(known, tuple) else bool(found == known)

    def _is_true(self, condition: Condition) -> bool | None:
        found = self._symbol(Symbol(condition.test.key, str(condition.test.key[-1]), condition.test.reason)).value
        return bool(found) if isinstance(found, (bool, int, float, str)) or found is None else None


_DECIDE: dict[str, Callable[[_Trial, Condition], bool | None]] = {
    EQUAL: _Trial._is_zero,
    AT_MOST: _Trial._is_at_most_zero,
    IS: _Trial._is,
    TRUTH: _Trial._is_true,
    CONTIGUOUS: lambda trial, condition: True,
}
