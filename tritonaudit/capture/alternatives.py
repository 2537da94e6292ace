"""What to try next where the compiler rejects an inferred call: other dtypes, sizes or flags for what is guessed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from tritonaudit.capture.evidence import Evidence, Place
from tritonaudit.capture.infer import Inference
from tritonaudit.capture.inferred import Argument, ArgumentKind, InferredCall
from tritonaudit.capture.launch import SourceError
from tritonaudit.host.values import Dtype

MOST_ATTEMPTS = 6
_REASON = "the kernel compiles so"

_Changes = dict[str, Argument]
_Strategy = Callable[["_Failure"], Iterator[_Changes]]


def alternatives(inference: Inference, call: InferredCall, error: SourceError) -> InferredCall | None:
    """The call to try after `call`, which the compiler rejects; None where nothing is left to try."""
    if len(call.tried) >= MOST_ATTEMPTS:
        return None
    failure = _Failure(inference, call, error)
    for pattern, strategies in _STRATEGIES:
        match = pattern.search(error.message)
        if match is None:
            continue
        failure.match = match
        for strategy in strategies:
            for changes in strategy(failure):
                arguments = tuple(changes.get(argument.name, argument) for argument in call.arguments)
                if arguments != call.arguments and arguments not in call.tried:
                    return replace(call, arguments=arguments, tried=(*call.tried, call.arguments))
    return None


class _Failure:
    """A rejected call, and the parameters that come into the failing expression."""

    match: re.Match[str]

    def __init__(self, inference: Inference, call: InferredCall, error: SourceError) -> None:
        self.uses = inference.uses
        self.inference = inference
        self.arguments = {argument.name: argument for argument in call.arguments}
        self.place: Place = (error.path, error.line)
        self.reach = self.uses.reach.get(self.place, set())

    def of(self, names: Iterable[str], *kinds: ArgumentKind, guessed: bool | None = None) -> list[Argument]:
        found = (self.arguments[name] for name in names if name in self.arguments)
        return [a for a in found if a.kind in kinds and (guessed is None or a.guessed is guessed)]

    def all(self, *kinds: ArgumentKind, guessed: bool | None = None) -> list[Argument]:
        return self.of(self.arguments, *kinds, guessed=guessed)


def _valued(arguments: Iterable[Argument], value: Any) -> _Changes:
    """Other constants, or pointers to another dtype."""
    return {argument.name: _changed(argument, value) for argument in arguments}


def _changed(argument: Argument, value: Any) -> Argument:
    return replace(argument, value=value, reason=_REASON, guessed=True)


def _of_kind(arguments: Iterable[Argument], kind: ArgumentKind, value: Any) -> _Changes:
    return {a.name: replace(a, kind=kind, value=value, reason=_REASON, guessed=True) for a in arguments}


# -- dtypes --------------------------------------------------------------------------------------------------------

_HALF = ("float16", "bfloat16")
_TORCH = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}


def _floats(arguments: Iterable[Argument]) -> list[Argument]:
    return [a for a in arguments if "float" in str(a.value)]


def _dot_operands(failure: _Failure) -> Iterator[_Changes]:
    """The wider operand in the narrower one's dtype, or the other way round."""
    left, right = failure.match["left"], failure.match["right"]
    for one, other in failure.uses.dots.get(failure.place, ()):
        wide, narrow = (other, one) if left in ("fp16", "bf16") else (one, other)
        dtype = _TORCH.get(left if left in ("fp16", "bf16") else right)
        if dtype is not None:
            yield _valued(_floats(failure.of(wide - narrow, ArgumentKind.POINTER)), dtype)
    for one, other in failure.uses.dots.get(failure.place, ()):
        yield _valued(_floats(failure.of(one | other, ArgumentKind.POINTER)), "float32")


def _variable(failure: _Failure) -> Iterator[_Changes]:
    """The pointers whose data a variable holds as single precision."""
    names = failure.uses.names.get(failure.match["name"], set())
    for guessed in (True, None):
        pointers = failure.of(names, ArgumentKind.POINTER, guessed=guessed)
        yield _valued([a for a in pointers if a.value in _HALF], "float32")


def _line(failure: _Failure) -> Iterator[_Changes]:
    pointers = failure.of(failure.reach, ArgumentKind.POINTER)
    yield _valued([a for a in pointers if a.value in _HALF], "float32")


def _all_single(failure: _Failure) -> Iterator[_Changes]:
    for guessed in (True, None):
        yield _valued(_floats(failure.all(ArgumentKind.POINTER, guessed=guessed)), "float32")


def _all_half(failure: _Failure) -> Iterator[_Changes]:
    yield _valued(_floats(failure.all(ArgumentKind.POINTER)), "float16")


