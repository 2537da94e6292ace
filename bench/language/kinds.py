"""What generated kernels are about: arithmetic, casts, products, memory, control flow, helpers, Python's own."""

from __future__ import annotations

from collections.abc import Callable

from bench.language.grammar import (
    ANY,
    BINARY,
    COMMON,
    FLOAT_LIKE,
    FUNCTIONS,
    INTEGERS,
    ODD,
    Kernel,
    Shape,
    atomics,
    of_functions,
)  # fmt: skip

# -- operators and casts -----------------------------------------------------------------------------------------


def _arithmetic(kernel: Kernel) -> None:
    shape = kernel.shape()
    integers = kernel.chance.random() < 0.5
    dtypes, signs = (INTEGERS, BINARY) if integers else (COMMON, (*BINARY[:4], *BINARY[11:16]))
    value = kernel.operand(shape, *dtypes)
    for _ in range(kernel.chance.randint(1, 3)):
        sign = kernel.chance.choice(signs if kernel.chance.random() > ODD else BINARY)
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
    value = kernel.block(shape, kernel.chance.choice(ANY))
    for _ in range(kernel.chance.randint(1, 2)):
        more = kernel.chance.choice(("", "", ", bitcast=True", ", fp_downcast_rounding='rtz'"))
        target = kernel.chance.choice((kernel.dtype(kernel.chance.choice(ANY)), f"({value}).dtype"))
        way = kernel.chance.choice((f"{value}.to({target}{more})", f"tl.cast({value}, {target}{more})"))
        value = kernel.set(way)
    kernel.store(value, shape)


def _shapes(kernel: Kernel) -> None:
    shape = kernel.shape(1, 2, 2, 3)
    value = kernel.block(shape, kernel.chance.choice(COMMON))
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
    kernel.store(f"{value}.to({kernel.dtype(kernel.chance.choice(COMMON))})", ("M", "N"))


def call_options(kernel: Kernel) -> str:
    """Options of a product."""
    return kernel.chance.choice((
        "input_precision='ieee'", "allow_tf32=False", "out_dtype=tl.float32", "out_dtype=tl.float16",
        "max_num_imprecise_acc=0", "input_precision='tf32x3'",
        f"input_precision={kernel.constant('FLAG', repr('tf32'))}",
    ))  # fmt: skip


# -- memory ------------------------------------------------------------------------------------------------------


def _block_pointers(kernel: Kernel) -> None:
    shape = kernel.shape(1, 2, 2)
    dtype = kernel.chance.choice(COMMON)
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
    dtype = kernel.dtype(kernel.chance.choice(COMMON))
    kernel.say(kernel.chance.choice((
        f"{value} = {value} + {kernel.operand(shape)}", f"{value} += 1", f"{value} *= 2", f"{value} = {value} / 2",
        f"{value} = {kernel.operand(shape)}", f"{value} = {value}.to({dtype})", f"{value} = tl.maximum({value}, 1)",
        f"{value} = tl.where({value} > 0, {value}, {kernel.operand(shape)})",
    )))  # fmt: skip


def _start(kernel: Kernel, shape: Shape) -> str:
    zeros = f"tl.zeros({kernel.tuple(shape or ('16',))}, {kernel.dtype(kernel.chance.choice(COMMON))})"
    text = kernel.chance.choice(("0", "0.0", "n", zeros, ""))
    return kernel.set(text) if text else kernel.block(shape, kernel.chance.choice(COMMON))


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
        f"-{value}", f"+{value}", f"{size} // 4", f"({value}) + ({size},)[0]", f"({value}).dtype",
        f"({value}).shape[0]",
    ))  # fmt: skip
    found = kernel.set(text)
    kernel.store(kernel.chance.choice((found, f"{found} + n", f"{value}")), shape)


KINDS: dict[str, Callable[[Kernel], None]] = {
    "arithmetic": _arithmetic,
    "atomics": atomics,
    "block pointers": _block_pointers,
    "casts": _casts,
    "conditions": _conditions,
    "descriptors": _descriptors,
    "dots": _dots,
    "functions": of_functions(*FUNCTIONS),
    "helpers": _helpers,
    "logic": _logic,
    "loops": _loops,
    "making and moving": of_functions(
        "arange", "zeros", "full", "zeros_like", "cat", "join", "interleave", "gather", "where", "flip", "broadcast"
    ),
    "mathematics": of_functions(*sorted(FLOAT_LIKE), "abs", "maximum", "minimum", "clamp", "umulhi", "cdiv"),
    "memory": of_functions("load", "store"),
    "python": _python,
    "reductions": of_functions(
        "sum", "max", "min", "argmax", "argmin", "xor_sum", "reduce", "cumsum", "cumprod", "associative_scan", "sort",
        "topk", "histogram", "softmax",
    ),
    "shapes": _shapes,
}  # fmt: skip
"""What a kernel is about."""
