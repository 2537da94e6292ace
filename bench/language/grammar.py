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
COMMON = ("fp16", "bf16", "fp32", "fp32", "i32", "i8")
ANY = (*FLOATS, *INTEGERS)
_SPELLED = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64", "fp8e5": "float8e5",
            "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "i1": "int1"}  # fmt: skip
BINARY = ("+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>", "<", "<=", "==", "!=", ">", "**")
ODD = 0.04
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
            other = self.chance.choice(COMMON)
            return self.set(f"tl.load({self.pointer(other)} + {place}).to({self.dtype(dtype)})")
        mask = f", mask={place} < n" if way < 0.6 else ""
        if mask:
            self.types["n"] = "i32"
            mask += ", other=0.0" if dtype in FLOATS and self.chance.random() < 0.5 else ""
        return self.set(f"tl.load({self.pointer(dtype)} + {place}{mask})")

    def operand(self, shape: Shape, *dtypes: str) -> str:
        """A value that broadcasts to the shape: a block, a scalar, a number, or a constant."""
        dtype = self.chance.choice(dtypes or COMMON) if self.chance.random() > ODD else self.chance.choice(ANY)
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
        self.say(f"tl.store({self.pointer(self.chance.choice(COMMON))} + {self.index(shape)}, {text})")


# -- functions of the table --------------------------------------------------------------------------------------

_ROLES: dict[str, Callable[[Kernel, Shape], str]] = {
    "axis": lambda k, s: k.chance.choice([str(axis) for axis in range(max(len(s), 1))] + ["None", "-1"]),
    "dim": lambda k, s: k.chance.choice((str(max(len(s) - 1, 0)), str(max(len(s) - 1, 0)), "0", "None", "-1")),
    "shape": lambda k, s: k.tuple(k.chance.choice((s, s, tuple(reversed(s)), s or ("16",)))),
    "dims": lambda k, s: k.chance.choice((", ".join(map(str, reversed(range(len(s))))) or "0", "0, 1", "(1, 0)")),
    "dtype": lambda k, s: k.dtype(k.chance.choice(ANY)),
    "start": lambda k, s: k.chance.choice(("0", "0", "0", "16")),
    "end": lambda k, s: k.chance.choice((*s, "32", "48", "M + N" if len(s) > 1 else "64")),
    "k": lambda k, s: k.chance.choice(("2", "4", "8", "3")),
    "num_bins": lambda k, s: k.chance.choice(("16", "32", "20")),
    "values": lambda k, s: k.chance.choice(("16", "[16]", "[1, 8]", "(8,)")),
    "condition": lambda k, s: f"({k.operand(s)} > {k.operand(s)})",
    "cond": lambda k, s: f"({k.operand(())} > 0)",
    "mask": lambda k, s: f"({k.operand(s)} > {k.operand(s)})",
    "pointer": lambda k, s: f"{k.pointer(k.chance.choice(COMMON))} + {k.index(s)}",
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
FLOAT_LIKE = frozenset(
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


FUNCTIONS = _signatures()


def call(kernel: Kernel, name: str, shape: Shape) -> str:
    """A call of one of Triton's functions, with what its parameters' names and defaults suggest."""
    chance = kernel.chance
    dtypes = ("fp32", "fp32", "fp32", "fp64", "fp16") if name in FLOAT_LIKE else ()
    given: list[str] = []
    named: list[str] = []
    for parameter in FUNCTIONS[name]:
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


def atomics(kernel: Kernel) -> None:
    shape = kernel.shape()
    name = kernel.chance.choice([name for name in FUNCTIONS if name.startswith("atomic_")])
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


def of_functions(*names: str) -> Callable[[Kernel], None]:
    def make(kernel: Kernel) -> None:
        name, shape = kernel.chance.choice(names), kernel.shape()
        if name in _GIVES_NOTHING:
            kernel.say(call(kernel, name, shape))
            return
        value = kernel.set(call(kernel, name, shape))
        if kernel.chance.random() < 0.6:
            kernel.store(value, shape)

    return make
