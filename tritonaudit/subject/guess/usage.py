"""What host code says about the parameters of a wrapper: the shapes, dtypes and values with which it works."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from tritonaudit.subject.guess.values import Dim, Extent, Literal
from tritonaudit.subject.wrappers import HostFunction, LaunchSite, Wrapper


@dataclass
class ParameterUse:
    """What the code says about one parameter. Axes are counted as the code does.

    `ranks` are those without which it would fail, with how much weighs for each, `asked_ranks` those that it only
    asks about. `names` are axes, the rank with which they are spoken of if any, and what the code calls them; `parts`
    is what one less than the length is called. `allowed` and `most` are the sizes that an axis may have. `words` are
    constants that the parameter is compared with. `is_object` says that it has attributes which no tensor has,
    `is_needed` that its default of None will not do.
    """

    is_tensor: bool = False
    is_object: bool = False
    ranks: Counter[int] = field(default_factory=Counter)
    asked_ranks: list[int] = field(default_factory=list)
    axes: set[int] = field(default_factory=set)
    names: list[tuple[int, int | None, str]] = field(default_factory=list)
    allowed: dict[int, tuple[int, ...]] = field(default_factory=dict)
    most: dict[int, int] = field(default_factory=dict)
    dtypes: list[str] = field(default_factory=list)
    words: list[object] = field(default_factory=list)
    parts: str | None = None
    is_reshaped: bool = False
    is_written: bool = False
    is_needed: bool = False

    @property
    def least_rank(self) -> int:
        """The rank that has all the axes which the code speaks of."""
        return max((axis + 1 if axis >= 0 else -axis for axis in self.axes), default=0)


@dataclass(frozen=True)
class Passed:
    """What a launch passes for each parameter of its kernel, where it is known, and the sizes of its grid."""

    site: LaunchSite
    arguments: Mapping[str, object]
    grid: tuple[object, ...]


@dataclass
class Usage:
    """All that the code says about the parameters of a wrapper.

    `same_shape` are pairs of tensors, with how many of their last axes may differ. `bounded` are axes with what bounds
    a kernel's accesses to them, which is their size unless the kernel has a reason.
    """

    parameters: dict[str, ParameterUse]
    equal: list[tuple[Extent, Extent]] = field(default_factory=list)
    bounded: list[tuple[Dim, Extent]] = field(default_factory=list)
    same_shape: list[tuple[str, str, int]] = field(default_factory=list)
    same_dtype: list[tuple[str, str]] = field(default_factory=list)
    passed: list[Passed] = field(default_factory=list)

    def of(self, name: str) -> ParameterUse:
        return self.parameters.setdefault(name, ParameterUse())

    def tensor(self, name: str) -> None:
        """Note that a parameter is a tensor."""
        self.of(name).is_tensor = True

    def rank(self, name: str, rank: int, *, is_checked: bool = False) -> None:
        """Note that a tensor has a rank: the code checks it, or else would fail with another."""
        self.tensor(name)
        self.of(name).ranks[rank] += 100 if is_checked else 10

    def axis(self, name: str, axis: int) -> None:
        """Note that a tensor has an axis."""
        self.tensor(name)
        self.of(name).axes.add(axis)

    def name(self, dim: Dim, name: str, rank: int | None) -> None:
        """Note what the code calls a dimension of a tensor of that rank."""
        if name.strip("_"):
            self.of(dim.of).names.append((dim.axis, rank, name))


def defaults_of(node: HostFunction) -> dict[str, ast.expr]:
    """The parameters that need not be given, with their defaults."""
    positional = [*node.args.posonlyargs, *node.args.args]
    last = zip(reversed(positional), reversed(node.args.defaults), strict=False)
    named = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    return {argument.arg: default for argument, default in (*last, *named) if default is not None}


def default_value(node: ast.expr) -> object:
    """A default as far as it is a constant."""
    try:
        return Literal(ast.literal_eval(node))
    except (ValueError, TypeError):
        return None


def parameters_of(wrapper: Wrapper) -> list[ast.arg]:
    """The parameters that a caller gives, those that gather the rest left out."""
    arguments = wrapper.node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    return [*positional[int(wrapper.skips_context) :], *arguments.kwonlyargs]
