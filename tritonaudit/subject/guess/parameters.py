"""Guesses what a wrapper may be called with, from its signature, its body, its kernels and the names of the field."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from tritonaudit.subject.dimension import Dimension, names_in
from tritonaudit.subject.guess import conventions
from tritonaudit.subject.guess.dimensions import Dimensions
from tritonaudit.subject.guess.evidence import KernelEvidence
from tritonaudit.subject.guess.notes import Note, notes_on
from tritonaudit.subject.guess.ranks import Ranks, ranks_of
from tritonaudit.subject.guess.reader import usage_of
from tritonaudit.subject.guess.roles import KernelRoles
from tritonaudit.subject.guess.usage import Usage, defaults_of, parameters_of
from tritonaudit.subject.guess.values import Literal, Stride
from tritonaudit.subject.model import FLOATING, Offsets, Size, Tensor
from tritonaudit.subject.size_kind import usual_size
from tritonaudit.subject.wrappers import Wrapper

_RANKS = (1, 2, 3, 4)
_RANGES = {"int8": (-128, 128), "uint8": (0, 256), "int32": (-(2**31), 2**31)}


@dataclass(frozen=True)
class TorchName:
    """An argument that torch has by a name, such as a dtype: `torch.float32`."""

    name: str


@dataclass(frozen=True)
class GuessedParameter:
    """What to give for a parameter: a `Tensor`, a `Size`, `Offsets`, a `TorchName`, or a number, string, list or None.

    `is_known` says that the code or a note of its author tells, where a tensor is meant its rank; `is_mutated` that a
    kernel writes to it. One that `has_default` may be left out, and its `value` is that default, None where it is no
    constant.
    """

    name: str
    value: Any
    is_known: bool
    is_mutated: bool = False
    has_default: bool = False
    is_keyword: bool = False


@dataclass(frozen=True)
class Guess:
    """A way to call a wrapper; `sizes` and `dtypes` are what its code restricts them to (empty: nothing)."""

    parameters: tuple[GuessedParameter, ...]
    sizes: tuple[tuple[str, tuple[int, ...]], ...] = ()
    dtypes: tuple[str, ...] = ()

    @property
    def required(self) -> tuple[GuessedParameter, ...]:
        return tuple(parameter for parameter in self.parameters if not parameter.has_default)

    @property
    def is_known(self) -> bool:
        return all(parameter.is_known for parameter in self.required)


def guesses(wrapper: Wrapper, roles: KernelRoles) -> Iterator[Guess]:
    """Ways to call a wrapper, the likeliest first; the others differ in the ranks that nothing tells."""
    seen: list[Guess] = []
    for rank in (None, *_RANKS):
        guess = _Guesser(wrapper, roles, rank).guess()
        if guess not in seen:
            seen.append(guess)
            yield guess


class _Guesser:
    """One guess under way; `rank` is for the tensors of which none is given."""

    def __init__(self, wrapper: Wrapper, roles: KernelRoles, rank: int | None) -> None:
        self._wrapper = wrapper
        self._roles = roles
        self._rank = rank
        self._arguments = parameters_of(wrapper)
        self._defaults = defaults_of(wrapper.node)
        self._notes = notes_on(wrapper.module, wrapper.node)
        self._needed: set[str] = set()
        self._read({})
        while needed := {name for name in self._defaults if self._usage.of(name).is_needed}:
            self._needed |= needed
            self._defaults = {name: node for name, node in self._defaults.items() if name not in needed}
            self._read({})
        # With the ranks known, it is known which of its branches run.
        ranks = ranks_of(self._tensors, self._usage, self._notes, rank)
        self._read(ranks.of)
        for name in set(ranks.of) - ranks.guessed:
            self._usage.rank(name, ranks.of[name], is_checked=True)

    def _read(self, ranks: Mapping[str, int]) -> None:
        given = {argument.arg for argument in self._arguments} - set(self._defaults)
        self._usage: Usage = usage_of(self._wrapper, ranks, given)
        self._kernels = KernelEvidence(self._usage, self._notes, self._roles)

    def guess(self) -> Guess:
        parameters = [self._parameter(argument) for argument in self._arguments]
        last = max((place for place, p in enumerate(parameters) if not p.has_default), default=-1)
        skips = False
        for place, parameter in enumerate(parameters[: last + 1]):
            # What follows a default that is left out is given by name, or where that cannot be, the default too.
            if parameter.has_default and self._wrapper.skips_context:
                parameters[place] = replace(parameter, has_default=False)
            elif not parameter.has_default and skips:
                parameters[place] = replace(parameter, is_keyword=True)
            skips |= parameter.has_default and not self._wrapper.skips_context
        return Guess(tuple(parameters), tuple(self._sizes().items()), self._dtypes)

    # -- tensors -----------------------------------------------------------------------------------------------------

    @property
    def _tensors(self) -> list[str]:
        """The parameters that are tensors and must be given."""
        return [argument.arg for argument in self._arguments if self._is_tensor(argument)]

    def _is_tensor(self, argument: ast.arg) -> bool:
        name = argument.arg
        if name in self._defaults:
            return False
        annotation = "" if argument.annotation is None else ast.unparse(argument.annotation)
        if re.match(r"(?:typing\.)?(?:list|tuple|sequence|iterable)\b", annotation, re.IGNORECASE):
            return False
        if "Tensor" in annotation:
            is_optional = "Optional" in annotation or "None" in annotation
            return not is_optional or self._usage.of(name).is_tensor or name in self._needed
        if annotation:
            return False
        use = self._usage.of(name)
        if (use.is_object and not use.is_tensor) or conventions.is_no_tensor(name):
            return False
        if use.is_tensor or conventions.is_tensor(name):
            return True
        if name in self._kernels.numbers or use.words:
            return False
        return conventions.usual_value(name) is None and not conventions.is_size(name)

    @cached_property
    def _ranks(self) -> Ranks:
        return ranks_of(self._tensors, self._usage, self._notes, self._rank)

    @cached_property
    def _dimensions(self) -> Dimensions:
        return Dimensions(self._usage, self._notes, self._ranks.of, self._tensors)

    def _tensor(self, name: str) -> Tensor | Offsets:
        dims = self._dimensions.of(name)
        dtype = self._dtype(name)
        is_integer = dtype is not None and dtype not in FLOATING
        if (
            conventions.is_offsets(name)
            and (is_integer or name in self._kernels.indices or dtype is None)
            and len(dims) == 1
        ):
            return self._offsets(name, dtype)
        if not is_integer or dtype == "bool":
            return Tensor(*dims, dtype=dtype)
        if name in self._kernels.integers and name not in self._kernels.indices:
            low, high = _RANGES[str(dtype)]
            return Tensor(*dims, dtype=dtype, low=low, high=high)
        return Tensor(*dims, dtype=dtype, high=self._bound(name))

    def _offsets(self, name: str, dtype: str | None) -> Offsets:
        """Offsets of sequences in the first dimension of the first tensor that is no index itself."""
        main = next((other for other in self._tensors if not conventions.is_offsets(other)), None)
        total = self._dimensions.of(main)[0] if main is not None else 1024
        (dim,) = self._dimensions.of(name)
        noted = str((self._notes.get(name, Note()).dims or (dim,))[0])
        parts = self._usage.of(name).parts
        if parts is None and noted.endswith(" + 1"):
            parts = noted.removesuffix(" + 1")
        elif parts is None:
            parts = f"{dim} - 1" if self._dimensions.is_shared(name) else "sequences"
        return Offsets(parts, total, dtype or "int32")

    def _bound(self, name: str) -> Dimension:
        """Below what indices stay: the size of the dimension that they choose from, or in which they are lengths."""
        for target, factor in self._kernels.selects.get(name, ()):
            if target not in self._ranks.of:
                continue
            dims = self._dimensions.of(target)
            if factor is None:
                return next((dim for dim in dims if isinstance(dim, str) and usual_size(dim) >= 1024), dims[0])
            axis = factor.axis if isinstance(factor, Stride) else -1 if factor == Literal(1) else 0
            if -len(dims) <= axis < len(dims):
                return dims[axis]
        return 2

    def _dtype(self, name: str) -> str | None:
        """The dtype that a tensor has in every case, None where it has the case's."""
        argument = next(argument for argument in self._arguments if argument.arg == name)
        annotation = "" if argument.annotation is None else ast.unparse(argument.annotation)
        if match := re.search(r"\b(Int|Long|Bool|Byte|Char)Tensor\b", annotation):
            return {"Int": "int32", "Long": "int64", "Bool": "bool", "Byte": "uint8", "Char": "int8"}[match[1]]
        asked = [dtype for dtype in self._usage.of(name).dtypes if dtype not in self._dtypes]
        if asked:
            return asked[0]
        note = self._notes.get(name, Note())
        if note.dtype is not None:
            return note.dtype
        if name in self._kernels.integers:
            return self._kernels.integers[name]
        is_named = conventions.is_offsets(name) or conventions.is_lengths(name) or conventions.is_index(name)
        if name in self._kernels.indices or is_named:
            return conventions.index_dtype(name)
        return "bool" if conventions.is_mask(name) else None

    @cached_property
    def _dtypes(self) -> tuple[str, ...]:
        """The dtypes to which the code restricts the first tensor, or any to 16 bits: the others go with it."""
        for name in self._tensors:
            asked = tuple(dict.fromkeys(self._usage.of(name).dtypes))
            is_floating = asked and all(dtype in ("float32", "float16", "bfloat16", "float64") for dtype in asked)
            if is_floating and (name == self._tensors[0] or "float32" not in asked):
                return asked
        return ()

    def _sizes(self) -> dict[str, tuple[int, ...]]:
        """The sizes to which the code restricts dimensions that tensors have by their names."""
        dims = {dim for tensor in self._tensors for dim in self._dimensions.of(tensor)}
        named = {name for dim in dims for name in names_in(dim)}
        return {name: sizes for name, sizes in self._dimensions.sizes.items() if name in named} if self._tensors else {}

    # -- everything else ---------------------------------------------------------------------------------------------

    def _parameter(self, argument: ast.arg) -> GuessedParameter:
        name = argument.arg
        is_keyword = any(argument is other for other in self._wrapper.node.args.kwonlyargs)
        if name in self._defaults:
            return GuessedParameter(
                name, _constant(self._defaults[name]), True, has_default=True, is_keyword=is_keyword
            )
        if name in self._tensors:
            known = name not in self._ranks.guessed
            mutated = self._usage.of(name).is_written
            return GuessedParameter(name, self._tensor(name), known, mutated, is_keyword=is_keyword)
        value, is_known = self._value(argument)
        return GuessedParameter(name, value, is_known, is_keyword=is_keyword)

    def _value(self, argument: ast.arg) -> tuple[Any, bool]:
        """What to give for a parameter that is no tensor, and whether more than its name tells."""
        name = argument.arg
        annotation = "" if argument.annotation is None else ast.unparse(argument.annotation)
        if "Optional" in annotation or "None" in annotation:
            return None, True
        if self._tensors and (dim := self._dimensions.of_number(name)) is not None:
            return (dim if isinstance(dim, int) else Size(dim)), True
        if words := self._usage.of(name).words:
            return words[0], True
        if match := re.search(r"Literal\[(.*?)[,\]]", annotation):
            return ast.literal_eval(match[1]), True
        if "Tensor" in annotation:
            return self._tensor_list(), False
        if self._usage.of(name).is_object:
            return None, False
        if name.endswith("dtype") or "dtype" in annotation:
            return TorchName("float8_e4m3fn" if "fp8" in name or "float8" in name else "float32"), False
        if name == "device" or "device" in annotation:
            return "cuda", True
        if name == "normalized_shape" and self._tensors:
            return [_sized(self._dimensions.of(self._tensors[0])[-1])], False
        return self._usual(name, annotation), False

    def _usual(self, name: str, annotation: str) -> Any:
        usual = conventions.usual_value(name)
        if re.fullmatch(r"\w*[A-Z]\w*", annotation.rpartition(".")[2]) and annotation not in ("Any", "Callable"):
            return None  # an object of a class
        if annotation == "bool":
            return bool(usual) if isinstance(usual, bool) else False
        if annotation == "str":
            return usual if isinstance(usual, str) else ""
        if annotation == "float":
            return usual if isinstance(usual, float) else 1.0
        if usual is not None and not (annotation == "int" and not isinstance(usual, int)):
            return usual
        if conventions.is_size(name):
            return usual_size(name)
        if re.match(r"(?:list|tuple|sequence)\b", annotation, re.IGNORECASE):
            return []
        return 1

    def _tensor_list(self) -> list[Tensor]:
        """Two tensors like the first, for a parameter that is a list of them."""
        first = self._tensor(self._tensors[0]) if self._tensors else Tensor("rows", "cols")
        return [first if isinstance(first, Tensor) else Tensor("rows", "cols")] * 2


def _sized(dim: Dimension) -> Any:
    return dim if isinstance(dim, int) else Size(dim)


def _constant(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        return None
