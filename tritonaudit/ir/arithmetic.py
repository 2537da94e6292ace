"""The type of an operation's result, as each release gives it, and the operations that no release does."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.ir.values import (
    ANY,
    ANY_FLOAT,
    ANY_INT,
    FLOATS,
    FP8,
    INTEGERS,
    NONE,
    POINTER,
    UNKNOWN,
    UNSIGNED,
    Anything,
    BlockPointer,
    Const,
    Dtype,
    Named,
    Shape,
    Tensor,
    Tuple,
    Value,
    dtype_of_number,
    is_number,
    text_of_type,
)
from tritonaudit.target import Version

if TYPE_CHECKING:
    from tritonaudit.ir.reader import Reader

MAX_NUMEL = 1 << 20
_SCALAR_KINDS = (3, 2)
"""The release from which a number takes the other operand's dtype where that is of its kind or a higher one."""
_RANGES = (3, 3)
"""The release from which a number must fit into the dtype that it takes."""
_COMPARED = (3, 9)
"""The release from which a number takes the other operand's dtype in a comparison, too."""

_TUPLES = (3, 3)
"""The release from which a tuple is a value of its own."""
_CONSTANT_TUPLES = ((3, 3), (3, 8))
"""The releases in which a constant tuple and a written one are no tuples of one kind."""

COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
_BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift)

FOLDS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_SYMBOLS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.Lt: "<",
    ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.MatMult: "@",
}  # fmt: skip


def binary(reader: Reader, node: ast.AST, op: ast.AST, left: Value, right: Value) -> Value:
    """`left op right`, for arithmetic, bits and comparisons."""
    if isinstance(op, ast.MatMult):
        reader.mistake(MistakeKind.MATMUL, node)
        return UNKNOWN
    for one, other in ((left, right), (right, left)):
        if isinstance(other, Tensor) and not other.free and _is_no_operand(one):
            symbol, kind = _SYMBOLS.get(type(op), "?"), "a dtype" if isinstance(one, Const) else "a function"
            reader.mistake(MistakeKind.NO_VALUE, node, "operand", symbol=symbol, text=ast.unparse(node), type=kind)
            return UNKNOWN
    if _has_tuple(left, right):
        return _of_tuples(reader, node, op, left, right)
    if not isinstance(op, (ast.Eq, ast.NotEq)) and _of_none(reader, node, op, left, right):
        return UNKNOWN
    if isinstance(left, Const) and isinstance(right, Const):
        return _folded(op, left, right)
    if isinstance(op, (ast.Eq, ast.NotEq)) and _compares_none(reader, node, left, right):
        return UNKNOWN
    if isinstance(left, BlockPointer) or isinstance(right, BlockPointer):
        reader.mistake(MistakeKind.BLOCK_POINTER, node, "arithmetic", until=(3, 9), text=ast.unparse(node))
        return UNKNOWN
    if not isinstance(left, (Tensor, Const)) or not isinstance(right, (Tensor, Const)):
        return UNKNOWN
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Const) and type(one.value) is str and isinstance(other, Tensor) and not other.free:
            symbol = _SYMBOLS.get(type(op), "?")
            reader.mistake(
                MistakeKind.OPERANDS, node, "string", symbol=symbol, left=text_of_type(other), right=repr(one.value)
            )
            return UNKNOWN
    if isinstance(op, ast.Pow):
        if not _free(left) and not _free(right):
            reader.mistake(MistakeKind.POWER, node, text=ast.unparse(node))
        return UNKNOWN
    if not _is_operand(left) or not _is_operand(right):
        return UNKNOWN
    return _tensors(reader, node, op, left, right)


def _is_no_operand(value: Value) -> bool:
    """A dtype, or one of Python's functions that kernels may call."""
    return (isinstance(value, Const) and isinstance(value.value, Dtype)) or (
        isinstance(value, Named) and value.origin in ("len", "range", "float", "int", "min", "max", "print")
    )


def _free(value: Value) -> bool:
    return isinstance(value, Tensor) and value.free


