"""Infers how to call a kernel: from its launches in the checkout, its decorators, its signature and its body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tritonaudit.capture import typical
from tritonaudit.capture.body.follow import uses_of
from tritonaudit.capture.body.uses import Evidence, Use, Uses
from tritonaudit.capture.guess import constant_by_use, element_dtype
from tritonaudit.capture.host.run import Host, Passed, Run, passed_by, passed_without_optional
from tritonaudit.capture.host.values import UNKNOWN, Descriptor, Dtype, HostFunction, Shape, Tensor
from tritonaudit.capture.inferred import Argument, FunctionName, InferredCall, Kind
from tritonaudit.capture.typical import Sizes
from tritonaudit.kernel.launch import Launch, LaunchFacts
from tritonaudit.kernel.project import Function, Project
from tritonaudit.source.outline import Parameter, dotted_name

DTYPE = "float16"
_OPTIONS = frozenset(("num_warps", "num_stages", "num_ctas", "maxnreg"))
_LAUNCH = "a launch passes it"
_TYPICAL = "a launch computes it from sizes, which are taken to be typical"
_FOLLOWS = "it follows the dtype of other tensors"
_MOST_LAUNCHES = 6
_HALVES = ("float16", "bfloat16")


@dataclass(frozen=True)
class _Given:
    """What a launch, a config or a default gives for a parameter, which of them, and whether it rests on a guess."""

    value: Any
    reason: str
    guessed: bool = False


class Inference:
    """All that is known of a kernel's parameters. Tensors of which nothing is known have the `dtype`."""

    def __init__(self, project: Project, function: Function, launches: Sequence[Launch], dtype: str = DTYPE) -> None:
        self._project = project
        self.function = function
        self.dtype = dtype
        self._names = [parameter.name for parameter in function.jit.parameters]
        self._facts = LaunchFacts(function.module, function.jit, tuple(launches), project)
        launches = launches[:_MOST_LAUNCHES]
        # What differs between two evaluations rests on what was assumed for them.
        other = next(half for half in _HALVES if half != dtype)
        varied = [self._passed(launch, Sizes(shrunk=2), other) for launch in launches]
        self.uses: Uses = uses_of(project, function, self._tensors(varied))
        sizes = Sizes(self._known_sizes(launches))
        passed = [self._passed(launch, sizes, dtype) for launch in launches]
        # The launch of which the text tells most comes first.
        order = sorted(range(len(launches)), key=lambda index: -_known_values(passed[index]))
        self.launches = [launches[index] for index in order]
        self._by_launch = [(passed[index], varied[index]) for index in order]

    def _passed(self, launch: Launch, sizes: Sizes, dtype: str) -> Passed:
        return passed_by(launch, self._names, self._project, dtype, sizes)

    def _tensors(self, passed: Sequence[Passed]) -> frozenset[str]:
        """What every launch passes a tensor for is a pointer, even where the body does not say so."""
        return frozenset(
            parameter.name
            for parameter in self.function.jit.parameters
            if passed
            and not parameter.constexpr
            and all(isinstance(one.arguments.get(parameter.name), Tensor) for one in passed)
        )

    def _known_sizes(self, launches: Sequence[Launch]) -> Mapping[str, int]:
        """Sizes that the kernel's body says more of than their names, by those names in host code too."""
        found: dict[str, int] = {}
        for parameter in self.function.jit.parameters:
            if Evidence.COUNT in self.uses.parameters[parameter.name]:
                found[parameter.name] = min(typical.number(parameter.name), 4)
        if {"M", "N", "K"} <= set(self._names):
            found["K"] = typical.SIZE  # a product of matrices, where it is no head's dimension
        for launch in launches:
            for name, value in list(found.items()):
                passed = launch.arguments.get(name)
                if passed is not None and (dotted := dotted_name(passed)) is not None:
                    found[dotted] = value
        return found

    def call(self, launch: int = 0) -> InferredCall:
        """The call as the launch of that number makes it, completed by what else is known."""
        by_launch = [*self._by_launch[launch:], *self._by_launch[:launch]]
        arguments = tuple(self._argument(parameter, by_launch) for parameter in self.function.jit.parameters)
        options = by_launch[0][0].options if by_launch else {}
        known = sorted((name, value) for name, value in options.items() if name in _OPTIONS and type(value) is int)
        return InferredCall(arguments, self._positional(launch), tuple(known))

    def calls_without_optional(self, call: InferredCall) -> Iterator[tuple[str, InferredCall]]:
        """The call as it is made when the caller of a wrapper leaves out a tensor that it may, and which that is."""
        sizes = Sizes()
        for launch, (passed, _) in zip(self.launches, self._by_launch, strict=True):
            for name, without in passed_without_optional(launch, self._names, self._project, self.dtype, sizes):
                arguments = tuple(self._left_out(argument, passed, without) for argument in call.arguments)
                if None not in arguments and arguments != call.arguments:
                    yield name, replace(call, arguments=tuple(filter(None, arguments)))

    def _left_out(self, argument: Argument, passed: Passed, without: Passed) -> Argument | None:
        """The argument of such a call; None where the text does not tell what depends on the tensor."""
        name = argument.name
        before, after = (one.arguments.get(name, UNKNOWN) for one in (passed, without))
        if repr(before) == repr(after):
            is_open = argument.kind is Kind.CONSTEXPR and argument.guessed and name in without.arguments
            return None if is_open and after is UNKNOWN else argument
        if after is None and argument.kind in (Kind.POINTER, Kind.NONE):
            return replace(argument, kind=Kind.NONE, value=None, reason=_LAUNCH)
        if argument.kind is Kind.CONSTEXPR and isinstance(after, bool):
            return replace(argument, value=after, reason=_LAUNCH)
        return None

    def _positional(self, launch: int) -> int:
        """How many arguments the launch passes by position; without one, those before the first constexpr."""
        if self.launches:
            return len(self.launches[launch].call.args)
        constants = [parameter.constexpr for parameter in self.function.jit.parameters]
        return constants.index(True) if True in constants else len(constants)

    def _argument(self, parameter: Parameter, by_launch: Sequence[tuple[Passed, Passed]]) -> Argument:
        use = self.uses.parameters[parameter.name]
        given = self._given(parameter, by_launch)
        if parameter.constexpr:
            return self._constexpr(parameter.name, use, given)
        described = next((entry for entry in given if isinstance(entry.value, Descriptor)), None)
        if described is not None or Evidence.DESCRIPTOR in use:
            return self._descriptor(parameter.name, described)
        if Evidence.POINTER in use:
            return self._pointer(parameter.name, use, given)
        return self._scalar(parameter.name, use, given)

    def _given(self, parameter: Parameter, by_launch: Sequence[tuple[Passed, Passed]]) -> list[_Given]:
        """What is known to be passed, the best first."""
        name = parameter.name
        found: list[_Given] = []
        for passed, varied in by_launch:
            value = passed.arguments.get(name, UNKNOWN)
            if value is not UNKNOWN:
                assumed = repr(value) != repr(varied.arguments.get(name))
                follows = _FOLLOWS if isinstance(value, (Dtype, Tensor)) else _TYPICAL
                found.append(_Given(value, follows if assumed else _LAUNCH, assumed))
        found += [
            _Given(config[name].value, "a config gives it")
            for config, _ in self._facts.configs
            if name in config and config[name].value is not None
        ]
        if parameter.default is not None:
            host = Host(self._project, self.function.module, self.dtype, Sizes())
            value = Run(host, self.function.module, {}).value(parameter.default)
            if value is not UNKNOWN:
                found.append(_Given(value, "its default"))
        return found

    def _pointer(self, name: str, use: Use, given: list[_Given]) -> Argument:
        tensors = [entry.value for entry in given if isinstance(entry.value, Tensor)]
        if Evidence.NONE in use and not tensors and given and all(entry.value is None for entry in given):
            return Argument(name, Kind.NONE, None, given[0].reason)
        told = next((e for e in given if isinstance(e.value, Tensor) and e.value.dtype is not None), None)
        if told is not None:
            return Argument(name, Kind.POINTER, told.value.dtype, told.reason, told.guessed)
        dtype, reason = element_dtype(name, use, self.dtype)
        return Argument(name, Kind.POINTER, dtype, reason, guessed=True)

    def _descriptor(self, name: str, described: _Given | None) -> Argument:
        """A descriptor's block is what a launch gives, or what an autotuner's hook sets later."""
        rank = self.uses.ranks.get(name, 2)
        if described is None:
            return Argument(name, Kind.DESCRIPTOR, (self.dtype, (64,) * rank), "nothing says its block", guessed=True)
        made: Descriptor = described.value
        block = tuple(size if isinstance(size, int) else 64 for size in made.block) or (64,) * rank
        return Argument(name, Kind.DESCRIPTOR, (made.dtype or self.dtype, block), described.reason, guessed=True)

    def _scalar(self, name: str, use: Use, given: list[_Given]) -> Argument:
        for entry in given:
            value = entry.value
            if isinstance(value, Tensor):
                return Argument(name, Kind.POINTER, value.dtype or self.dtype, entry.reason)
            if isinstance(value, bool):
                return Argument(name, Kind.BOOLEAN, value, entry.reason)
            if isinstance(value, int):
                return Argument(name, Kind.INTEGER, value, entry.reason)
            if isinstance(value, float):
                return Argument(name, Kind.FLOAT, value, entry.reason)
            if value is None and Evidence.NONE in use:
                return Argument(name, Kind.NONE, None, entry.reason)
        if use[Evidence.INTEGER] == 0 and (typical.is_float(name) or use[Evidence.FLOAT]):
            return Argument(name, Kind.FLOAT, 1.0, "its use and name say so", guessed=True)
        return Argument(name, Kind.INTEGER, typical.number(name), "its use and name say so", guessed=True)

    def _constexpr(self, name: str, use: Use, given: list[_Given]) -> Argument:
        for entry in given:
            if not isinstance(entry.value, (Tensor, Shape, HostFunction, Descriptor, dict)):
                if entry.guessed and self._knows_better(use, entry.value):
                    break
                return Argument(name, Kind.CONSTEXPR, _frozen(entry.value), entry.reason, entry.guessed)
        if Evidence.CALLED in use and (called := self._function_passed(name)) is not None:
            return Argument(name, Kind.CONSTEXPR, called, _LAUNCH)
        value, reason = constant_by_use(name, use, self.dtype)
        return Argument(name, Kind.CONSTEXPR, value, reason, guessed=True)

    def _knows_better(self, use: Use, value: Any) -> bool:
        """Whether the body says more than a launch that was itself completed: rounds are few, a dtype is an integer."""
        if isinstance(value, Dtype):
            return use[Evidence.INTEGER] > use[Evidence.FLOAT] and value.is_floating_point
        return Evidence.COUNT in use

    def _function_passed(self, name: str) -> FunctionName | None:
        for launch in self.launches:
            node = launch.arguments.get(name)
            dotted = None if node is None else dotted_name(launch.definition(node))
            if dotted is not None and self._project.resolve(self.function, dotted) is not None:
                return FunctionName(dotted)
        return None


def _known_values(passed: Passed) -> int:
    return sum(value is not UNKNOWN for value in passed.arguments.values())


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, (list, range)) else value
