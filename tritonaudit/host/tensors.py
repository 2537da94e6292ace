"""What tensors tell of themselves, and what makes new ones of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tritonaudit.domains.affine import ONE, Affine
from tritonaudit.host.run import CONTIGUOUS, Raises, Run
from tritonaudit.host.values import Condition, Dims, Dtype, Shape, Symbol, Tensor, Test, Value, as_number, number

Arguments = list[Value]
Keywords = dict[str, Value]
Method = Callable[[Run, Tensor, Arguments, Keywords], Value]

_DTYPES = {
    "float": "float32", "double": "float64", "half": "float16", "int": "int32", "long": "int64", "short": "int16",
    "bfloat16": "bfloat16", "bool": "bool", "byte": "uint8", "char": "int8",
}  # fmt: skip


# -- new ------------------------------------------------------------------------------------------------------------


def made(run: Run, shape: Value, dtype: Value, how: str) -> Tensor:
    """A new tensor, contiguous; of unknown shape where none is given."""
    symbol = run.unknown(f"the elements of `{how}`", shape, name="a new tensor")
    known: Shape = run.dims(shape) if isinstance(shape, (tuple, list, Dims)) else Dims(symbol)
    return Tensor(symbol, known, None, dtype, how, True)


def shape_of(run: Run, args: Sequence[Value]) -> Value:
    """The sizes that are given one by one, or as a whole."""
    if len(args) == 1 and (isinstance(args[0], (tuple, list, Dims))):
        return args[0]
    if len(args) == 1 and isinstance(args[0], Symbol) and args[0].reason:
        return args[0]
    sizes = tuple(run.integer(value) for value in args)
    return run.unknown("sizes that are not numbers", *args) if None in sizes else sizes


def _view(run: Run, tensor: Tensor, shape: Shape, strides: tuple[Value, ...] | None, how: str) -> Tensor:
    symbol = Symbol(run.fresh(), tensor.symbol.name, tensor.symbol.reason or "a view", tensor.symbol.roots)
    if isinstance(shape, Dims) and shape.of == tensor.symbol:
        symbol = tensor.symbol
    return Tensor(symbol, shape, strides, tensor.dtype, how, False)


def _unknown(run: Run, tensor: Tensor, what: str, *made_of: Value) -> Symbol:
    return run.unknown(f"`{what}` of a tensor", tensor, *made_of, name=f"{tensor.symbol.name}.{what}(…)")


# -- asked ---------------------------------------------------------------------------------------------------------


def is_contiguous(run: Run, tensor: Tensor) -> Condition | bool:
    if tensor.is_contiguous:
        return True
    of = tensor.symbol
    return run.condition(Condition(Test(CONTIGUOUS, of.key, f"{of.name}.is_contiguous()", None, of.reason, of.roots)))


def stride(run: Run, tensor: Tensor, index: int) -> Value:
    """The stride of a dimension: that of the storage, or the product of the sizes behind it."""
    dims = run.dims(tensor.shape)
    if not isinstance(dims, Dims) and not -len(dims) <= index < len(dims):
        raise Raises(f"`{tensor.symbol.name}` has no dimension {index}")
    if tensor.strides is not None:
        return tensor.strides[index]
    if is_contiguous(run, tensor) is not True:
        return run.stride(tensor.symbol, index)
    if isinstance(dims, Dims):
        if index >= 0:
            return run.stride(dims.of, dims.first + index, "contiguous().stride")
        behind: list[Value] = [run.item(dims, place) for place in range(index + 1, 0)]
    else:
        behind = list(dims[index + 1 :] if index != -1 else ())
    count = run.count(tuple(behind))
    return _unknown(run, tensor, "stride") if count is None else count


def strides(run: Run, tensor: Tensor) -> tuple[Value, ...] | None:
    """All of them, where the number of dimensions is known."""
    dims = run.dims(tensor.shape)
    return None if isinstance(dims, Dims) else tuple(stride(run, tensor, index) for index in range(len(dims)))


def attribute(run: Run, tensor: Tensor, name: str) -> Value:
    """`x.shape`, `x.dtype` and the like; None where it is none of those that are known."""
    if name == "shape":
        return run.dims(tensor.shape)
    if name == "dtype":
        return tensor.dtype
    if name == "ndim":
        return run.rank(tensor.shape)
    if name in ("T", "mT"):
        return _transpose(run, tensor, [number(-1), number(-2)], {})
    if name in ("data", "grad_fn"):
        return tensor
    return tensor.symbol.part(name)


# -- methods -------------------------------------------------------------------------------------------------------


def _size(run: Run, tensor: Tensor, args: Arguments, keywords: Keywords) -> Value:
    place = args[0] if args else keywords.get("dim")
    if place is None:
        return run.dims(tensor.shape)
    index = as_number(place)
    return _unknown(run, tensor, "size", place) if index is None else size(run, tensor, index)


def size(run: Run, tensor: Tensor, index: int) -> Value:
    dims = run.dims(tensor.shape)
    if isinstance(dims, Dims):
        return run.item(dims, index)
    if not -len(dims) <= index < len(dims):
        raise Raises(f"`{tensor.symbol.name}` has no dimension {index}")
    return dims[index]


def _stride(run: Run, tensor: Tensor, args: Arguments, keywords: Keywords) -> Value:
    place = args[0] if args else keywords.get("dim")
    if place is None:
        found = strides(run, tensor)
        return _unknown(run, tensor, "stride") if found is None else found
    index = as_number(place)
    return _unknown(run, tensor, "stride", place) if index is None else stride(run, tensor, index)


def _numel(run: Run, tensor: Tensor, args: Arguments, keywords: Keywords) -> Value:
    count = run.count(tensor.shape)
    return _unknown(run, tensor, "numel") if count is None else count


def _dim(run: Run, tensor: Tensor, args: Arguments, keywords: Keywords) -> Value:
    return run.rank(tensor.shape)


def _contiguous(run: Run, tensor: Tensor, args: Arguments, keywords: Keywords) -> Value:
    if is_contiguous(run, tensor) is True:
        return tensor
    return Tensor(tensor.symbol, run.dims(tensor.shape), None, tensor.dtype, "contiguous", True)


def _is_contiguous(run: Run, tensor: Tensor, args: Arguments, keywords: Keywords) -> Value:
    return is_contiguous(run, tensor)


def _reshape(run: Run, tensor: Tensor, args: Arguments, keywords: Keywords) -> Value:
    if len(args) == 1 and isinstance(args[0], Dtype):
        return _reinterpreted(run, tensor, args[0])
    shape = shape_of(run, args)
    dims = run.dims(shape) if isinstance(shape, (tuple, list, Dims)) else None
    if dims is None or isinstance(dims, Dims):
        return _view(run, tensor, dims or Dims(_unknown(run, tensor, "view")), None, "view")
    sizes = [run.integer(value) for value in dims]
    if None in sizes:
        return _unknown(run, tensor, "view", *args)
    filled = _filled(run, tensor, [one for one in sizes if one is not None])
    flat = is_contiguous(run, tensor) is True
    return replace(_view(run, tensor, filled, None, "view"), is_contiguous=flat)


def _reinterpreted(run: Run, tensor: Tensor, dtype: Dtype) -> Value:
    """The same bytes as elements of another type: with wider or narrower ones, the last dimension has others."""
    before, after = tensor.dtype.itemsize if isinstance(tensor.dtype, Dtype) else None, dtype.itemsize
    if before == after or before is None or after is None:
        return replace(tensor, dtype=dtype)
    dims = run.dims(tensor.shape)
    last = run.integer(dims[-1]) if dims and not isinstance(dims, Dims) else None
    if last is None or isinstance(dims, Dims) or is_contiguous(run, tensor) is not True:
        return _unknown(run, tensor, "view")
    bytes_ = run.arithmetic.times(last, Affine.constant(before))
    shape = (*dims[:-1], run.arithmetic.quotient(bytes_, Affine.constant(after)))
    return replace(_view(run, tensor, shape, None, "view"), dtype=dtype, is_contiguous=True)


def _filled(run: Run, tensor: Tensor, sizes: list[Affine]) -> tuple[Value, ...]:
    """The -1 among the sizes becomes what the others leave."""
    total, others = run.count(tensor.shape), ONE
    for one in sizes:
        others = others if one.value == -1 else run.arithmetic.times(others, one)
    open_places = [place for place, one in enumerate(sizes) if one.value == -1]
    if not open_places:
        if total is not None and total.value is not None and others.value not in (None, total.value):
            raise Raises(f"{total} elements do not make a shape of {others}")
        return tuple(sizes)
    if total is None:
        left: Value = _unknown(run, tensor, "view")
    elif others.value == 0:
        raise Raises("a shape with -1 beside 0")
    else:
        left = run.arithmetic.quotient(total, others)
    return tuple(left if place == open_places[0] else one for place, one in enumerate(sizes))


def _flatten(run: Run, tensor: Tensor, args: Arguments, keywords: Keywords) -> Value:
    first = as_number(args[0] if args else keywords.get("start_dim", number(0)))
    last = as_number(args[1] if len(args) > 1 else keywords.get("end_dim", number(-1)))
    dims = run.dims(tensor.shape)
    if first == 0 and last == -1:
        count = run.count(dims)
        shape: Shape = (count if count is not None else _unknown(run, tensor, "flatten"),)
    elif isinstance(dims, Dims) and first == 0 and last == -2:
        end = (dims.last or 0) - 1
        shape = (run.count(Dims(dims.of, dims.first, end)), run.item(dims, -1))
    elif isinstance(dims, Dims) or not dims or first is None or last is None:
        return _unknown(run, tensor, "flatten")
    else:
        first, last = first % len(dims), last % len(dims)
        shape = (*dims[:first], run.count(dims[first : last + 1]), *dims[last + 1 :])
    return replace(_view(run, tensor, shape, None, "flatten"), is_contiguous=is_contiguous(run, tensor) is True)


def _transpose(run: Run, tensor: Tensor, args: Arguments, keywords: Keywords) -> Value:
    places = [as_number(value) for value in (*args, *keywords.values())]
    dims = run.dims(tensor.shape)
    if len(places) != 2 or None in places:
        return _unknown(run, tensor, "transpose")
    if isinstance(dims, Dims) or not dims:
        return _unknown(run, tensor, "transpose")
    order = list(range(len(dims)))
    one, other = (place % len(dims) for place in places if place is not None)
    order[one], order[other] = other, one
    return _permuted(run, tensor, order)


def _permute(run: Run, tensor: Tensor, args: Arguments, keywords: Keywords) -> Value:
    given = args[0] if len(args) == 1 and isinstance(args[0], (tuple, list)) else args
    order = [as_number(value) for value in given]
    if None in order or not order:
        return _unknown(run, tensor, "permute")
    if isinstance(run.dims(tensor.shape), Dims):
        run.learn_rank(tensor.symbol, len(order))
    return _permuted(run, tensor, [place % len(order) for place in order if place is not None])


def _permuted(run: Run, tensor: Tensor, order: list[int]) -> Tensor | Symbol:
    dims, steps = run.dims(tensor.shape), strides(run, tensor)
    if isinstance(dims, Dims) or steps is None or len(order) != len(dims):
        return _unknown(run, tensor, "permute")
    return _view(run, tensor, tuple(dims[i] for i in order), tuple(steps[i] for i in order), "permute")


def _t(run: Run, tensor: Tensor, args: Arguments, keywords: Keywords) -> Value:
    if isinstance(run.dims(tensor.shape), Dims) and isinstance(tensor.shape, Dims):
        run.learn_rank(tensor.shape.of, 2)
    return _transpose(run, tensor, [number(0), number(1)], {})


def _unsqueeze(run: Run, tensor: Tensor, args: Arguments, keywords: Keywords) -> Value:
    place, dims = as_number(args[0] if args else keywords.get("dim")), run.dims(tensor.shape)
    steps = strides(run, tensor)
    if place is None or isinstance(dims, Dims) or steps is None:
        return _unknown(run, tensor, "unsqueeze")
    place %= len(dims) + 1
    shape = (*dims[:place], ONE, *dims[place:])
    return _view(run, tensor, shape, (*steps[:place], ONE, *steps[place:]), "unsqueeze")


def _squeeze(run: Run, tensor: Tensor, args: Arguments, keywords: Keywords) -> Value:
    place, dims = as_number(args[0] if args else keywords.get("dim")), run.dims(tensor.shape)
    steps = strides(run, tensor)
    if place is None or isinstance(dims, Dims) or steps is None or as_number(dims[place]) != 1:
        return _unknown(run, tensor, "squeeze")
    place %= len(dims)
    shape = (*dims[:place], *dims[place + 1 :])
    return _view(run, tensor, shape, (*steps[:place], *steps[place + 1 :]), "squeeze")


def _expand(run: Run, tensor: Tensor, args: Arguments, keywords: Keywords) -> Value:
    shape, dims, steps = shape_of(run, args), run.dims(tensor.shape), strides(run, tensor)
    if not isinstance(shape, (tuple, list)) or isinstance(dims, Dims) or steps is None or len(shape) < len(dims):
        return _unknown(run, tensor, "expand")
    new = len(shape) - len(dims)
    old = [(number(-1), number(0))] * new + list(zip(dims, steps, strict=True))
    kept = [as_number(want) == -1 or want == have for want, (have, _) in zip(shape, old, strict=True)]
    return _view(
        run,
        tensor,
        tuple(have if keep else want for keep, want, (have, _) in zip(kept, shape, old, strict=True)),
        tuple(step if keep else number(0) for keep, (_, step) in zip(kept, old, strict=True)),
        "expand",
    )


def _narrow(run: Run, tensor: Tensor, args: Arguments, keywords: Keywords) -> Value:
    place = as_number(args[0]) if len(args) == 3 else None
    return _unknown(run, tensor, "narrow") if place is None else resized(run, tensor, place, args[2], "narrow")


def resized(run: Run, tensor: Tensor, place: int, length: Value, how: str) -> Value:
    """The tensor with another size along a dimension, in the same storage."""
    dims, steps = run.dims(tensor.shape), strides(run, tensor)
    if isinstance(dims, Dims) or steps is None:
        return _unknown(run, tensor, how)
    place %= len(dims)
    return _view(run, tensor, (*dims[:place], length, *dims[place + 1 :]), steps, how)


def _split(run: Run, tensor: Tensor, args: Arguments, keywords: Keywords) -> Value:
    place = as_number(args[1] if len(args) > 1 else keywords.get("dim", number(0)))
    lengths = args[0] if args else keywords.get("split_size_or_sections")
    if place is not None and isinstance(lengths, (tuple, list)):
        return tuple(resized(run, tensor, place, length, "split") for length in lengths)
    return _unknown(run, tensor, "split", *args)


def _chunk(run: Run, tensor: Tensor, args: Arguments, keywords: Keywords) -> Value:
    count, place = as_number(args[0]), as_number(args[1] if len(args) > 1 else keywords.get("dim", number(0)))
    length = None if place is None else run.integer(size(run, tensor, place))
    if count is None or not 0 < count <= 16 or place is None or length is None:
        return _unknown(run, tensor, "chunk", *args)
    part = run.arithmetic.rounded_up(length, number(count))
    last = length - run.arithmetic.times(part, number(count - 1))
    return tuple(resized(run, tensor, place, part if i < count - 1 else last, "chunk") for i in range(count))


def _to(run: Run, tensor: Tensor, args: Arguments, keywords: Keywords) -> Value:
    """The same elements in another dtype or place; its layout is kept, and a stand-in for it is the tensor itself."""
    given = [*args, *keywords.values()]
    dtype = keywords.get("dtype", next((value for value in given if isinstance(value, Dtype)), None))
    if dtype is None:
        symbols = [value for value in given if isinstance(value, Symbol) and value.key[-1:] == ("dtype",)]
        dtype = symbols[0] if symbols else tensor.dtype
    return replace(tensor, dtype=dtype)


def _cast(dtype: str) -> Method:
    return lambda run, tensor, args, keywords: replace(tensor, dtype=Dtype(dtype))


def _same(run: Run, tensor: Tensor, args: Arguments, keywords: Keywords) -> Value:
    return tensor


def _new(how: str) -> Method:
    def method(run: Run, tensor: Tensor, args: Arguments, keywords: Keywords) -> Value:
        given = args[:1] if isinstance(args[0] if args else None, (tuple, list, Dims)) else args
        shape = keywords.get("size", shape_of(run, given))
        return made(run, shape, keywords.get("dtype", tensor.dtype), how)

    return method


def _element_size(run: Run, tensor: Tensor, args: Arguments, keywords: Keywords) -> Value:
    bits = "".join(filter(str.isdigit, tensor.dtype.name[:9])) if isinstance(tensor.dtype, Dtype) else ""
    known = {"8": 1, "16": 2, "32": 4, "64": 8}.get(bits)
    return tensor.symbol.part("element_size()") if known is None else number(known)


def _shaped(name: str) -> Method:
    """A method that makes a contiguous tensor of the same shape."""
    return lambda run, tensor, args, keywords: made(run, run.dims(tensor.shape), tensor.dtype, name)


METHODS: dict[str, Method] = {
    "size": _size, "stride": _stride, "numel": _numel, "nelement": _numel, "dim": _dim, "ndimension": _dim,
    "contiguous": _contiguous, "is_contiguous": _is_contiguous, "view": _reshape, "reshape": _reshape,
    "flatten": _flatten, "ravel": _flatten, "transpose": _transpose, "swapaxes": _transpose, "permute": _permute,
    "t": _t, "unsqueeze": _unsqueeze, "squeeze": _squeeze, "expand": _expand, "narrow": _narrow, "split": _split,
    "chunk": _chunk, "to": _to, "type": _to, "detach": _same, "requires_grad_": _same, "zero_": _same, "cuda": _same,
    "fill_": _same, "copy_": _same, "element_size": _element_size, "clone": _shaped("clone"),
    **{name: _new(name) for name in ("new_empty", "new_zeros", "new_ones", "new_full")},
    **{name: _cast(dtype) for name, dtype in _DTYPES.items()},
}  # fmt: skip
