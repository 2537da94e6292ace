"""The grammar of generated kernels: operands by type and shape, Triton's functions by their signatures, control flow.

Each kind of kernel is about one thing. What its operands are is drawn anew each time: blocks, scalars, numbers and
constants of any dtype that the role of a parameter makes likely, now and then one that it does not.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tritonaudit.api.table import Parameter, table

FLOATS = ("fp16", "bf16", "fp32", "fp64", "fp8e5")
INTEGERS = ("i8", "i16", "i32", "i64", "u8", "i1")
_COMMON = ("fp16", "bf16", "fp32", "fp32", "i32", "i8")
_ANY = (*FLOATS, *INTEGERS)
_SPELLED = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64", "fp8e5": "float8e5",
            "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "i1": "int1"}  # fmt: skip
_BINARY = ("+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>", "<", "<=", "==", "!=", ">", "**")
_ODD = 0.04
"""How often an operand is of a dtype or shape that its role does not make likely."""

Shape = tuple[str, ...]
"""The sizes of a block, as names of constants."""


class Kernel:
    """A kernel being made: its parameters, its lines, and the helpers it calls."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.types: dict[str, str] = {}
        self.constants: dict[str, str] = {}
        self._lines: list[str] = ["pid = tl.program_id(0)"]
        self._helpers: list[str] = []
        self._depth = 0
        self._count = 0

    def source(self) -> str:
        """The text of the kernel after its helpers."""
        names = [*self.types, *(f"{name}: tl.constexpr" for name in self.constants)]
        head = f"@triton.jit\ndef kernel({', '.join(names)}):\n"
        return "\n\n".join([*self._helpers, head + "".join(f"    {line}\n" for line in self._lines)])

    def say(self, line: str) -> None:
        """One more line."""
        self._lines.append("    " * self._depth + line)

    @contextmanager
    def inside(self, head: str) -> Iterator[None]:
        """What is said meanwhile stands in a block."""
        self.say(head)
        self._depth += 1
        yield
        self._depth -= 1

    def name(self, start: str = "v") -> str:
        """A name that is new."""
        self._count += 1
        return f"{start}{self._count}"

    def set(self, text: str) -> str:
        """The name of a variable that holds the expression."""
        name = self.name()
        self.say(f"{name} = {text}")
        return name

    def helper(self, text: str) -> None:
        """A function beside the kernel."""
        self._helpers.append(f"@triton.jit\n{text}\n")

    # -- operands ------------------------------------------------------------------------------------------------

    def pointer(self, dtype: str) -> str:
        """A parameter that points to elements of this dtype."""
        for name, kind in self.types.items():
            if kind == f"*{dtype}" and self.chance.random() < 0.6:
                return name
        name = self.name("p")
        self.types[name] = f"*{dtype}"
        return name

    def scalar(self) -> str:
        """A parameter that is a number of the run."""
        kind = self.chance.choice(("i32", "i32", "fp32", "i64"))
        name = {"i32": "n", "fp32": "scale", "i64": "wide"}[kind]
        self.types[name] = kind
        return name

    def constant(self, name: str, *values: str) -> str:
        """A parameter that is a constant, of one of these values."""
        if name not in self.constants:
            self.constants[name] = self.chance.choice(values)
        return name

    def shape(self, *ranks: int) -> Shape:
        """Sizes for a block of one of these ranks."""
        rank = self.chance.choice(ranks or (1, 1, 1, 2, 2, 0))
        names = [self.constant(name, "16", "32", "32", "64") for name in ("M", "N", "K")[:rank]]
        return tuple(names)

    def index(self, shape: Shape) -> str:
        """The places of a block's elements."""
        if not shape:
            return "pid"
        parts = []
        for axis, size in enumerate(shape):
            index = ", ".join(":" if axis == other else "None" for other in range(len(shape)))
            stride = "".join(f" * {inner}" for inner in shape[axis + 1 :])
            parts.append((f"tl.arange(0, {size})" + (f"[{index}]" if len(shape) > 1 else "")) + stride)
        return " + ".join(parts)

    def block(self, shape: Shape, dtype: str) -> str:
        """A variable of this shape and dtype: loaded, or made."""
        place = self.index(shape)
        way = self.chance.random()
        if way < 0.15 and shape:
            return self.set(f"tl.full({self.tuple(shape)}, {self.chance.choice(('0', '1'))}, {self.dtype(dtype)})")
        if way < 0.3 and dtype != "i1":
            other = self.chance.choice(_COMMON)
            return self.set(f"tl.load({self.pointer(other)} + {place}).to({self.dtype(dtype)})")
        mask = f", mask={place} < n" if way < 0.6 else ""
        if mask:
            self.types["n"] = "i32"
            mask += ", other=0.0" if dtype in FLOATS and self.chance.random() < 0.5 else ""
        return self.set(f"tl.load({self.pointer(dtype)} + {place}{mask})")

    def operand(self, shape: Shape, *dtypes: str) -> str:
        """A value that broadcasts to the shape: a block, a scalar, a number, or a constant."""
        dtype = self.chance.choice(dtypes or _COMMON) if self.chance.random() > _ODD else self.chance.choice(_ANY)
        way = self.chance.random()
        if way < 0.62 or (way < 0.7 and not shape):
            return self.block(shape, dtype)
        if way < 0.7:
            return self.block((), dtype)
        if way < 0.8:
            return self.scalar()
        if way < 0.93:
            return self.chance.choice(("2", "0.5", "-1", "0", "1.0", "127", "300", "True", "1e-6", "3"))
        return self.constant("FLAG", "0", "1", "2", "None", "True")

    def dtype(self, dtype: str) -> str:
        """A dtype as an expression."""
        if self.chance.random() < 0.1:
            return self.constant(f"D_{dtype}", f"tl.{_SPELLED[dtype]}")
        return f"tl.{_SPELLED[dtype]}"

    def tuple(self, items: Shape) -> str:
        """A shape as an expression."""
        if len(items) == 1:
            return f"({items[0]},)" if self.chance.random() < 0.7 else f"[{items[0]}]"
        return f"({', '.join(items)})" if self.chance.random() < 0.7 else f"[{', '.join(items)}]"

    def store(self, text: str, shape: Shape) -> None:
        """What a kernel does with what it has made."""
        self.say(f"tl.store({self.pointer(self.chance.choice(_COMMON))} + {self.index(shape)}, {text})")