def _is_operand(value: Value) -> bool:
    return isinstance(value, Tensor) or (
        isinstance(value, Const) and isinstance(value.value, (Anything, bool, int, float))
    )


def _compares_none(reader: Reader, node: ast.AST, left: Value, right: Value) -> bool:
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Const) and one.value is None and isinstance(other, Tensor):
            if not other.free:
                reader.mistake(MistakeKind.NONE_EQUALS, node, text=ast.unparse(node))
            return True
    return False


def no_value(reader: Reader, value: Value, node: ast.AST, where: str, none: bool = False) -> bool:
    """Whether a value can never be a number or block, with the mistake; `none` where None may be given."""
    if _is_comma(value):
        return True
    since: Version | None = _TUPLES if isinstance(value, Tuple) else None
    if since is None:
        if not isinstance(value, Const) or not isinstance(value.value, (str, tuple, type(None))):
            return False
        if value.value is None and (none or not reader.is_sure):
            return False
    reader.mistake(
        MistakeKind.NO_VALUE, node, since=since, where=where, text=ast.unparse(node), type=text_of_type(value)
    )
    return True


def _is_comma(value: Value) -> bool:
    """Whether it is a tuple of one, which is reported where its comma stands."""
    return isinstance(value, Tuple) and len(value.items) == 1


def _of_none(reader: Reader, node: ast.AST, op: ast.AST, left: Value, right: Value) -> bool:
    """Whether an operand is None and the other a number or block, with the mistake where this is surely compiled."""
    for one, other in ((left, right), (right, left)):
        if one == NONE and (isinstance(other, Tensor) or other == NONE or is_number(other)):
            if reader.is_sure:
                symbol = _SYMBOLS.get(type(op), "?")
                reader.mistake(
                    MistakeKind.NO_VALUE, node, "operand", symbol=symbol, text=ast.unparse(node), type="None"
                )
            return True
    return False


def _has_tuple(left: Value, right: Value) -> bool:
    return any(isinstance(one, Tuple) or (isinstance(one, Const) and type(one.value) is tuple) for one in (left, right))


def _of_tuples(reader: Reader, node: ast.AST, op: ast.AST, left: Value, right: Value) -> Value:
    """Tuples are joined by `+` and repeated by `*`, and combined with nothing else."""
    if isinstance(left, Const) and isinstance(right, Const):
        return _folded(op, left, right)
    first, second = unpacked(left), unpacked(right)
    if isinstance(op, ast.Add) and isinstance(first, Tuple) and isinstance(second, Tuple):
        if isinstance(left, Const) or isinstance(right, Const):
            since, until = _CONSTANT_TUPLES
            reader.mistake(MistakeKind.NO_VALUE, node, "tuples", since=since, until=until, text=ast.unparse(node))
        return Tuple((*first.items, *second.items)).bounded
    if isinstance(op, ast.Mult) and isinstance(first, Tuple) and isinstance(second, Const):
        count = second.value
        if type(count) is int and count * max(first.size, 1) < 1024:
            return Tuple(first.items * count, first.literal).bounded
        return UNKNOWN
    if _is_comma(left) or _is_comma(right):
        return UNKNOWN
    if not isinstance(op, COMPARISONS) and any(isinstance(one, Tensor) or is_number(one) for one in (left, right)):
        symbol = _SYMBOLS.get(type(op), "?")
        reader.mistake(
            MistakeKind.NO_VALUE, node, "operand", since=_TUPLES, symbol=symbol, text=ast.unparse(node), type="a tuple"
        )
    return UNKNOWN


def unpacked(value: Value) -> Value:
    """A constant tuple as a tuple of constants."""
    if isinstance(value, Const) and type(value.value) is tuple:
        return Tuple(tuple(map(Const, value.value)))
    return value


