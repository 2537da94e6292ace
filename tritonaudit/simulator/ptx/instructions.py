"""What PTX's arithmetic instructions compute (PTX ISA 9.0), each bit as a GPU's.

Operands are tensors of one axis, one number per lane or one for all; registers hold bits, in any type of their width.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import torch
from torch import Tensor

from tritonaudit.simulator.numerics import approximations, casts, floats, integers, libdevice
from tritonaudit.simulator.numerics.approximations import flushed
from tritonaudit.simulator.numerics.fma import fma
from tritonaudit.simulator.numerics.rounding import narrow
from tritonaudit.simulator.numerics.unsupported import Unsupported

Function: TypeAlias = Callable[..., Tensor]


@dataclass(frozen=True)
class Meaning:
    """An instruction that gives one number: the types it takes its operands in, the last for all further ones.

    `uses_carry`: it takes the carry that an instruction before left, as its last operand. `carry` computes the one
    that it leaves.
    """

    types: tuple[torch.dtype, ...]
    compute: Function
    uses_carry: bool = False
    carry: Function | None = None


_FLOATS = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}
_BITS = {8: torch.int8, 16: torch.int16, 32: torch.int32, 64: torch.int64}
_LOW = 0xFFFFFFFF


@lru_cache(maxsize=1024)
def meaning(name: str, may_round: bool = False) -> Meaning:
    """What the instruction of this name does. Raises Unsupported.

    `may_round`: where it approximates, and its bits are not known, the rightly rounded result does.
    """
    head, *modifiers = name.split(".")
    if modifiers and modifiers[-1] in _PAIRS and head in _OF_PAIRS:
        return _of_pairs(meaning(name.removesuffix("x2"), may_round))
    maker = _MAKERS.get(head)
    found = maker(modifiers) if maker is not None else None
    if found is None and may_round and "approx" in modifiers:
        found = _rounded(head, modifiers)
    if found is None:
        raise Unsupported("PTX", name)
    return found


def dtype_of(type: str) -> torch.dtype:
    """The torch type for `f32`, `u64`, `b16`, `pred`; integers are held as signed."""
    if type == "pred":
        return torch.bool
    found = _FLOATS.get(type)
    if found is None and type[:1] in ("s", "u", "b") and type[1:].isdigit():
        found = _BITS.get(int(type[1:]))
    if found is None:
        raise Unsupported("PTX", f"type {type}")
    return found


def _flushing(compute: Function, modifiers: list[str]) -> Function:
    """With `.ftz`, subnormal operands and results are zeros."""
    if "ftz" not in modifiers:
        return compute

    def computed(*operands: Tensor) -> Tensor:
        result = compute(*(flushed(one) if one.dtype == torch.float32 else one for one in operands))
        return flushed(result) if result.dtype == torch.float32 else result

    return computed


def _saturating(compute: Function, modifiers: list[str]) -> Function:
    """With `.sat`, between 0 and 1, NaN being 0."""
    if "sat" not in modifiers:
        return compute
    return lambda *operands: libdevice.FUNCTIONS["__nv_saturatef"](compute(*operands))


# -- pairs of floats in one register -----------------------------------------------------------------------------------

_PAIRS = ("f16x2", "bf16x2")
_OF_PAIRS = ("add", "sub", "mul", "fma", "min", "max", "neg", "abs", "ex2", "tanh")


def _of_pairs(half: Meaning) -> Meaning:
    """The same of both halves of registers."""
    (dtype,) = half.types

    def compute(*operands: Tensor) -> Tensor:
        return half.compute(*(one.view(dtype).reshape(-1, 2) for one in operands)).reshape(-1).view(torch.int32)

    return Meaning((torch.int32,), compute)


# -- floats ------------------------------------------------------------------------------------------------------------

_ROUNDED: Mapping[str, str] = {"add": "fadd", "sub": "fsub", "mul": "fmul", "fma": "fmaf", "mad": "fmaf"}
"""Operations of float32 in other modes than to nearest, by the names of their functions in libdevice."""

_NEAREST: Mapping[str, Function] = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "fma": fma, "mad": fma}


def _float_arithmetic(head: str, modifiers: list[str]) -> Meaning | None:
    dtype = dtype_of(modifiers[-1])
    mode = next((one for one in modifiers if one in ("rn", "rz", "rm", "rp")), "rn")
    if mode == "rn":
        compute = _NEAREST[head]
    elif dtype == torch.float32:
        mode = {"rm": "rd", "rp": "ru"}.get(mode, mode)
        compute = libdevice.FUNCTIONS[f"__nv_{_ROUNDED[head]}_{mode}"]
    else:
        return None
    return Meaning((dtype,), _saturating(_flushing(compute, modifiers), modifiers))


def _approximate(exact: Mapping[str, Function], approximate: Function | None) -> Callable[[list[str]], Meaning | None]:
    """One that is rounded rightly as `rn`, and of float32 has an approximation."""

    def make(modifiers: list[str]) -> Meaning | None:
        type = modifiers[-1]
        if "rn" in modifiers and type in exact:
            return Meaning((dtype_of(type),), _flushing(exact[type], modifiers))
        if "approx" in modifiers and type == "f32" and approximate is not None:
            flushes = "ftz" in modifiers
            return Meaning((torch.float32,), lambda x: approximate(x, flushes))
        return None

    return make


_APPROXIMATED: Mapping[str, Function] = {
    "tanh": torch.tanh,
    "lg2": torch.log2,
    "sin": torch.sin,
    "cos": torch.cos,
    "ex2": floats.power_of_two,
}


def _rounded(head: str, modifiers: list[str]) -> Meaning | None:
    """What an approximation approximates."""
    compute = _APPROXIMATED.get(head)
    if compute is None or modifiers[-1] not in ("f16", "bf16", "f32"):
        return None
    return Meaning((dtype_of(modifiers[-1]),), _flushing(compute, modifiers))


def _divide(modifiers: list[str]) -> Meaning | None:
    if modifiers[-1] not in ("f32", "f64"):
        return _integer_division(integers.divide, integers.divide_unsigned)(modifiers)
    if "rn" in modifiers:
        return Meaning((dtype_of(modifiers[-1]),), _flushing(torch.true_divide, modifiers))
    if modifiers[-1] == "f32" and ("full" in modifiers or "approx" in modifiers):
        quotient = approximations.quotient if "full" in modifiers else approximations.fast_quotient
        return Meaning((torch.float32,), lambda a, b: quotient(a, b, "ftz" in modifiers))
    return None


def _extreme(number: Function, propagating: Function, signed: Function, unsigned: Function) -> Function:
    def make(modifiers: list[str]) -> Meaning:
        type = modifiers[-1]
        if type in _FLOATS:
            return Meaning((dtype_of(type),), _flushing(propagating if "NaN" in modifiers else number, modifiers))
        return Meaning((dtype_of(type),), unsigned if type[0] == "u" else signed)

    return make


def _negated(modifiers: list[str]) -> Meaning:
    return Meaning((dtype_of(modifiers[-1]),), _flushing(torch.neg, modifiers))


def _absolute(modifiers: list[str]) -> Meaning:
    return Meaning((dtype_of(modifiers[-1]),), _flushing(torch.abs, modifiers))


def _copied_sign(modifiers: list[str]) -> Meaning:
    """The sign of the first operand, the rest of the second."""
    return Meaning((dtype_of(modifiers[-1]),), lambda sign, x: torch.copysign(x, sign))


_TESTS: Mapping[str, Function] = {
    "finite": torch.isfinite,
    "infinite": torch.isinf,
    "number": lambda x: ~x.isnan(),
    "notanumber": torch.isnan,
    "subnormal": lambda x: (x.abs() < torch.finfo(x.dtype).tiny) & (x != 0),
    "normal": lambda x: x.isfinite() & (x.abs() >= torch.finfo(x.dtype).tiny),
}


def _tested(modifiers: list[str]) -> Meaning | None:
    compute = _TESTS.get(modifiers[0])
    return None if compute is None else Meaning((dtype_of(modifiers[-1]),), compute)


# -- integers ----------------------------------------------------------------------------------------------------------


def _wide(x: Tensor) -> Tensor:
    """Unsigned numbers of 32 bits."""
    return integers.as_unsigned(x)


def _low(x: Tensor) -> Tensor:
    """The lower 32 bits of numbers of 64."""
    return x.to(torch.int32)


def _high(x: Tensor) -> Tensor:
    return (x >> 32).to(torch.int32)


def _add(modifiers: list[str]) -> Meaning | None:
    return _sum("add", modifiers, torch.add)


def _subtract(modifiers: list[str]) -> Meaning | None:
    return _sum("sub", modifiers, torch.sub)


def _sum(head: str, modifiers: list[str], compute: Function) -> Meaning | None:
    if modifiers[-1] in _FLOATS:
        return _float_arithmetic(head, modifiers)
    if "cc" not in modifiers:
        return Meaning((dtype_of(modifiers[-1]),), compute)
    if modifiers[-1] not in ("u32", "s32", "b32"):
        return None
    return Meaning((torch.int32,), compute, carry=lambda a, b: compute(_wide(a), _wide(b)) >> 32 & 1)


def _sum_with_carry(compute: Function) -> Function:
    def make(modifiers: list[str]) -> Meaning | None:
        if modifiers[-1] not in ("u32", "s32", "b32"):
            return None

        def total(a: Tensor, b: Tensor, carry: Tensor) -> Tensor:
            return compute(compute(_wide(a), _wide(b)), carry)

        left = (lambda a, b, carry: total(a, b, carry) >> 32 & 1) if "cc" in modifiers else None
        return Meaning((torch.int32, torch.int32, torch.int64), lambda *x: _low(total(*x)), True, left)

    return make


def _multiply(modifiers: list[str]) -> Meaning | None:
    if modifiers[-1] in _FLOATS:
        return _float_arithmetic("mul", modifiers)
    product = _product(modifiers)
    return None if product is None else Meaning((dtype_of(modifiers[-1]),), product)


def _multiplied(a: Tensor, b: Tensor) -> Tensor:
    return a * b


def _product(modifiers: list[str]) -> Function | None:
    """Of integers: the lower half, the upper, or all of it."""
    type = modifiers[-1]
    is_unsigned = type[0] == "u"
    if "lo" in modifiers:
        return _multiplied
    if "hi" in modifiers:
        return integers.multiply_high_unsigned if is_unsigned else integers.multiply_high
    if "wide" not in modifiers or type[1:] not in ("16", "32"):
        return None
    wider = _BITS[2 * int(type[1:])]
    extend = casts.extend_unsigned if is_unsigned else casts.extend_signed
    return lambda a, b: extend(a, wider) * extend(b, wider)


def _multiply_add(modifiers: list[str]) -> Meaning | None:
    if modifiers[-1] in _FLOATS:
        return _float_arithmetic("fma", modifiers)
    product = _product(modifiers)
    if product is None:
        return None
    dtype = dtype_of(modifiers[-1])
    last = _BITS[2 * int(modifiers[-1][1:])] if "wide" in modifiers else dtype
    if "cc" not in modifiers:
        return Meaning((dtype, dtype, last), lambda a, b, c: product(a, b) + c)
    if modifiers[-1] != "u32":
        return None
    return Meaning(
        (torch.int32,),
        lambda a, b, c: product(a, b) + c,
        carry=lambda a, b, c: (_wide(product(a, b)) + _wide(c)) >> 32,
    )


def _multiply_add_with_carry(modifiers: list[str]) -> Meaning | None:
    product = _product(modifiers)
    if product is None or modifiers[-1] != "u32":
        return None

    def total(a: Tensor, b: Tensor, c: Tensor, carry: Tensor) -> Tensor:
        return _wide(product(a, b)) + _wide(c) + carry

    left = (lambda *x: total(*x) >> 32) if "cc" in modifiers else None
    types = (torch.int32, torch.int32, torch.int32, torch.int64)
    return Meaning(types, lambda *x: _low(total(*x)), True, left)


def _integer_division(signed: Function, unsigned: Function) -> Callable[[list[str]], Meaning | None]:
    def make(modifiers: list[str]) -> Meaning | None:
        type = modifiers[-1]
        return None if type in _FLOATS else Meaning((dtype_of(type),), unsigned if type[0] == "u" else signed)

    return make


def _bitwise(compute: Function, of_predicates: Function) -> Callable[[list[str]], Meaning]:
    def make(modifiers: list[str]) -> Meaning:
        dtype = dtype_of(modifiers[-1])
        return Meaning((dtype,), of_predicates if dtype == torch.bool else compute)

    return make


def _shift_left(modifiers: list[str]) -> Meaning:
    dtype = dtype_of(modifiers[-1])
    width = 8 * dtype.itemsize
    return Meaning((dtype, torch.int32), lambda x, by: _shifted(torch.bitwise_left_shift, x, by, width, 0 * x))


def _shift_right(modifiers: list[str]) -> Meaning:
    """Amounts are unsigned and stop at the width."""
    dtype = dtype_of(modifiers[-1])
    width = 8 * dtype.itemsize
    if modifiers[-1][0] == "s":
        shift = torch.bitwise_right_shift
        return Meaning((dtype, torch.int32), lambda x, by: _shifted(shift, x, by, width, x >> (width - 1)))
    shift = integers.shift_right_logical
    return Meaning((dtype, torch.int32), lambda x, by: _shifted(shift, x, by, width, 0 * x))


def _shifted(shift: Function, x: Tensor, by: Tensor, width: int, beyond: Tensor) -> Tensor:
    fits = (by >= 0) & (by < width)
    return torch.where(fits, shift(x, torch.where(fits, by, 0).to(x.dtype)), beyond)


def _funnel(modifiers: list[str]) -> Meaning | None:
    """Two registers side by side, shifted: of `shf.l` the upper half, of `shf.r` the lower."""
    direction, mode = modifiers[0], modifiers[1]
    if direction not in ("l", "r") or mode not in ("wrap", "clamp"):
        return None

    def compute(low: Tensor, high: Tensor, by: Tensor) -> Tensor:
        amount = _wide(by)
        amount = amount & 31 if mode == "wrap" else amount.clamp(max=32)
        both = (_wide(high) << 32) | _wide(low)
        if direction == "l":
            return _high(both << amount)
        return _low(integers.shift_right_logical(both, amount))

    return Meaning((torch.int32,), compute)


def _extracted(modifiers: list[str]) -> Meaning | None:
    if modifiers[-1] != "u32":
        return None

    def compute(x: Tensor, position: Tensor, length: Tensor) -> Tensor:
        wide = _wide(x) >> (position & 0xFF).clamp(max=63).to(torch.int64)
        return _low(wide & ((1 << (length & 0xFF).clamp(max=32).to(torch.int64)) - 1))

    return Meaning((torch.int32,), compute)


def _inserted(modifiers: list[str]) -> Meaning | None:
    """The lowest bits of the first operand within the second, from a position on."""
    if modifiers != ["b32"]:
        return None

    def compute(x: Tensor, into: Tensor, position: Tensor, length: Tensor) -> Tensor:
        first, count = ((one & 0xFF).clamp(max=32).to(torch.int64) for one in (position, length))
        mask = ((1 << count) - 1) << first
        return _low((_wide(into) & ~mask) | ((_wide(x) << first) & mask))

    return Meaning((torch.int32,), compute)


def _looked_up(modifiers: list[str]) -> Meaning | None:
    """Any function of three bits, whose values are the bits of the last operand."""
    if modifiers != ["b32"]:
        return None

    def compute(a: Tensor, b: Tensor, c: Tensor, table: Tensor) -> Tensor:
        found = torch.zeros_like(a)
        for number in range(8):
            of_a, of_b, of_c = ((x if number & bit else ~x) for x, bit in ((a, 4), (b, 2), (c, 1)))
            found = found | (of_a & of_b & of_c & -(table >> number & 1))
        return found

    return Meaning((torch.int32,), compute)


def _permuted(modifiers: list[str]) -> Meaning | None:
    """Any four of the eight bytes of two registers; of one that is chosen with its sign alone, that in all bits."""
    if modifiers != ["b32"]:
        return None

    def compute(a: Tensor, b: Tensor, chosen: Tensor) -> Tensor:
        both = (_wide(b) << 32) | _wide(a)
        found = torch.zeros_like(both)
        for place in range(4):
            choice = (chosen >> (4 * place)).to(torch.int64)
            byte = both >> (8 * (choice & 7)) & 0xFF
            byte = torch.where((choice & 8) != 0, (byte >> 7) * 0xFF, byte)
            found = found | byte << (8 * place)
        return _low(found)

    return Meaning((torch.int32,), compute)


def _counted(count: Function) -> Callable[[list[str]], Meaning]:
    def make(modifiers: list[str]) -> Meaning:
        return Meaning((dtype_of(modifiers[-1]),), lambda x: count(x).to(torch.int32))

    return make


def _reversed(modifiers: list[str]) -> Meaning:
    return Meaning((dtype_of(modifiers[-1]),), integers.bits_reversed)


# -- choices and casts -------------------------------------------------------------------------------------------------

_COMPARISONS: Mapping[str, Function] = {
    "eq": torch.eq,
    "ne": lambda a, b: (a < b) | (a > b),
    "lt": torch.lt,
    "le": torch.le,
    "gt": torch.gt,
    "ge": torch.ge,
    "equ": lambda a, b: ~((a < b) | (a > b)),
    "neu": torch.ne,
    "ltu": lambda a, b: ~(a >= b),
    "leu": lambda a, b: ~(a > b),
    "gtu": lambda a, b: ~(a <= b),
    "geu": lambda a, b: ~(a < b),
    "num": lambda a, b: ~(a.isnan() | b.isnan()),
    "nan": lambda a, b: a.isnan() | b.isnan(),
}

_UNSIGNED: Mapping[str, Function] = {
    "lt": integers.less_unsigned,
    "le": integers.less_or_equal_unsigned,
    "gt": lambda a, b: integers.less_unsigned(b, a),
    "ge": lambda a, b: integers.less_or_equal_unsigned(b, a),
} | {"lo": integers.less_unsigned, "ls": integers.less_or_equal_unsigned}

_JOINS: Mapping[str, Function] = {
    "and": torch.logical_and,
    "or": torch.logical_or,
    "xor": torch.logical_xor,
}


def _compared(modifiers: list[str]) -> Meaning | None:
    type = modifiers[-1]
    compare = _COMPARISONS.get(modifiers[0])
    if type[0] == "u":
        compare = _UNSIGNED.get(modifiers[0], compare)
    if compare is None:
        return None
    dtype = dtype_of(type)
    compute = _flushing(compare, modifiers)
    join = next((_JOINS[one] for one in modifiers[1:-1] if one in _JOINS), None)
    if join is None:
        return Meaning((dtype,), compute)
    return Meaning((dtype, dtype, torch.bool), lambda a, b, c: join(compute(a, b), c))


def _selected(modifiers: list[str]) -> Meaning:
    dtype = dtype_of(modifiers[-1])
    return Meaning((dtype, dtype, torch.bool), lambda a, b, condition: torch.where(condition, a, b))


def _moved(modifiers: list[str]) -> Meaning:
    return Meaning((dtype_of(modifiers[-1]),), lambda x: x)


_TO_WHOLE: Mapping[str, Function] = {
    "rni": torch.round,
    "rzi": torch.trunc,
    "rmi": torch.floor,
    "rpi": torch.ceil,
}


def _converted(modifiers: list[str]) -> Meaning | None:
    target, source = modifiers[-2:]
    if target in _PACKED or source in _PACKED:
        return _packed(modifiers)
    if target == "tf32":
        return _to_tf32(modifiers)
    mode = next((one for one in modifiers[:-2] if one in _TO_WHOLE), None)
    taken, given = dtype_of(source), dtype_of(target)
    if source in _FLOATS and target in _FLOATS:
        compute = _between_floats(modifiers, mode, given)
    elif source in _FLOATS:
        whole = _TO_WHOLE[mode or "rzi"]
        convert = casts.to_unsigned if target[0] == "u" else casts.to_signed
        compute = _flushing(lambda x: convert(whole(x), given), modifiers)
    elif target in _FLOATS:
        if "rn" not in modifiers:
            return None
        turn = casts.from_unsigned if source[0] == "u" else casts.from_signed
        compute = lambda x: turn(x, given)  # noqa: E731
    else:
        extend = casts.extend_unsigned if source[0] in "ub" else casts.extend_signed
        compute = lambda x: extend(x, given)  # noqa: E731
        if "sat" in modifiers:
            return None
    return None if compute is None else Meaning((taken,), compute)


def _between_floats(modifiers: list[str], mode: str | None, given: torch.dtype) -> Function | None:
    directed = next((one for one in modifiers if one in ("rz", "rm", "rp")), None)
    if directed is not None:
        return None
    whole: Function = _TO_WHOLE[mode] if mode else (lambda x: x)
    return _saturating(_flushing(lambda x: narrow(whole(x), given), modifiers), modifiers)


_PACKED = {
    "f16x2": torch.float16,
    "bf16x2": torch.bfloat16,
    "e4m3x2": torch.float8_e4m3fn,
    "e5m2x2": torch.float8_e5m2,
}


def _packed(modifiers: list[str]) -> Meaning | None:
    """Two floats as halves of one register, the second of them below; or two of 8 bits as two of 16."""
    target, source = modifiers[-2:]
    rest = set(modifiers[:-2])
    if target not in _PACKED or "rn" not in rest:
        return None
    dtype = _PACKED[target]
    whole = {1: torch.int16, 2: torch.int32}[dtype.itemsize]
    if source == "f32" and rest == ({"rn"} if dtype.itemsize == 2 else {"rn", "satfinite"}):
        narrowed = casts.between_floats

        def compute(high: Tensor, low: Tensor) -> Tensor:
            pair = torch.stack(torch.broadcast_tensors(narrowed(low, dtype), narrowed(high, dtype)), -1)
            return pair.view(whole).reshape(-1)

        return Meaning((torch.float32,), compute)
    if target == "f16x2" and source in ("e4m3x2", "e5m2x2") and rest == {"rn"}:
        narrow_type = _PACKED[source]
        return Meaning((torch.int16,), lambda x: x.view(narrow_type).to(dtype).view(whole))
    return None


def _to_tf32(modifiers: list[str]) -> Meaning | None:
    """Rounded to 10 bits behind the first, to nearest; of two that are as near the one further from 0."""
    if modifiers[:-2] != ["rna"]:
        return None

    def compute(x: Tensor) -> Tensor:
        rounded = (x.view(torch.int32) + (1 << 12)) & -(1 << 13)
        return torch.where(x.isfinite(), rounded.view(torch.float32), x)

    return Meaning((torch.float32,), compute)


_MAKERS: Mapping[str, Callable[[list[str]], Meaning | None]] = {
    "add": _add,
    "sub": _subtract,
    "addc": _sum_with_carry(torch.add),
    "subc": _sum_with_carry(torch.sub),
    "mul": _multiply,
    "mad": _multiply_add,
    "madc": _multiply_add_with_carry,
    "fma": lambda modifiers: _float_arithmetic("fma", modifiers),
    "div": _divide,
    "rem": _integer_division(integers.remainder, integers.remainder_unsigned),
    "rcp": _approximate({"f32": torch.reciprocal, "f64": torch.reciprocal}, approximations.reciprocal),
    "sqrt": _approximate({"f32": floats.square_root, "f64": floats.square_root}, approximations.root),
    "rsqrt": _approximate({}, approximations.reciprocal_root),
    "ex2": _approximate({}, approximations.power_of_two),
    "min": _extreme(floats.minimum_number, floats.minimum, torch.minimum, integers.minimum_unsigned),
    "max": _extreme(floats.maximum_number, floats.maximum, torch.maximum, integers.maximum_unsigned),
    "neg": _negated,
    "abs": _absolute,
    "copysign": _copied_sign,
    "testp": _tested,
    "and": _bitwise(torch.bitwise_and, torch.logical_and),
    "or": _bitwise(torch.bitwise_or, torch.logical_or),
    "xor": _bitwise(torch.bitwise_xor, torch.logical_xor),
    "not": _bitwise(torch.bitwise_not, torch.logical_not),
    "shl": _shift_left,
    "shr": _shift_right,
    "shf": _funnel,
    "bfe": _extracted,
    "bfi": _inserted,
    "lop3": _looked_up,
    "prmt": _permuted,
    "clz": _counted(integers.leading_zeros),
    "popc": _counted(integers.bits_set),
    "brev": _reversed,
    "setp": _compared,
    "selp": _selected,
    "mov": _moved,
    "cvt": _converted,
    "cvta": _moved,
}