# -- functions of the table --------------------------------------------------------------------------------------

_ROLES: dict[str, Callable[[Kernel, Shape], str]] = {
    "axis": lambda k, s: k.chance.choice([str(axis) for axis in range(max(len(s), 1))] + ["None", "-1"]),
    "dim": lambda k, s: k.chance.choice((str(max(len(s) - 1, 0)), str(max(len(s) - 1, 0)), "0", "None", "-1")),
    "shape": lambda k, s: k.tuple(k.chance.choice((s, s, tuple(reversed(s)), s or ("16",)))),
    "dims": lambda k, s: k.chance.choice((", ".join(map(str, reversed(range(len(s))))) or "0", "0, 1", "(1, 0)")),
    "dtype": lambda k, s: k.dtype(k.chance.choice(_ANY)),
    "start": lambda k, s: k.chance.choice(("0", "0", "0", "16")),
    "end": lambda k, s: k.chance.choice((*s, "32", "48", "M + N" if len(s) > 1 else "64")),
    "k": lambda k, s: k.chance.choice(("2", "4", "8", "3")),
    "num_bins": lambda k, s: k.chance.choice(("16", "32", "20")),
    "values": lambda k, s: k.chance.choice(("16", "[16]", "[1, 8]", "(8,)")),
    "condition": lambda k, s: f"({k.operand(s)} > {k.operand(s)})",
    "cond": lambda k, s: f"({k.operand(())} > 0)",
    "mask": lambda k, s: f"({k.operand(s)} > {k.operand(s)})",
    "pointer": lambda k, s: f"{k.pointer(k.chance.choice(_COMMON))} + {k.index(s)}",
    "index": lambda k, s: f"{k.block(s, k.chance.choice(('i32', 'i32', 'i64', 'fp32')))}",
    "msg": lambda k, s: "'message'",
    "prefix": lambda k, s: k.chance.choice(("'x'", "'value:'", "pid")),
    "combine_fn": lambda k, s: "combine",
    "scalar_fn": lambda k, s: "combine",
    "cache_modifier": lambda k, s: k.chance.choice(("'.ca'", "'.cg'", "'.wb'", "'.xx'")),
    "eviction_policy": lambda k, s: k.chance.choice(("'evict_last'", "'evict_first'", "'last'")),
    "sem": lambda k, s: k.chance.choice(("'relaxed'", "'acq_rel'", "'acquire'", "'strong'")),
    "scope": lambda k, s: k.chance.choice(("'gpu'", "'cta'", "'sys'", "'grid'")),
    "input_precision": lambda k, s: k.chance.choice(("'tf32'", "'ieee'", "'tf32x3'", "'fp32'")),
    "out_dtype": lambda k, s: k.dtype(k.chance.choice(("fp32", "fp32", "fp16", "i32"))),
    "seed": lambda k, s: k.chance.choice(("7", "n", "pid")),
    "fp_downcast_rounding": lambda k, s: k.chance.choice(("'rtne'", "'rtz'")),
    "propagate_nan": lambda k, s: k.chance.choice(("tl.PropagateNan.ALL", "tl.PropagateNan.NONE", "True")),
}
_FLAGS = ("True", "False")
_LEFT_OUT = frozenset(
    {"str_to_ty", "inline_asm_elementwise", "constexpr_function", "aggregate_replace", "dot_scaled", "to_tensor",
     "static_print", "make_block_ptr", "advance", "make_tensor_descriptor", "load_tensor_descriptor", "philox_impl",
     "store_tensor_descriptor", "atomic_poll", "pair_uniform_to_normal", "debug_barrier", "swizzle2d"}
)  # fmt: skip
_FLOAT_LIKE = frozenset(
    {"ceil", "cos", "div_rn", "erf", "exp", "exp2", "fdiv", "floor", "fma", "log", "log2", "rsqrt", "sigmoid", "sin",
     "softmax", "sqrt", "sqrt_rn"}
)  # fmt: skip
_METHODS = frozenset({"sum", "max", "min", "reshape", "view", "expand_dims", "permute", "trans", "broadcast_to", "abs",
                      "exp", "sqrt", "cumsum", "argmax", "split", "ravel", "sigmoid", "sort", "to"})  # fmt: skip