def _folded(op: ast.AST, left: Const, right: Const) -> Value:
    if not left.known or not right.known:
        if isinstance(op, ast.Div):
            return Const(ANY_FLOAT)
        ints = all(one.value is ANY_INT or type(one.value) is int for one in (left, right))
        return Const(ANY_INT if ints and not isinstance(op, (ast.Div, ast.Pow, *COMPARISONS)) else ANY)
    a, b = left.value, right.value
    try:
        if isinstance(op, ast.Pow):
            small = isinstance(a, (int, float)) and isinstance(b, (int, float)) and abs(a) < 2**16 and abs(b) < 64
            return Const(a**b) if small else Const(ANY)
        if isinstance(op, (ast.LShift, ast.RShift)):
            if not isinstance(a, int) or not isinstance(b, int) or not 0 <= b < 64 or a.bit_length() >= 1024:
                return Const(ANY)
            return Const(a << b if isinstance(op, ast.LShift) else a >> b)
        fold = FOLDS.get(type(op))
        if fold is None or (isinstance(op, ast.Mult) and not _is_small(a, b)):
            return Const(ANY)
        result = fold(a, b)
        long = isinstance(result, (str, tuple)) and len(result) > _LONGEST
        return Const(ANY) if long else Const(result)
    except (TypeError, ValueError, ArithmeticError):
        return UNKNOWN


_LONGEST = 1024
"""The longest text or tuple that is computed."""


def _is_small(left: Any, right: Any) -> bool:
    """Whether a product stays a number that a computer likes: no text repeated, no endless integer."""
    return all(isinstance(one, float) or (isinstance(one, int) and one.bit_length() < 1024) for one in (left, right))


# -- tensors -----------------------------------------------------------------------------------------------------


def _tensors(reader: Reader, node: ast.AST, op: ast.AST, left: Tensor | Const, right: Tensor | Const) -> Value:
    shape = broadcast(reader, node, left, right)
    comparison = isinstance(op, COMPARISONS)
    a, b = dtype_of(left), dtype_of(right)
    if _is_pointer(a) or _is_pointer(b):
        return _pointers(reader, node, op, left, right, shape)
    if comparison:
        result_dtype(reader, node, op, left, right)
        return Tensor("i1", shape)
    dtype = result_dtype(reader, node, op, left, right)
    return Tensor(dtype, shape, dtype is None and not shape and (_free(left) or _free(right)))


def _is_pointer(dtype: str | None) -> bool:
    return dtype is not None and dtype.startswith(POINTER)


def dtype_of(value: Value) -> str | None:
    """The dtype of an operand: a constant's is that which its number takes."""
    if isinstance(value, Tensor):
        return value.dtype
    if isinstance(value, Const):
        return dtype_of_number(value.value)
    return None


def shape_of(value: Value) -> Shape | None:
    return value.shape if isinstance(value, Tensor) else () if isinstance(value, Const) else None


def _pointers(
    reader: Reader, node: ast.AST, op: ast.AST, left: Tensor | Const, right: Tensor | Const, shape: Shape | None
) -> Value:
    a, b = dtype_of(left), dtype_of(right)
    first, second = _is_pointer(a), _is_pointer(b)
    wrong = None
    if first and second:
        wrong = "two pointers"
    elif isinstance(op, (ast.Add, ast.Sub)):
        other = b if first else a
        if other in FLOATS:
            wrong = "float"
        elif isinstance(op, ast.Sub) and second and other is not None:
            wrong = "reversed"
    elif (b if first else a) is not None:
        wrong = "operator"
    if wrong is not None:
        reader.mistake(
            MistakeKind.OPERANDS, node, wrong,
            symbol=_SYMBOLS.get(type(op), "?"), left=text_of_type(left), right=text_of_type(right),
            divisions=integer_divisions(reader, _offset(node, first)) if wrong == "float" else (),
        )  # fmt: skip
        return UNKNOWN
    return Tensor(a if first else b, shape)


def _offset(node: ast.AST, pointer_is_left: bool) -> ast.expr | None:
    if isinstance(node, ast.AugAssign):
        return node.value if pointer_is_left else None
    if not isinstance(node, ast.BinOp):
        return None
    return node.right if pointer_is_left else node.left


def integer_divisions(reader: Reader, node: ast.expr | None) -> tuple[ast.BinOp, ...]:
    """The divisions of integers that alone make floats of an expression; none where something else does, too."""
    found = _divisions(reader, node) if node is not None else None
    return () if found is None else tuple(found)