def _all_double(failure: _Failure) -> Iterator[_Changes]:
    yield _valued(_floats(failure.all(ArgumentKind.POINTER)), "float64")


def _integers(failure: _Failure) -> Iterator[_Changes]:
    """All integers of one width."""
    for before, after in (("int64", "int32"), ("int8", "int32"), ("int32", "int64")):
        for names in (failure.reach, failure.arguments):
            yield _valued([a for a in failure.of(names, ArgumentKind.POINTER) if a.value == before], after)


def _as_integers(failure: _Failure) -> Iterator[_Changes]:
    """What is combined bit by bit, or indexes, is an integer."""
    pointers = _floats(failure.of(failure.reach, ArgumentKind.POINTER, guessed=True))
    for dtype in ("int32", "int8"):
        yield _valued(pointers, dtype)
    scalars = failure.of(failure.reach, ArgumentKind.FLOAT)
    yield _of_kind(scalars, ArgumentKind.INTEGER, 1)
    constants = failure.of(failure.reach, ArgumentKind.CONSTEXPR, guessed=True)
    yield _valued([a for a in constants if isinstance(a.value, Dtype) and "float" in a.value.name], Dtype("int32"))


def _small_integers(failure: _Failure) -> Iterator[_Changes]:
    """A product that is summed into integers is one of small integers."""
    for operands in failure.uses.dots.values():
        for left, right in operands:
            yield _valued(_floats(failure.of(left | right, ArgumentKind.POINTER)), "int8")


# -- kinds ---------------------------------------------------------------------------------------------------------


def _as_pointers(failure: _Failure) -> Iterator[_Changes]:
    """A number that is used as an address is one."""
    for names in (failure.uses.names.get(failure.match.groupdict().get("name", ""), set()), failure.reach):
        numbers = failure.of(names, ArgumentKind.INTEGER, ArgumentKind.NONE)
        named = [a for a in numbers if "ptr" in a.name.lower()]
        yield _of_kind(named or numbers, ArgumentKind.POINTER, failure.inference.dtype)


def _as_numbers(failure: _Failure) -> Iterator[_Changes]:
    """An address that is used as a number is one: of those that come into the line the least certain."""
    pointers = failure.of(failure.reach, ArgumentKind.POINTER)
    pointers.sort(key=lambda a: failure.uses.parameters[a.name][Evidence.POINTER])
    for pointer in pointers:
        use = failure.uses.parameters[pointer.name]
        if Evidence.POINTER not in use or use[Evidence.POINTER] <= use[Evidence.INTEGER] + use[Evidence.FLOAT]:
            yield _of_kind([pointer], ArgumentKind.INTEGER, 1)
            yield _of_kind([pointer], ArgumentKind.FLOAT, 1.0)


def _given(failure: _Failure) -> Iterator[_Changes]:
    """What is None is given after all."""
    for names in (failure.reach, failure.arguments):
        missing = failure.of(names, ArgumentKind.NONE)
        yield _of_kind(missing, ArgumentKind.POINTER, failure.inference.dtype)


# -- constants -----------------------------------------------------------------------------------------------------


def _sizes(failure: _Failure, names: Iterable[str]) -> list[Argument]:
    """The constants among these that are sizes."""
    return [argument for argument in failure.of(names, ArgumentKind.CONSTEXPR) if _is_size(argument)]


def _is_size(argument: Argument) -> bool:
    return isinstance(argument.value, int) and not isinstance(argument.value, bool)


def _tiles(failure: _Failure, names: Iterable[str]) -> list[Argument]:
    return [a for a in _sizes(failure, names) if Evidence.TILE in failure.uses.parameters[a.name]]


def _powers_of_2(failure: _Failure) -> Iterator[_Changes]:
    for names in (failure.reach, failure.arguments):
        found: _Changes = {}
        for argument in _tiles(failure, names) if names is failure.arguments else _sizes(failure, names):
            found |= _valued([argument], 1 << max(argument.value - 1, 0).bit_length())
        yield found


def _smaller(failure: _Failure) -> Iterator[_Changes]:
    """Tiles of half the size, as long as they can be halved."""
    for names in (failure.reach, failure.arguments):
        for limit in (64, 32, 16):
            found = [a for a in _tiles(failure, names) if a.value > limit]
            yield _valued(found, limit)


def _larger(failure: _Failure) -> Iterator[_Changes]:
    for least in (16, 32, 64):
        for names in (failure.reach, failure.arguments):
            yield _valued([a for a in _tiles(failure, names) if a.value < least], least)