_GIVES_NOTHING = frozenset({"store", "atomic_store", "static_assert", "device_assert", "device_print", "assume"})


def _signatures() -> dict[str, tuple[Parameter, ...]]:
    """Triton's functions with the parameters that the newest release that has them gives them."""
    found = {}
    for name in table().ever("triton.language"):
        definitions = table().name(f"triton.language.{name}").definitions
        newest = definitions[max(definitions)] if definitions else None
        if newest is not None and newest.kind in ("function", "builtin", "jit") and newest.parameters is not None:
            found[name] = newest.parameters
    return {name: parameters for name, parameters in found.items() if name not in _LEFT_OUT}


_FUNCTIONS = _signatures()


def call(kernel: Kernel, name: str, shape: Shape) -> str:
    """A call of one of Triton's functions, with what its parameters' names and defaults suggest."""
    chance = kernel.chance
    dtypes = ("fp32", "fp32", "fp32", "fp64", "fp16") if name in _FLOAT_LIKE else ()
    given: list[str] = []
    named: list[str] = []
    for parameter in _FUNCTIONS[name]:
        if parameter.default is not None and chance.random() < 0.72:
            continue
        text = _argument(kernel, parameter, shape, dtypes)
        if parameter.star != "*" and (parameter.default is not None or chance.random() < 0.15 or named):
            named.append(f"{parameter.name}={text}")
        else:
            given.append(text)
    if name in ("reduce", "associative_scan", "map_elementwise"):
        _combining(kernel)
    if name in _METHODS and given and given[0].isidentifier() and chance.random() < 0.4:
        return f"{given[0]}.{name}({', '.join([*given[1:], *named])})"
    return f"tl.{name}({', '.join([*given, *named])})"


def _argument(kernel: Kernel, parameter: Parameter, shape: Shape, dtypes: tuple[str, ...]) -> str:
    role = _ROLES.get(parameter.name)
    if role is not None:
        return role(kernel, shape)
    if parameter.default in ("True", "False", "core.CONSTEXPR_0"):
        return kernel.chance.choice(_FLAGS)
    return kernel.operand(shape, *dtypes)