def _divisions(reader: Reader, node: ast.expr) -> list[ast.BinOp] | None:
    """The divisions in a sum, difference or product of integers and divisions of integers; None if it is another."""
    if isinstance(node, ast.UnaryOp):
        return _divisions(reader, node.operand)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)):
        left, right = _divisions(reader, node.left), _divisions(reader, node.right)
        if left is None or right is None:
            return None
        return [*left, *right, *([node] if isinstance(node.op, ast.Div) else [])]
    return [] if dtype_of(reader.known(node)) in INTEGERS else None


def result_dtype(reader: Reader, node: ast.AST, op: ast.AST, left: Value, right: Value) -> str | None:
    """The dtype of the result, with the mistakes of dtypes that do not go together; None where it is not known."""
    a, b = dtype_of(left), dtype_of(right)
    if isinstance(op, _BITWISE) and (a in FLOATS or b in FLOATS):
        reader.mistake(
            MistakeKind.OPERANDS,
            node,
            "bits",
            symbol=_SYMBOLS[type(op)],
            left=text_of_type(left),
            right=text_of_type(right),
        )
        return None
    if isinstance(op, ast.FloorDiv) and (a in FLOATS or b in FLOATS):
        reader.mistake(MistakeKind.FLOAT_FLOOR, node, text=ast.unparse(node), left=text_of_type(left))
        return None
    for one, other in ((left, right), (right, left)):
        wide = isinstance(one, Const) and type(one.value) is int and dtype_of_number(one.value) is None
        if wide and isinstance(one, Const) and isinstance(other, Tensor) and not other.free:
            reader.mistake(MistakeKind.NO_NUMBER, node, text=f"an integer of {one.value.bit_length()} bits")
    if a is None or b is None:
        return None
    division = isinstance(op, (ast.Div, ast.Mod, ast.FloorDiv))
    old = promoted(a, b, division)
    new = _with_number(reader, node, op, left, right, division)
    if division and _signs_differ(left, right) and isinstance(op, (ast.FloorDiv, ast.Mod)):
        reader.mistake(MistakeKind.SIGNEDNESS, node, left=text_of_type(left), right=text_of_type(right))
        return None
    early = reader.before(_SCALAR_KINDS)
    result = new if early is False else old if early else (old if old == new else None)
    if isinstance(op, ast.Div) and result in INTEGERS:
        return "fp32"
    return result


def _signs_differ(left: Value, right: Value) -> bool:
    a, b = dtype_of(left), dtype_of(right)
    if isinstance(left, Const) or isinstance(right, Const):
        return False
    unsigned = (*UNSIGNED, "i1")
    return a in INTEGERS and b in INTEGERS and (a in unsigned) != (b in unsigned)


def _with_number(reader: Reader, node: ast.AST, op: ast.AST, left: Value, right: Value, division: bool) -> str | None:
    """The dtype from the release on in which a number takes the dtype of the tensor beside it."""
    a, b = dtype_of(left), dtype_of(right)
    assert a is not None
    assert b is not None
    if isinstance(left, Const) == isinstance(right, Const):
        return promoted(a, b, division)
    number, tensor = (left, b) if isinstance(left, Const) else (right, a)
    scalar = a if isinstance(left, Const) else b
    if _rank_of_kind(scalar) > _rank_of_kind(tensor):
        return promoted(a, b, division)
    if tensor in UNSIGNED and _is_negative(number) and not isinstance(op, COMPARISONS):
        reader.mistake(
            MistakeKind.SIGNEDNESS,
            node,
            "negative",
            since=_SCALAR_KINDS,
            until=_RANGES,
            left=text_of_type(Tensor(tensor, ())),
        )
    if tensor in INTEGERS and isinstance(number, Const) and number.known and not _fits(number.value, tensor):
        _out_of_range(reader, node, op, number.value, tensor)
        return tensor
    if division and tensor in ("fp16", "bf16"):
        return "fp32"
    return tensor


def _is_negative(number: Value) -> bool:
    return isinstance(number, Const) and isinstance(number.value, (int, float)) and number.value < 0