def _equal(failure: _Failure) -> Iterator[_Changes]:
    """One size for all tiles of the line, or of the kernel."""
    for names in (failure.reach, failure.arguments):
        tiles = [a for a in _tiles(failure, names) if a.guessed] or _tiles(failure, names)
        for size in sorted({a.value for a in tiles}, reverse=True):
            yield _valued(tiles, size)
        yield _valued(tiles, 64)


def _wider_sizes(failure: _Failure) -> Iterator[_Changes]:
    """Sizes that are no tiles as large as usual, or all tiles small."""
    sizes = [a for a in _sizes(failure, failure.arguments) if a.guessed and a not in _tiles(failure, [a.name])]
    yield _valued([a for a in sizes if a.value < 1024], 1024)
    yield _valued([a for a in _tiles(failure, failure.arguments) if a.guessed and a.value > 32], 32)


def _flags(failure: _Failure) -> Iterator[_Changes]:
    """Guessed flags the other way round, all and then each."""
    flags = [a for a in failure.all(ArgumentKind.CONSTEXPR, guessed=True) if isinstance(a.value, bool)]
    for value in (True, False):
        yield _valued(flags, value)
    for flag in flags:
        yield _valued([flag], not flag.value)


def _flags_of_name(failure: _Failure) -> Iterator[_Changes]:
    """The same for a variable that some of the flags' values leave unset."""
    if failure.match["name"] in failure.uses.names:
        yield from _flags(failure)
        for argument in failure.all(ArgumentKind.CONSTEXPR, guessed=True):
            for constant in failure.uses.parameters[argument.name].compared:
                yield _valued([argument], constant)


def _other_launch(failure: _Failure) -> Iterator[_Changes]:
    for number in range(1, len(failure.inference.launches)):
        yield {argument.name: argument for argument in failure.inference.call(number).arguments}


_MIXED_FLOATS: tuple[_Strategy, ...] = (_variable, _line, _all_single, _all_half, _other_launch)

_STRATEGIES: tuple[tuple[re.Pattern[str], tuple[_Strategy, ...]], ...] = tuple(
    (re.compile(pattern, re.DOTALL), strategies)
    for pattern, strategies in (
        (r"same dtype\. Got (?P<left>\w+) and (?P<right>\w+)", (_dot_operands, _all_single, _all_half)),
        (r"variable (?P<name>\w+) has initial type.*pointer.*re-assigned", (_as_pointers,)),
        (r"variable (?P<name>\w+) has initial type.*int\d+.*re-assigned.*fp\d+", (_small_integers, *_MIXED_FLOATS)),
        (r"variable (?P<name>\w+) has initial type.*fp\d+.*re-assigned.*fp\d+", _MIXED_FLOATS),
        (r"type for (?P<name>\w+) between.*pointer", (_as_pointers,)),
        (r"type for (?P<name>\w+) between.*fp\d+.*fp\d+", _MIXED_FLOATS),
        (r"value for `(?P<name>\w+)` is of type.*fp\d+.*fp\d+", _MIXED_FLOATS),
        (r"is of type (?P<type>\w+)\[.*redefines it as (?P=type)\[", (_equal,)),
        (r"has initial type <\[.*, (?P<same>\w+)>.*(?P=same)>", (_equal,)),
        (r"(?P<name>\w+) has initial type|for (?P<other>\w+) between|inconsistent types int", (_integers, _all_single)),
        (r"inconsistent types|Expected dtype \[.*fp32.* but got|[Uu]nsupported dtype", (_line, _all_single)),
        (r"does not support u?int", (_integers,)),
        (r"does not support (?:fp|bf)16|^\(triton\.language\.(?:b?float16)", (_line, _all_single)),
        (r"bitcast.* of size", (_all_single, _integers, _all_double)),
        (r"invalid operands of type pointer|cannot cast pointer|are \(.*pointer", (_as_numbers, _other_launch)),
        (r"Unsupported ptr type|must be a pointer|'arith.select' op", (_as_pointers,)),
        (r"invalid operands of type|unexpected type (?:fp|bf)|must (?:all )?be ints?\b", (_as_integers, _as_numbers)),
        (r"NoneType", (_given, _flags)),
        (r"power of (?:2|two)", (_powers_of_2,)),
        (r"exceeds triton maximum", (_smaller,)),
        (r"should have M >=|K >= \d+", (_larger,)),
        (r"end argument must be greater", (_larger, _wider_sizes)),
        (r"incompatible|not compatible|must match|must be equal|reshape|divisible", (_equal, _wider_sizes)),
        (r"(?P<name>\w+) is not defined", (_flags_of_name,)),
        (r"", (_other_launch,)),
    )
)