def _atomics(kernel: Kernel) -> None:
    shape = kernel.shape()
    name = kernel.chance.choice([name for name in _FUNCTIONS if name.startswith("atomic_")])
    dtype = kernel.chance.choice(("i32", "i32", "fp32", "i64", "fp16", "i8"))
    more = kernel.chance.choice(
        ("", "", f", mask={_ROLES['mask'](kernel, shape)}", f", sem={_ROLES['sem'](kernel, shape)}")
    )
    compared = f"{kernel.operand(shape, dtype)}, " if name == "atomic_cas" else ""
    given = "" if name == "atomic_load" else f", {compared}{kernel.operand(shape, dtype)}"
    value = f"tl.{name}({kernel.pointer(dtype)} + {kernel.index(shape)}{given}{more})"
    if name == "atomic_store":
        kernel.say(value)
    else:
        kernel.store(kernel.set(value), shape)


def _combining(kernel: Kernel) -> None:
    kernel.helper(kernel.chance.choice((
        "def combine(a, b):\n    return a + b",
        "def combine(a, b):\n    return tl.maximum(a, b)",
        "def combine(a, b):\n    return tl.where(a > b, a, b)",
        "def combine(a, b):\n    return (a + b).to(tl.float32)",
        "def combine(a, b, c):\n    return a + b * c",
    )))  # fmt: skip


def _of_functions(*names: str) -> Callable[[Kernel], None]:
    def make(kernel: Kernel) -> None:
        name, shape = kernel.chance.choice(names), kernel.shape()
        if name in _GIVES_NOTHING:
            kernel.say(call(kernel, name, shape))
            return
        value = kernel.set(call(kernel, name, shape))
        if kernel.chance.random() < 0.6:
            kernel.store(value, shape)

    return make


# -- operators and casts -----------------------------------------------------------------------------------------


def _arithmetic(kernel: Kernel) -> None:
    shape = kernel.shape()
    integers = kernel.chance.random() < 0.5
    dtypes, signs = (INTEGERS, _BINARY) if integers else (_COMMON, (*_BINARY[:4], *_BINARY[11:16]))
    value = kernel.operand(shape, *dtypes)
    for _ in range(kernel.chance.randint(1, 3)):
        sign = kernel.chance.choice(signs if kernel.chance.random() > _ODD else _BINARY)
        value = kernel.set(f"{value} {sign} {kernel.operand(shape, *dtypes)}")
    kernel.store(value, shape)


def _logic(kernel: Kernel) -> None:
    shape = kernel.shape(0, 0, 1)
    left, right = (f"{kernel.operand(shape)} {kernel.chance.choice(('<', '>=', '==', '!='))} 0" for _ in range(2))
    way = kernel.chance.choice(("and", "or", "&", "not", "chain", "if", "is", "~"))
    text = {
        "not": f"not ({left})", "chain": f"0 < {kernel.operand(shape)} < 4", "~": f"~({left})",
        "if": f"{kernel.operand(shape)} if {left} else {kernel.operand(shape)}",
        "is": f"{kernel.operand(shape)} is {kernel.chance.choice(('None', 'not None'))}",
    }.get(way, f"({left}) {way} ({right})")  # fmt: skip
    kernel.store(kernel.set(text), shape)


def _casts(kernel: Kernel) -> None:
    shape = kernel.shape()
    value = kernel.block(shape, kernel.chance.choice(_ANY))
    for _ in range(kernel.chance.randint(1, 2)):
        more = kernel.chance.choice(("", "", ", bitcast=True", ", fp_downcast_rounding='rtz'"))
        target = kernel.chance.choice((kernel.dtype(kernel.chance.choice(_ANY)), f"({value}).dtype"))
        way = kernel.chance.choice((f"{value}.to({target}{more})", f"tl.cast({value}, {target}{more})"))
        value = kernel.set(way)
    kernel.store(value, shape)