def _out_of_range(reader: Reader, node: ast.AST, op: ast.AST, value: object, dtype: str) -> None:
    comparison = isinstance(op, COMPARISONS)
    reader.mistake(MistakeKind.OUT_OF_RANGE, node, since=_COMPARED if comparison else _RANGES, value=value, dtype=dtype)
    if dtype == "i32" and not comparison and dtype_of_number(value) not in (None, "i32"):
        reader.mistake(
            MistakeKind.OUT_OF_RANGE, node, "wraps", since=_SCALAR_KINDS, until=_RANGES, value=value, dtype=dtype
        )


def _fits(value: object, dtype: str) -> bool:
    bits = int(dtype[1:])
    if dtype == "i1":
        return value in (0, 1, -1)
    low, high = (0, 2**bits) if dtype in UNSIGNED else (-(2 ** (bits - 1)), 2 ** (bits - 1))
    return isinstance(value, int) and low <= value < high


def _rank_of_kind(dtype: str | None) -> int:
    return 0 if dtype == "i1" else 1 if dtype in INTEGERS else 2


def promoted(a: str, b: str, division: bool = False) -> str | None:
    """The dtype that two tensors' dtypes promote to."""
    if "fp64" in (a, b):
        return "fp64"
    if "fp32" in (a, b):
        return "fp32"
    if "fp16" in (a, b):
        return "fp32" if division else "fp16"
    if "bf16" in (a, b):
        return "bf16" if a == b and not division else "fp32"
    if a in FP8 or b in FP8:
        return (a if a == b else "fp16") if a in FP8 and b in FP8 and not division else None
    if a not in INTEGERS or b not in INTEGERS:
        return None
    return promoted_integers(a, b)


def promoted_integers(a: str, b: str) -> str:
    """C's usual conversions: the wider one, the unsigned one of two that are as wide."""
    x, y = int(a[1:]), int(b[1:])
    if (a in UNSIGNED) == (b in UNSIGNED):
        return a if x > y else b
    unsigned, signed = (a, b) if a in UNSIGNED else (b, a)
    return unsigned if int(unsigned[1:]) >= int(signed[1:]) else signed


# -- shapes ------------------------------------------------------------------------------------------------------


def broadcast(reader: Reader, node: ast.AST, left: Value, right: Value) -> Shape | None:
    """The shape of an elementwise result; a mistake where two dimensions differ and neither is 1."""
    a, b = shape_of(left), shape_of(right)
    if a is None or b is None:
        return None
    result = broadcast_shapes(a, b)
    if result is None:
        reader.mistake(MistakeKind.SHAPES, node, left=written(a), right=written(b), text=ast.unparse(node))
        return None
    if len(result) > max(len(a), len(b)) - 1:
        too_large(reader, node, result, *((a, b)))
    return result


def broadcast_shapes(a: Shape, b: Shape) -> Shape | None:
    """The shape that both broadcast to; None where they do not."""
    rank = max(len(a), len(b))
    result: list[int | None] = []
    for position in range(-rank, 0):
        x = a[position] if -position <= len(a) else 1
        y = b[position] if -position <= len(b) else 1
        if x is not None and y is not None and x != y and 1 not in (x, y):
            return None
        result.append(y if x == 1 else x if y == 1 else x if x is not None else y)
    return tuple(result)


def too_large(reader: Reader, node: ast.AST, shape: Shape, *sources: Shape) -> None:
    """A mistake where a block has more elements than Triton allows, and its sources had not."""
    count = Tensor(None, shape).numel
    if count is not None and count > MAX_NUMEL and not any((Tensor(None, s).numel or 0) > MAX_NUMEL for s in sources):
        reader.mistake(MistakeKind.TOO_LARGE, node, count=count, shape=written(shape), limit=MAX_NUMEL)


def written(shape: Shape | None) -> str:
    """A shape as the text would have it."""
    if shape is None:
        return "(?)"
    inside = ", ".join("?" if dim is None else str(dim) for dim in shape)
    return f"({inside},)" if len(shape) == 1 else f"({inside})"
