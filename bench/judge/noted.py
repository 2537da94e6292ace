"""A call of a subject as it is kept: its case, and what is passed otherwise than the subject says."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from tritonaudit.subject.model import Case, Subject

Arguments = tuple[tuple[Any, ...], dict[str, Any]]
SMALL, GAPS = "small", "gaps"
_LESS = 0.1


@dataclass(frozen=True)
class Change:
    """What a parameter is given: a number, a text or such as `value` spells it, or a tensor of these dimensions.

    A tensor of the dtype `offsets` says where as many sequences as its first dimension begin and end in its second.
    """

    parameter: str
    value: str = ""
    dims: tuple[str, ...] = ()
    dtype: str = ""

    @property
    def given(self) -> Any:
        """What stands for it among a subject's inputs."""
        from tritonaudit.subject.model import Offsets, Tensor

        if not self.dims:
            return ast.literal_eval(self.value)
        dims = [int(dim) if dim.isdigit() else dim for dim in self.dims]
        if self.dtype == "offsets":
            return Offsets(dims[0], dims[1], "int64")
        return Tensor(*dims, dtype=self.dtype or None)


@dataclass(frozen=True)
class Noted:
    """A call as it is kept: its sizes, dtype, layout and fill, the number of an autotuner's config, and the changes.

    `made` says what is done to its tensors: `small` numbers above 0, or `gaps` between elements. What is passed
    backward lies as they do.
    """

    sizes: tuple[tuple[str, int], ...]
    dtype: str
    layout: str
    fill: str = "normal"
    chosen: int | None = None
    changes: tuple[Change, ...] = ()
    made: str = ""

    @property
    def case(self) -> Case:
        """The case that was noted."""
        from tritonaudit.subject.model import Case, Layout

        is_transposed = self.layout == Layout.TRANSPOSED.value
        gradient = Layout.TRANSPOSED if is_transposed else Layout.SPREAD if self.made == GAPS else Layout.CONTIGUOUS
        return Case(dict(self.sizes), self.dtype, Layout(self.layout), self.fill, gradient=gradient)

    @property
    def label(self) -> str:
        """What tells it from other calls: `m=97 n=61 float16 padded bias=Tensor(n)`."""
        config = [] if self.chosen is None else [f"config {self.chosen}"]
        changes = [f"{one.parameter}={one.value or ' x '.join(one.dims)}" for one in self.changes]
        return " ".join((self.case.label, *config, *filter(None, [self.made]), *changes))

    def of_sizes(self, sizes: Mapping[str, int]) -> Noted:
        """The same with other sizes."""
        return replace(self, sizes=tuple({**dict(self.sizes), **sizes}.items()))

    def changed(self, *changes: Change) -> Noted:
        """The same with these changes, in place of others of the same parameters."""
        names = {one.parameter for one in changes}
        return replace(self, changes=(*(one for one in self.changes if one.parameter not in names), *changes))

    def arguments(self, subject: Subject) -> Arguments:
        """What is passed, by position and by name; the subject is the one that has the changes."""
        from tritonaudit.subject.inputs import make_inputs
        from tritonaudit.subject.varying import each_tensor

        made = make_inputs(subject, self.case)
        change = {SMALL: _small, GAPS: _with_gaps}.get(self.made)
        return made if change is None else each_tensor(made, lambda _, tensor: change(tensor))

    def applied(self, subject: Subject) -> Subject:
        """The subject whose inputs are those of the call."""
        for change in self.changes:
            subject = _changed(subject, change)
        return subject


def _small(tensor: torch.Tensor) -> torch.Tensor:
    if not tensor.is_floating_point():
        return tensor
    return (tensor.detach().float().abs() * _LESS).to(tensor.dtype).requires_grad_(tensor.requires_grad)


def _with_gaps(tensor: torch.Tensor) -> torch.Tensor:
    """The same elements, each two behind the one before it in its row."""
    if not tensor.dim():
        return tensor
    old = tensor.detach()
    wider = old.new_zeros((*old.shape[:-1], 2 * old.shape[-1]))
    return wider[..., ::2].copy_(old).requires_grad_(tensor.requires_grad)


def noted(case: Case) -> Noted:
    """A case of which nothing else than these differs from others."""
    return Noted(tuple(case.sizes.items()), case.dtype, case.layout.value)


@dataclass(frozen=True)
class Passed:
    """A parameter of a wrapper, and what a subject passes for it: its default where it passes nothing."""

    name: str
    value: Any
    is_default: bool
    annotation: str


def passed(subject: Subject) -> tuple[Passed, ...]:
    """All that a subject passes, in the order of its wrapper's parameters; nothing where these are not known."""
    if callable(subject.inputs):
        return ()
    parameters = _parameters(subject)
    given = dict(zip((one.name for one in parameters), subject.inputs, strict=False)) | dict(subject.keywords)
    return tuple(
        Passed(one.name, given.get(one.name, one.default), one.name not in given, _text(one.annotation))
        for one in parameters
        if one.name in given or one.default is not inspect.Parameter.empty
    )


def _text(annotation: Any) -> str:
    return (
        "" if annotation is inspect.Parameter.empty else annotation if isinstance(annotation, str) else str(annotation)
    )


def _parameters(subject: Subject) -> list[inspect.Parameter]:
    """Those of the wrapper; of an autograd function's `apply`, those of its `forward` without the context."""
    owner = _autograd(subject)
    try:
        known = list(inspect.signature(subject.function if owner is None else owner.forward).parameters.values())
    except (TypeError, ValueError):
        return []
    if any(one.kind in (one.VAR_POSITIONAL,) for one in known):
        return []
    is_context = owner is not None and "setup_context" not in vars(owner)
    return [one for one in known[1 if is_context else 0 :] if one.kind is not one.VAR_KEYWORD]


def _autograd(subject: Subject) -> Any:
    """The autograd function whose `apply` the wrapper is; None where it is none's."""
    import torch

    owner = getattr(subject.function, "__self__", None)
    return owner if isinstance(owner, type) and issubclass(owner, torch.autograd.Function) else None


def _changed(subject: Subject, change: Change) -> Subject:
    """Raises ValueError for a parameter that cannot be given."""
    names = {one.name: place for place, one in enumerate(passed(subject))}
    if change.parameter not in names or callable(subject.inputs):
        raise ValueError(f"nothing can be given for {change.parameter!r}")
    place, inputs = names[change.parameter], list(subject.inputs)
    if change.parameter in subject.keywords or (place >= len(inputs) and _autograd(subject) is None):
        return replace(subject, keywords={**subject.keywords, change.parameter: change.given})
    inputs += [one.value for one in passed(subject)[len(inputs) : place + 1]]
    inputs[place] = change.given
    return replace(subject, inputs=inputs)