def _shapes(kernel: Kernel) -> None:
    shape = kernel.shape(1, 2, 2, 3)
    value = kernel.block(shape, kernel.chance.choice(_COMMON))
    for _ in range(kernel.chance.randint(1, 3)):
        value = kernel.set(kernel.chance.choice((
            f"{value}[:, None]", f"{value}[None, :]", f"tl.sum({value}, {kernel.chance.choice('011')})", f"{value}.T",
            f"tl.trans({value})", f"tl.reshape({value}, {kernel.tuple((*shape, '1'))})", f"{value} + {value}",
            f"tl.expand_dims({value}, {kernel.chance.choice('012')})", f"tl.join({value}, {value})",
            f"tl.broadcast_to({value}, {kernel.tuple(shape)})", f"tl.max({value}, axis=0, keep_dims=True)",
            f"{value}[:, :, None]", f"{value}.permute(1, 0)", f"tl.ravel({value})", f"tl.split(tl.join({value}, 0))[0]",
        )))  # fmt: skip
    kernel.store(f"tl.sum({value})" if kernel.chance.random() < 0.5 else value, kernel.chance.choice((shape, ())))


def _dots(kernel: Kernel) -> None:
    for name in ("M", "N", "K"):
        kernel.constant(name, "16", "32", "64", "32", "8")
    dtypes = ("fp16", "fp16", "bf16", "fp32", "i8", "fp8e5", "fp64", "i32")
    dtype = kernel.chance.choice(dtypes)
    other = dtype if kernel.chance.random() < 0.85 else kernel.chance.choice(dtypes)
    left, right = kernel.block(("M", "K"), dtype), kernel.block(("K", "N"), other)
    inside = kernel.chance.choice((f"{left}, {right}", f"{left}, tl.trans({right})", f"{right}, {left}"))
    if kernel.chance.random() < 0.6:
        inside = f"{left}, {right}"
    acc = kernel.chance.choice(("fp32", "fp32", "fp16", "i32"))
    start = kernel.set(f"tl.zeros((M, N), {kernel.dtype(acc)})")
    way = kernel.chance.randrange(4)
    if way == 0:
        value = kernel.set(f"tl.dot({inside})")
    elif way == 1:
        value = kernel.set(f"tl.dot({inside}, {start}, {call_options(kernel)})")
    else:
        value = start
        with kernel.inside(kernel.chance.choice(("for step in range(0, 4):", "for step in tl.range(4):"))):
            kernel.say(kernel.chance.choice((f"{value} += tl.dot({inside})", f"{value} = tl.dot({inside}, {value})")))
    kernel.store(f"{value}.to({kernel.dtype(kernel.chance.choice(_COMMON))})", ("M", "N"))


def call_options(kernel: Kernel) -> str:
    """Options of a product."""
    return kernel.chance.choice((
        "input_precision='ieee'", "allow_tf32=False", "out_dtype=tl.float32", "out_dtype=tl.float16",
        "max_num_imprecise_acc=0", "input_precision='tf32x3'", "input_precision=FLAG" if kernel.constant("FLAG", "'tf32'") else "",
    ))  # fmt: skip


# -- memory ------------------------------------------------------------------------------------------------------


def _block_pointers(kernel: Kernel) -> None:
    shape = kernel.shape(1, 2, 2)
    dtype = kernel.chance.choice(_COMMON)
    zeros, sizes = ", ".join("0" for _ in shape), ", ".join("64" for _ in shape)
    comma = "," if len(shape) == 1 else ""
    order = ", ".join(map(str, reversed(range(len(shape)))))
    strides = "64, 1" if len(shape) == 2 else "1"
    start = kernel.chance.choice((f"{zeros}", f"{zeros}", "pid" if len(shape) == 1 else "pid * M, 0"))
    pointer = kernel.set(
        f"tl.make_block_ptr({kernel.pointer(dtype)}, ({sizes}{comma}), ({strides}{comma}), ({start}{comma}), "
        f"{kernel.tuple(shape)}, ({order}{comma}))"
    )
    check = kernel.chance.choice(("", ", boundary_check=(0,)", ", boundary_check=(0,), padding_option='zero'",
                                  ", boundary_check=(2,)", ", mask=pid < 4"))  # fmt: skip
    value = kernel.set(f"tl.load({pointer}{check})")
    if kernel.chance.random() < 0.5:
        kernel.say(f"{pointer} = tl.advance({pointer}, ({', '.join('16' for _ in shape)}{comma}))")
    cast = kernel.chance.choice(("", f".to({kernel.dtype(dtype)})", f" * {kernel.operand(shape)}"))
    kernel.say(f"tl.store({pointer}, {value}{cast})")


