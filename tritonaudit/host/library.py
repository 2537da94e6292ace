"""What functions of Python, torch and Triton return."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from tritonaudit.domains.affine import Affine
from tritonaudit.host import tensors
from tritonaudit.host.facts import KIND
from tritonaudit.host.run import Raises, Run
from tritonaudit.host.values import (
    Bag,
    Class,
    Condition,
    Config,
    Described,
    Dims,
    Dtype,
    External,
    Function,
    Object,
    Partial,
    Ratio,
    Symbol,
    Tensor,
    Test,
    Value,
    number,
    roots_of,
)

Arguments = list[Value]
Keywords = dict[str, Value]
Known = Callable[[Run, Arguments, Keywords], Value]

_LONGEST = 512
_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")


# -- numbers -------------------------------------------------------------------------------------------------------


def _whole(function: Callable[[Run, list[Affine]], Value]) -> Known:
    """A function of integers."""

    def call(run: Run, args: Arguments, keywords: Keywords) -> Value:
        whole = [run.integer(value) for value in (*args, *keywords.values())]
        known = [one for one in whole if one is not None]
        if len(known) < len(whole) or not known:
            return run.unknown("a function of what is not an integer", *args)
        return function(run, known)

    return call


def _cdiv(run: Run, given: list[Affine]) -> Value:
    if given[1].value == 0:
        raise Raises("it divides by 0")
    return run.arithmetic.rounded_up(given[0], given[1])


def _extreme(is_least: bool) -> Known:
    def call(run: Run, args: Arguments, keywords: Keywords) -> Value:
        values = list(args[0]) if len(args) == 1 and isinstance(args[0], (tuple, list)) else args
        if values and all(isinstance(value, (float, Affine)) for value in values):
            floats = [float(v.value) if isinstance(v, Affine) and v.value is not None else v for v in values]
            if any(isinstance(value, float) for value in values):
                known = [value for value in floats if isinstance(value, float)]
                chosen = min(known) if is_least else max(known)
                return chosen if len(known) == len(floats) else run.unknown("the extreme of numbers", *args)
        whole = [run.integer(value) for value in values]
        sizes = [one for one in whole if one is not None]
        if not sizes or len(sizes) < len(whole):
            return run.unknown("the extreme of what is not known", *args)
        return run.arithmetic.least(*sizes) if is_least else run.arithmetic.most(*sizes)

    return call


def _rounded(is_up: bool) -> Known:
    """`math.ceil(a / b)` and `int(a / b)`."""

    def call(run: Run, args: Arguments, keywords: Keywords) -> Value:
        value = args[0] if args else number(0)
        if isinstance(value, Ratio):
            divide = run.arithmetic.rounded_up if is_up else run.arithmetic.quotient
            return divide(value.above, value.below)
        if isinstance(value, float):
            return number(math.ceil(value) if is_up else int(value)) if abs(value) < 1 << 62 else run.unknown("inf")
        if isinstance(value, str):
            return number(int(value)) if value.isdigit() else run.unknown("the number of a text")
        if isinstance(value, Condition):
            return number(int(run.truth(value)))
        whole = run.integer(value)
        return run.unknown("the integer of what is not a number", value) if whole is None else whole

    return call


def _plain(function: Callable[[float], float]) -> Known:
    """A function of a floating-point number that is known."""

    def call(run: Run, args: Arguments, keywords: Keywords) -> Value:
        value = args[0].value if args and isinstance(args[0], Affine) else args[0] if args else None
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            try:
                return float(function(value))
            except (ValueError, OverflowError) as error:
                raise Raises(str(error)) from None
        return run.unknown("a floating-point number", *args)

    return call


def _product(run: Run, args: Arguments, keywords: Keywords) -> Value:
    sizes = args[0] if args else ()
    count = run.count(sizes) if isinstance(sizes, (tuple, list, Dims)) else None
    return run.unknown("the product of what is not known", *args) if count is None else count


def _sum(run: Run, args: Arguments, keywords: Keywords) -> Value:
    parts = [run.integer(value) for value in args[0]] if isinstance(args[0], (tuple, list)) else [None]
    total = number(0)
    for part in parts:
        if part is None:
            return run.unknown("the sum of what is not known", *args)
        total = total + part
    return total


# -- sequences -----------------------------------------------------------------------------------------------------


def _length(run: Run, args: Arguments, keywords: Keywords) -> Value:
    value = args[0]
    if isinstance(value, (tuple, list, dict, str)):
        return number(len(value))
    if isinstance(value, Dims):
        return run.rank(value)
    if isinstance(value, Tensor):
        return tensors.size(run, value, 0)
    if isinstance(value, Symbol):
        return run.size(value, (*value.key, "len"), f"len({value.name})", 0)
    return run.unknown("the length of what is not known", value)


def _range(run: Run, args: Arguments, keywords: Keywords) -> Value:
    whole = [run.integer(value) for value in args]
    numbers = [one.value for one in whole if one is not None and one.value is not None]
    if len(numbers) == len(args) and (len(numbers) < 3 or numbers[2]):
        turns = range(*numbers)
        if len(turns) <= _LONGEST:
            return tuple(number(turn) for turn in turns)
    return Bag(run.unknown("how far a loop has come", *args, name="a loop's variable"))


def _sequence(kind: type[tuple[Value, ...]] | type[list[Value]]) -> Known:
    def call(run: Run, args: Arguments, keywords: Keywords) -> Value:
        if not args:
            return kind()
        value = run.dims(args[0]) if isinstance(args[0], Dims) else args[0]
        if isinstance(value, (tuple, list, dict)):
            return kind(value)
        return value if isinstance(value, (Dims, Bag, Symbol)) else run.unknown("a sequence", value)

    return call


def _zip(run: Run, args: Arguments, keywords: Keywords) -> Value:
    if all(isinstance(value, (tuple, list)) for value in args):
        return tuple(zip(*args, strict=False))
    return Bag(run.unknown("pairs of what is not known", *args))


def _enumerate(run: Run, args: Arguments, keywords: Keywords) -> Value:
    if args and isinstance(args[0], (tuple, list)):
        return tuple((number(place), value) for place, value in enumerate(args[0]))
    return Bag(run.unknown("pairs of what is not known", *args))


def _reversed(run: Run, args: Arguments, keywords: Keywords) -> Value:
    value = run.dims(args[0]) if isinstance(args[0], Dims) else args[0]
    return tuple(reversed(value)) if isinstance(value, (tuple, list)) else run.unknown("a sequence", value)


def _every(is_all: bool) -> Known:
    def call(run: Run, args: Arguments, keywords: Keywords) -> Value:
        if not isinstance(args[0], (tuple, list)):
            return run.unknown("whether all of what is not known hold", *args)
        for value in args[0]:
            if run.truth(value) is not is_all:
                return not is_all
        return is_all

    return call


def _dict(run: Run, args: Arguments, keywords: Keywords) -> Value:
    first = args[0] if args else {}
    return {**first, **keywords} if isinstance(first, dict) else run.unknown("a dictionary", *args)


# -- kinds ---------------------------------------------------------------------------------------------------------

_KINDS: dict[str, tuple[type, ...]] = {
    "int": (Affine,), "float": (float,), "str": (str,), "bool": (bool, Condition), "tuple": (tuple, Dims),
    "list": (list,), "set": (list,), "frozenset": (tuple,), "dict": (dict,), "torch.Tensor": (Tensor,),
    "torch.dtype": (Dtype,), "torch.nn.Parameter": (),
}  # fmt: skip


def _isinstance(run: Run, args: Arguments, keywords: Keywords) -> Value:
    value, kinds = args[0], args[1] if isinstance(args[1], tuple) else (args[1],)
    names = [kind.name for kind in kinds if isinstance(kind, External)]
    if isinstance(value, Symbol):
        known = run.kinds.get(value.key)
        if known is not None:
            return known in names
        what = " or ".join(names) or "…"  # most of what comes in is not what is asked for
        test = Test(KIND, (value.key, what), f"{value.name} is no {what}", None, value.reason, value.roots)
        return run.condition(Condition(test, False))
    if isinstance(value, Object):
        return any(isinstance(kind, Class) and kind is value.of for kind in kinds) or run.unknown("a class", value)
    if any(name not in _KINDS for name in names) or len(names) < len(kinds):
        return run.unknown("a class", value)
    return any(isinstance(value, _KINDS[name]) for name in names)


def _hasattr(run: Run, args: Arguments, keywords: Keywords) -> Value:
    """What comes in has, as a rule, no more than what all of its kind have."""
    if isinstance(args[0], Symbol) and isinstance(args[1], str) and (*args[0].key, args[1]) not in run.fields:
        text = f"{args[0].name} has no {args[1]}"
        test = Test(KIND, (args[0].key, "has", args[1]), text, None, args[0].reason, args[0].roots)
        return run.condition(Condition(test, False))
    return run.unknown("an attribute by its name", *args)


def _map(run: Run, args: Arguments, keywords: Keywords) -> Value:
    if len(args) == 2 and isinstance(args[1], (tuple, list)):
        return tuple(run.apply(args[0], [element], {}, None) for element in args[1])
    return Bag(run.unknown("what a function makes of what is not known", *args))


def _boolean(run: Run, args: Arguments, keywords: Keywords) -> Value:
    return run.condition(args[0]) if args else False


def _callable(run: Run, args: Arguments, keywords: Keywords) -> Value:
    return isinstance(args[0], (Function, Partial, Class, External))


def _getattr(run: Run, args: Arguments, keywords: Keywords) -> Value:
    if isinstance(args[0], (Symbol, Object)) and isinstance(args[1], str):
        symbol = args[0] if isinstance(args[0], Symbol) else args[0].symbol
        known = args[0].fields.get(args[1]) if isinstance(args[0], Object) else run.fields.get((*symbol.key, args[1]))
        return symbol.part(args[1]) if known is None else known
    return run.unknown("an attribute by its name", *args)


# -- tensors -------------------------------------------------------------------------------------------------------


def _made(name: str) -> Known:
    """`torch.empty(…)`."""

    def call(run: Run, args: Arguments, keywords: Keywords) -> Value:
        given = args[:1] if name == "full" or (args and isinstance(args[0], (tuple, list, Dims))) else args
        shape = keywords.get("size", tensors.shape_of(run, given))
        return tensors.made(run, shape, keywords.get("dtype", Dtype("float32")), name)

    return call


def _like(name: str) -> Known:
    """`torch.empty_like(x)` keeps the layout of `x`, where that is dense."""

    def call(run: Run, args: Arguments, keywords: Keywords) -> Value:
        like = run.tensor(args[0] if args else keywords.get("input"))
        if like is None:
            return run.unknown("a tensor like what is not one", *args)
        found = tensors.made(run, run.dims(like.shape), keywords.get("dtype", like.dtype), name)
        if tensors.is_contiguous(run, like) is True or "memory_format" in keywords:
            return found
        steps = like.strides
        return Tensor(found.symbol, found.shape, steps, found.dtype, name, False)

    return call


def _of_data(run: Run, args: Arguments, keywords: Keywords) -> Value:
    """`torch.tensor([…])`: as many elements as nobody here counts; what is a tensor already keeps its shape."""
    data = args[0] if args else keywords.get("data")
    dtype = keywords.get("dtype", args[1] if len(args) > 1 and isinstance(args[1], Dtype) else None)
    if isinstance(data, Tensor):
        return data if dtype is None else replace(data, dtype=dtype)
    symbol = run.unknown("the elements of `torch.tensor`", data, name="a new tensor")
    return Tensor(symbol, Dims(symbol), None, symbol.part("dtype") if dtype is None else dtype, "tensor", True)


def _arange(run: Run, args: Arguments, keywords: Keywords) -> Value:
    whole = [run.integer(value) for value in args]
    length: Value = whole[0] if len(whole) == 1 else None
    if len(whole) == 2 and whole[0] is not None and whole[1] is not None:
        length = whole[1] - whole[0]
    shape = (length,) if length is not None else run.unknown("how many numbers there are", *args)
    return tensors.made(run, shape, keywords.get("dtype", Dtype("int64")), "arange")


def _cat(run: Run, args: Arguments, keywords: Keywords) -> Value:
    """Along one dimension sizes add up, along the others they are the same."""
    given = args[0] if args else keywords.get("tensors")
    place = args[1] if len(args) > 1 else keywords.get("dim", number(0))
    parts = [run.tensor(value) for value in given] if isinstance(given, (tuple, list)) else []
    known = [run.dims(part.shape) for part in parts if part is not None]
    index = -99 if not isinstance(place, Affine) or place.value is None else place.value
    first = known[0] if known else None
    if len(known) < len(parts) or not isinstance(first, tuple) or index not in range(-len(first), len(first)):
        return run.unknown("tensors of unknown shape beside each other", *args)
    index %= len(first)
    sizes = [run.integer(shape[index]) for shape in known if isinstance(shape, tuple)]
    if len(sizes) < len(known) or None in sizes:
        return run.unknown("tensors of unknown shape beside each other", *args)
    total = number(0)
    for one in sizes:
        total = total + (one or number(0))
    dtype = parts[0].dtype if parts[0] is not None else None
    return tensors.made(run, (*first[:index], total, *first[index + 1 :]), dtype, "cat")


def _pad(run: Run, args: Arguments, keywords: Keywords) -> Value:
    """`F.pad(x, (left, right, top, bottom, …))`: pairs of the last dimension first."""
    tensor = run.tensor(args[0] if args else None)
    amounts = args[1] if len(args) > 1 else keywords.get("pad")
    dims = None if tensor is None else run.dims(tensor.shape)
    if tensor is None or not isinstance(amounts, (tuple, list)) or not isinstance(dims, tuple):
        return run.unknown("a padded tensor of unknown shape", *args)
    sizes = list(dims)
    for pair in range(len(amounts) // 2):
        old, before, after = (run.integer(v) for v in (sizes[-1 - pair], amounts[2 * pair], amounts[2 * pair + 1]))
        if old is None or before is None or after is None:
            return run.unknown("a padded tensor of unknown shape", *args)
        sizes[-1 - pair] = old + before + after
    return tensors.made(run, tuple(sizes), tensor.dtype, "pad")


def _check(run: Run, args: Arguments, keywords: Keywords) -> Value:
    """`torch._check(condition)`."""
    run.require(args[0], "a check of the host code fails")


def _method(name: str) -> Known:
    """`torch.reshape(x, …)`, where `x.reshape(…)` is known."""

    def call(run: Run, args: Arguments, keywords: Keywords) -> Value:
        tensor = run.tensor(args[0]) if args else None
        if tensor is None:
            return run.unknown(f"`torch.{name}` of what is not a tensor", *args)
        return tensors.METHODS[name](run, tensor, args[1:], keywords)

    return call


# -- Triton --------------------------------------------------------------------------------------------------------


def _config(run: Run, args: Arguments, keywords: Keywords) -> Value:
    constants = args[0] if args else keywords.get("kwargs", {})
    if not isinstance(constants, dict):
        return run.unknown("the constants of a config", *args)
    options = {name: value for name, value in keywords.items() if name in _OPTIONS}
    options.update(zip(("num_warps", "num_stages"), args[1:], strict=False))
    return Config(tuple(constants.items()), tuple(options.items()))


def _jit(run: Run, args: Arguments, keywords: Keywords) -> Value:
    function = args[0] if args else keywords.get("fn")
    kernel = function.frame.scope.jit_of(function) if isinstance(function, Function) else None
    return run.unknown("a kernel made of what is not a function", *args) if kernel is None else kernel


def _cast(run: Run, args: Arguments, keywords: Keywords) -> Value:
    """`typing.cast(T, x)` is `x`."""
    return args[1] if len(args) == 2 else run.unknown("a cast of nothing")


def _first(run: Run, args: Arguments, keywords: Keywords) -> Value:
    """What is given back as it came, such as the kernel of `wrap_triton(kernel)`."""
    return args[0] if args else run.unknown("a function of nothing")


def _descriptor(place: int) -> Known:
    """`TensorDescriptor(x, shape, strides, block)`, and `TensorDescriptor.from_tensor(x, block)`."""

    def call(run: Run, args: Arguments, keywords: Keywords) -> Value:
        tensor = run.tensor(args[0] if args else keywords.get("base", keywords.get("tensor")))
        block = args[place] if len(args) > place else keywords.get("block_shape")
        return run.unknown("a descriptor of no tensor", *args) if tensor is None else Described(tensor, block)

    return call


def _partial(run: Run, args: Arguments, keywords: Keywords) -> Value:
    return Partial(args[0], tuple(args[1:]), keywords) if args else run.unknown("a partial of nothing")


def _nothing(run: Run, args: Arguments, keywords: Keywords) -> Value:
    return None


_DESCRIPTOR = "triton.tools.tensor_descriptor.TensorDescriptor"
_TORCH_METHODS = (
    "reshape", "flatten", "transpose", "permute", "unsqueeze", "squeeze", "narrow", "split", "chunk", "numel", "clone",
)  # fmt: skip
FUNCTIONS: dict[str, Known] = {
    "triton.cdiv": _whole(_cdiv), "triton.next_power_of_2": _whole(lambda run, a: run.arithmetic.power_of_2(a[0])),
    "triton.Config": _config, "triton.jit": _jit, "torch.library.wrap_triton": _first,
    "torch._library.capture_triton": _first, "torch.library.triton_op": _first,
    "min": _extreme(True), "max": _extreme(False), "sum": _sum,
    "int": _rounded(False), "math.floor": _rounded(False), "math.ceil": _rounded(True), "float": _plain(float),
    "math.sqrt": _plain(math.sqrt), "math.log2": _plain(math.log2), "math.log": _plain(math.log),
    "math.exp": _plain(math.exp), "math.prod": _product, "numpy.prod": _product,
    "len": _length, "range": _range, "tuple": _sequence(tuple), "list": _sequence(list), "zip": _zip,
    "set": _sequence(list), "frozenset": _sequence(tuple),
    "enumerate": _enumerate, "reversed": _reversed, "all": _every(True), "any": _every(False), "dict": _dict,
    "torch.Size": _sequence(tuple), "isinstance": _isinstance, "bool": _boolean, "callable": _callable,
    "getattr": _getattr, "hasattr": _hasattr, "map": _map, "print": _nothing,
    _DESCRIPTOR: _descriptor(3), f"{_DESCRIPTOR}.from_tensor": _descriptor(1),
    "functools.partial": _partial, "typing.cast": _cast, "torch._check": _check,
    **{f"torch.{name}": _made(name) for name in ("empty", "zeros", "ones", "full", "rand", "randn", "randint")},
    **{f"torch.{name}_like": _like(name) for name in ("empty", "zeros", "ones", "full", "rand", "randn")},
    **{f"torch.{name}": _method(name) for name in _TORCH_METHODS},
    "torch.tensor": _of_data, "torch.as_tensor": _of_data,
    "torch.arange": _arange, "torch.cat": _cat, "torch.concat": _cat, "torch.nn.functional.pad": _pad,
}  # fmt: skip

_DTYPES = frozenset((
    "float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
    "uint64", "bool", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz",
))  # fmt: skip
_OTHER_NAMES = {
    "half": "float16", "float": "float32", "double": "float64", "int": "int32", "long": "int64", "short": "int16",
    "int1": "bool", "float8e4nv": "float8_e4m3fn", "float8e5": "float8_e5m2",
}  # fmt: skip
_MACHINES = ("hip", "cuda", "xpu")  # each is None where torch was built for another machine


@lru_cache(maxsize=4096)
def member(dotted: str) -> Value:
    """What an attribute of a library is: a dtype, a number, or something of that name."""
    head, _, name = dotted.rpartition(".")
    if head in ("torch", "triton.language"):
        name = _OTHER_NAMES.get(name, name)
        if name in _DTYPES:
            return Dtype(name)
    if head == "torch.version" and name in _MACHINES:
        return Symbol(("library", dotted), dotted)
    if head == "math" and name in ("inf", "pi", "e", "nan"):
        return float(getattr(math, name))
    return External(dotted)


def call(run: Run, name: str, args: Arguments, keywords: Keywords) -> Value:
    """What a function of a library returns."""
    known = FUNCTIONS.get(name)
    if known is not None:
        return known(run, args, keywords)
    reason = f"`{name}` is not known to the evaluator"
    roots = roots_of((*args, *keywords.values()))
    return Symbol(run.fresh(), f"{name}(…)", reason, roots)
