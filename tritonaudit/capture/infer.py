"""Infers how to call a kernel: from its launches in the checkout, its decorators, its signature and its body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tritonaudit import usual
from tritonaudit.capture.evidence import Evidence, Use, Uses
from tritonaudit.capture.guess import constant_by_use, element_dtype
from tritonaudit.capture.inferred import Argument, ArgumentKind, FunctionName, InferredCall
from tritonaudit.capture.passed import UNKNOWN, DescribedBlock, Given, Launched, Passed, Pointed
from tritonaudit.capture.uses import uses_of
from tritonaudit.host.host import LaunchSite
from tritonaudit.host.values import Dtype, Kernel, Tensor
from tritonaudit.ir.names import constant
from tritonaudit.ir.values import ANY, SPELLED
from tritonaudit.ir.values import Dtype as TritonDtype
from tritonaudit.kernel.project import Function, Project
from tritonaudit.source.outline import Parameter

DTYPE = "float16"
_OPTIONS = frozenset(("num_warps", "num_stages", "num_ctas", "maxnreg"))
_LAUNCH = "a launch passes it"
_TYPICAL = "a launch computes it from sizes, which are taken to be typical"
_FOLLOWS = "it follows the dtype of other tensors"
_DEFAULT = "its default"


def launch_sites(project: Project, function: Function) -> tuple[LaunchSite, ...]:
    """The launches of a kernel in the project's host code."""
    return project.host.launches(function.module, function.jit, project.users(function))


def is_launched(project: Project, function: Function) -> bool:
    """Whether host code seems to launch a jit function, so that it is no mere helper of kernels."""
    return project.host.is_launched(function.module, function.jit, project.users(function))