def _descriptors(kernel: Kernel) -> None:
    shape = kernel.shape(2, 2, 1)
    dtype = kernel.chance.choice(("fp16", "fp32", "bf16", "i32", "i8"))
    strides = "64, 1" if len(shape) == 2 else "1"
    last = kernel.chance.choice((strides, strides, strides, "n, 1" if kernel.types.setdefault("n", "i32") else ""))
    descriptor = kernel.set(
        f"tl.make_tensor_descriptor({kernel.pointer(dtype)}, [{', '.join('64' for _ in shape)}], [{last}], "
        f"{kernel.tuple(shape)})"
    )
    offsets = kernel.chance.choice((", ".join("0" for _ in shape), ", ".join("pid" for _ in shape), "0, 0", "pid * 16"))
    value = kernel.set(f"{descriptor}.load([{offsets}])")
    cast = kernel.chance.choice(("", "", f".to({kernel.dtype(dtype)})", " * 2", ".T", f" + {kernel.operand(shape)}"))
    kernel.say(f"{descriptor}.store([{offsets}], {value}{cast})")


# -- control -----------------------------------------------------------------------------------------------------


def _update(kernel: Kernel, value: str, shape: Shape) -> None:
    """A variable that changes, of one type or another."""
    dtype = kernel.dtype(kernel.chance.choice(_COMMON))
    kernel.say(kernel.chance.choice((
        f"{value} = {value} + {kernel.operand(shape)}", f"{value} += 1", f"{value} *= 2", f"{value} = {value} / 2",
        f"{value} = {kernel.operand(shape)}", f"{value} = {value}.to({dtype})", f"{value} = tl.maximum({value}, 1)",
        f"{value} = tl.where({value} > 0, {value}, {kernel.operand(shape)})",
    )))  # fmt: skip


def _start(kernel: Kernel, shape: Shape) -> str:
    zeros = f"tl.zeros({kernel.tuple(shape or ('16',))}, {kernel.dtype(kernel.chance.choice(_COMMON))})"
    text = kernel.chance.choice(("0", "0.0", "n", zeros, ""))
    return kernel.set(text) if text else kernel.block(shape, kernel.chance.choice(_COMMON))


def _loops(kernel: Kernel) -> None:
    kernel.types["n"] = "i32"
    shape = kernel.shape(0, 1, 1)
    value = _start(kernel, shape)
    head = kernel.chance.choice((
        "for step in range(n):", "for step in tl.range(0, n, 16):", "for step in tl.static_range(3):",
        "for step in range(0, 8):", f"for step in range({kernel.operand(())}):", "while pid < n:",
        "for step in tl.range(0, 4, num_stages=2):", f"while {kernel.operand(())} > 0:",
        f"for step in tl.static_range({kernel.constant('FLAG', '2', '3')}):",
    ))  # fmt: skip
    with kernel.inside(head):
        _update(kernel, value, shape)
        if kernel.chance.random() < 0.3:
            kernel.say("inner = step * 2" if "for" in head else "inner = pid * 2")
        if kernel.chance.random() < 0.3:
            with kernel.inside(f"if {kernel.chance.choice(('pid > 3', 'step == 0' if 'for' in head else 'n > 3'))}:"):
                _update(kernel, value, shape)
    use = kernel.chance.choice((value, value, value, f"{value} + inner", f"{value} + step"))
    kernel.store(use, shape)


def _conditions(kernel: Kernel) -> None:
    kernel.types["n"] = "i32"
    shape = kernel.shape(0, 1, 1)
    value = _start(kernel, shape)
    flag = kernel.constant("FLAG", "0", "1", "True", "False", "None", "'silu'", "2")
    test = kernel.chance.choice((
        "n > 3", "pid == 0", flag, f"{flag} == 1", f"{flag} is not None", f"{kernel.operand(shape)} > 0", "n",
        f"{flag} == 'silu'", "pid < n and n > 3", f"{flag} and pid > 0",
    ))  # fmt: skip
    with kernel.inside(f"if {test}:"):
        _update(kernel, value, shape)
        if kernel.chance.random() < 0.4:
            kernel.say(f"extra = {kernel.operand(shape)}")
        if kernel.chance.random() < 0.15:
            kernel.say("return")
    if kernel.chance.random() < 0.5:
        with kernel.inside("else:"):
            _update(kernel, value, shape)
            if kernel.chance.random() < 0.4:
                kernel.say(f"extra = {kernel.operand(shape)}")
    kernel.store(kernel.chance.choice((value, value, f"{value} + extra")), shape)


def _helpers(kernel: Kernel) -> None:
    shape = kernel.shape(0, 1, 1, 2)
    kernel.helper(kernel.chance.choice((
        "def helper(x, y, SIZE: tl.constexpr):\n    return x * y + SIZE",
        "def helper(x, y, SIZE: tl.constexpr = 16):\n    if SIZE > 16:\n        return x + y\n    return x - y",
        "def helper(x, y, SIZE):\n    return x, y + SIZE",
        "def helper(x, y, SIZE: tl.constexpr):\n    i = tl.arange(0, SIZE)\n    return x + tl.sum(i) + y",
        "def helper(x, y, SIZE: tl.constexpr):\n    if x is None:\n        return y\n    return tl.exp(x) + y",
        "def helper(x, y, SIZE: tl.constexpr):\n    z = tl.zeros((SIZE,), tl.float32)\n    return z * y",
        "def helper(x, y, SIZE: tl.constexpr):\n    if y > 0:\n        return x\n    else:\n        return x * 2",
        "def helper(x, y, SIZE: tl.constexpr):\n    tl.static_assert(SIZE > 8)\n    return x.to(y.dtype)",
    )))  # fmt: skip
    size = kernel.chance.choice(
        (kernel.constant("M", "16", "32"), "16", "32", "n" if kernel.types.setdefault("n", "i32") else "")
    )
    arguments = f"{kernel.operand(shape)}, {kernel.operand(shape)}, {kernel.chance.choice((size, f'SIZE={size}'))}"
    if kernel.chance.random() < 0.2:
        first, second = kernel.name(), kernel.name()
        kernel.say(f"{first}, {second} = helper({arguments})")
        value = f"{first} + {second}"
    else:
        value = kernel.set(f"helper({arguments})")
    kernel.store(value, shape)


def _python(kernel: Kernel) -> None:
    shape = kernel.shape(0, 1)
    kernel.types["n"] = "i32"
    size = kernel.constant("M", "16", "32")
    value = kernel.operand(shape)
    text = kernel.chance.choice((
        f"max({value}, 1)", f"min({size}, 8)", f"len(({value}, 1))", f"({value}, 2)[0]", f"[{value}, 2][1]",
        f"float({value})", f"int({size})", f"abs({value})", f"sum(({value}, 1))", f"{size} ** 2", f"{size} * 2.0",
        f"round({value})", f"isinstance({value}, tl.tensor)", f"{value} if {size} > 16 else n", f"tl.constexpr({size})",
        f"tl.cdiv(n, {size})", f"triton.cdiv({size}, 3)", f"tl.cdiv({size}, 4)", f"triton.next_power_of_2({size})",
        f"-{value}", f"+{value}", f"{size} // 4", f"({value}) + ({size},)[0]", f"({value}).dtype", f"({value}).shape[0]",
    ))  # fmt: skip
    found = kernel.set(text)
    kernel.store(kernel.chance.choice((found, f"{found} + n", f"{value}")), shape)


KINDS: dict[str, Callable[[Kernel], None]] = {
    "arithmetic": _arithmetic,
    "atomics": _atomics,
    "block pointers": _block_pointers,
    "casts": _casts,
    "conditions": _conditions,
    "descriptors": _descriptors,
    "dots": _dots,
    "functions": _of_functions(*_FUNCTIONS),
    "helpers": _helpers,
    "logic": _logic,
    "loops": _loops,
    "making and moving": _of_functions(
        "arange", "zeros", "full", "zeros_like", "cat", "join", "interleave", "gather", "where", "flip", "broadcast"
    ),
    "mathematics": _of_functions(*sorted(_FLOAT_LIKE), "abs", "maximum", "minimum", "clamp", "umulhi", "cdiv"),
    "memory": _of_functions("load", "store"),
    "python": _python,
    "reductions": _of_functions(
        "sum", "max", "min", "argmax", "argmin", "xor_sum", "reduce", "cumsum", "cumprod", "associative_scan", "sort",
        "topk", "histogram", "softmax",
    ),
    "shapes": _shapes,
}  # fmt: skip
"""What a kernel is about."""