class Inference:
    """All that is known of a kernel's parameters. Tensors of which nothing is known have the `dtype`."""

    def __init__(self, project: Project, function: Function, sites: tuple[LaunchSite, ...], dtype: str = DTYPE) -> None:
        self._project = project
        self.function = function
        self.dtype = dtype
        self.uses: Uses = uses_of(project, function, self._tensors(sites))
        pointers = frozenset(name for name, use in self.uses.parameters.items() if Evidence.POINTER in use)
        self._launched = Launched(project.host, sites, dtype, self._small_sizes(), pointers)

    @property
    def launches(self) -> Sequence[Passed]:
        """What is passed by each launch, the one of which the text tells most first."""
        return self._launched.calls

    def _tensors(self, sites: Sequence[LaunchSite]) -> Iterator[str]:
        """What every launch passes a tensor for is a pointer, even where the body does not say so."""
        for parameter in self.function.jit.parameters:
            passed = [site.arguments.get(parameter.name) for site in sites]
            are_made = all(isinstance(value, Tensor) and value.symbol.key[0] != "input" for value in passed)
            if passed and not parameter.constexpr and are_made:
                yield parameter.name

    def _small_sizes(self) -> Mapping[str, int]:
        """Sizes that the kernel's body says more of than their names."""
        names = [parameter.name for parameter in self.function.jit.parameters]
        found = {name: min(usual.number(name), 4) for name in names if Evidence.COUNT in self.uses.parameters[name]}
        # a product of matrices, where it is no head's dimension
        return {**found, "K": usual.SIZE} if {"M", "N", "K"} <= set(names) else found

    def call(self, launch: int = 0) -> InferredCall:
        """The call as the launch of that number makes it, completed by what else is known."""
        passed = [*self.launches[launch:], *self.launches[:launch]]
        arguments = tuple(self._argument(parameter, passed) for parameter in self.function.jit.parameters)
        options = passed[0].options if passed else {}
        known = sorted((name, value) for name, value in options.items() if name in _OPTIONS)
        return InferredCall(arguments, self._positional(launch), tuple(known))

    def calls_without_optional(self, call: InferredCall) -> Iterator[tuple[str, InferredCall]]:
        """The call as it is made when the caller of a wrapper leaves out a tensor that it may, and which that is."""
        for name, passed, without in self._launched.without_optional():
            arguments = tuple(self._left_out(argument, passed, without) for argument in call.arguments)
            if None not in arguments and arguments != call.arguments:
                yield name, replace(call, arguments=tuple(filter(None, arguments)))

    def _left_out(self, argument: Argument, passed: Passed, without: Passed) -> Argument | None:
        """The argument of such a call; None where the text does not tell what depends on the tensor."""
        name = argument.name
        before, after = (one.arguments.get(name, _NOT_GIVEN).value for one in (passed, without))
        if before == after:
            is_open = argument.kind is ArgumentKind.CONSTEXPR and argument.guessed and name in without.site.arguments
            return None if is_open and after is UNKNOWN else argument
        if after is None and argument.kind in (ArgumentKind.POINTER, ArgumentKind.NONE):
            return replace(argument, kind=ArgumentKind.NONE, value=None, reason=_LAUNCH)
        if argument.kind is ArgumentKind.CONSTEXPR and isinstance(after, bool):
            return replace(argument, value=after, reason=_LAUNCH)
        return None

    def _positional(self, launch: int) -> int:
        """How many arguments the launch passes by position; without one, those before the first constexpr."""
        if self.launches:
            return len(self.launches[launch].site.call.args)
        constants = [parameter.constexpr for parameter in self.function.jit.parameters]
        return constants.index(True) if True in constants else len(constants)

    def _argument(self, parameter: Parameter, passed: Sequence[Passed]) -> Argument:
        use = self.uses.parameters[parameter.name]
        given = self._given(parameter, passed)
        if parameter.constexpr:
            return self._constexpr(parameter.name, use, given)
        described = next(((one.value, why) for one, why in given if isinstance(one.value, DescribedBlock)), None)
        if described is not None or Evidence.DESCRIPTOR in use:
            return self._descriptor(parameter.name, described)
        if Evidence.POINTER in use:
            return self._pointer(parameter.name, use, given)
        return self._scalar(parameter.name, use, given)

    def _given(self, parameter: Parameter, passed: Sequence[Passed]) -> list[tuple[Given, str]]:
        """What is known to be passed, and why, the best first."""
        found: list[tuple[Given, str]] = []
        for one in passed:
            given = one.arguments.get(parameter.name, _NOT_GIVEN)
            if given is not _NOT_GIVEN:
                follows = _FOLLOWS if isinstance(given.value, (Dtype, Pointed)) else _TYPICAL
                found.append((given, follows if given.guessed else _LAUNCH))
        if not passed and parameter.default is not None:
            value = constant(self.function.module, parameter.default)
            if value is not ANY:
                value = Dtype(SPELLED[value]) if isinstance(value, TritonDtype) else value
                found.append((Given(value), _DEFAULT))
        return found

    def _pointer(self, name: str, use: Use, given: list[tuple[Given, str]]) -> Argument:
        tensors = [(one.value, reason) for one, reason in given if isinstance(one.value, Pointed)]
        if Evidence.NONE in use and not tensors and given and all(one.value is None for one, _ in given):
            return Argument(name, ArgumentKind.NONE, None, given[0][1])
        for value, reason in tensors:
            if value.dtype is not None:
                return Argument(name, ArgumentKind.POINTER, value.dtype, reason)
        dtype, reason = element_dtype(name, use, self.dtype)
        return Argument(name, ArgumentKind.POINTER, dtype, reason, guessed=True)

    def _descriptor(self, name: str, described: tuple[DescribedBlock, str] | None) -> Argument:
        """A descriptor's block is what a launch gives, or what an autotuner's hook sets later."""
        rank = self.uses.ranks.get(name, 2)
        if described is None:
            return Argument(
                name, ArgumentKind.DESCRIPTOR, (self.dtype, (64,) * rank), "nothing says its block", guessed=True
            )
        made, reason = described
        block = tuple(64 if size is None else size for size in made.block) or (64,) * rank
        return Argument(name, ArgumentKind.DESCRIPTOR, (made.dtype or self.dtype, block), reason, guessed=True)

    def _scalar(self, name: str, use: Use, given: list[tuple[Given, str]]) -> Argument:
        for one, reason in given:
            value = one.value
            if isinstance(value, Pointed):
                return Argument(name, ArgumentKind.POINTER, value.dtype or self.dtype, reason)
            if isinstance(value, (bool, int, float)):
                return Argument(name, _KINDS[type(value)], value, reason)
            if value is None and Evidence.NONE in use:
                return Argument(name, ArgumentKind.NONE, None, reason)
        if use[Evidence.INTEGER] == 0 and (usual.is_float(name) or use[Evidence.FLOAT]):
            return Argument(name, ArgumentKind.FLOAT, 1.0, "its use and name say so", guessed=True)
        return Argument(name, ArgumentKind.INTEGER, usual.number(name), "its use and name say so", guessed=True)

    def _constexpr(self, name: str, use: Use, given: list[tuple[Given, str]]) -> Argument:
        for one, reason in given:
            value = one.value
            if isinstance(value, Kernel):
                if self._project.resolve(self.function, value.function.name) is not None:
                    return Argument(name, ArgumentKind.CONSTEXPR, FunctionName(value.function.name), reason)
            elif not isinstance(value, (Pointed, DescribedBlock)):
                if one.guessed and self._knows_better(use, value):
                    break
                return Argument(name, ArgumentKind.CONSTEXPR, value, reason, one.guessed)
        value, reason = constant_by_use(name, use, self.dtype)
        return Argument(name, ArgumentKind.CONSTEXPR, value, reason, guessed=True)

    def _knows_better(self, use: Use, value: Any) -> bool:
        """Whether the body says more than a launch that was itself completed: rounds are few, a dtype is an integer."""
        if isinstance(value, Dtype):
            return use[Evidence.INTEGER] > use[Evidence.FLOAT] and "float" in value.name
        return Evidence.COUNT in use


_NOT_GIVEN = Given(UNKNOWN)
_KINDS = {bool: ArgumentKind.BOOLEAN, int: ArgumentKind.INTEGER, float: ArgumentKind.FLOAT}
