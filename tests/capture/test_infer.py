"""How a kernel is called, inferred from its launches and its body."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.capture.projects import indented, inference, write
from tritonaudit.capture.alternatives import MOST_ATTEMPTS, alternatives
from tritonaudit.capture.inferred import ArgumentKind, FunctionName, InferredCall
from tritonaudit.capture.launch import SourceError
from tritonaudit.host.values import Dtype


def kernel(parameters: str, body: str, decorators: str = "") -> str:
    return f"{decorators}@triton.jit\ndef kernel({parameters}):\n{indented(body)}\n\n"


def call(root: Path, text: str, **files: str) -> InferredCall:
    write(root, {"ops.py": text, **{f"{name}.py": other for name, other in files.items()}})
    return inference(root).call()


def given(found: InferredCall, name: str) -> tuple[ArgumentKind, Any]:
    return found[name].kind, found[name].value


# -- what the body says --------------------------------------------------------------------------------------------

STORE = "tl.store(out + tl.arange(0, BLOCK), {value})"


@pytest.mark.parametrize(
    ("body", "dtype"),
    [
        ("v = tl.load(x + tl.arange(0, BLOCK))\ntl.store(out + v, 1.0)", "int32"),
        ("n = tl.load(x)\nfor i in range(n):\n    tl.store(out + i, 1.0)", "int32"),
        ("v = tl.load(x + tl.arange(0, BLOCK))\ntl.store(out + tl.arange(0, BLOCK), (v >> 4) & 15)", "int32"),
        ("v = tl.load(x + tl.arange(0, BLOCK))\ntl.store(out + tl.arange(0, BLOCK), v // 2)", "int32"),
        ("m = tl.load(x + tl.arange(0, BLOCK))\ntl.store(out + tl.arange(0, BLOCK), 1.0, mask=m)", "bool"),
        ("p = tl.load(x).to(tl.pointer_type(tl.float16))\ntl.store(out, tl.load(p + 1))", "int64"),
        ("v = tl.load(x + tl.arange(0, BLOCK))\n" + STORE.format(value="tl.exp(v)"), "float16"),
        ("v = tl.load(x + tl.arange(0, BLOCK))\n" + STORE.format(value="(v << 4).to(tl.int8) >> 4"), "int8"),
        ("v = tl.load(x + tl.arange(0, BLOCK))\ntl.store(out + tl.argmax(v, 0), 1.0)", "float16"),
        ("v = tl.load(x + tl.arange(0, BLOCK))\ntl.store(out + tl.where(v > 0, 1, 0), 1.0)", "float16"),
        ("n = tl.load(x) + 1\ntl.store(out, 1.0, mask=tl.arange(0, BLOCK) < n)", "int32"),
        ("x += tl.program_id(0) * BLOCK\nv = tl.load(x)\ntl.store(out, v)", "float16"),
        ("tl.atomic_cas(x, 0, 1)\ntl.store(out, 1.0)", "int32"),
        (
            "i = tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]\n"
            "acc = tl.zeros((BLOCK, BLOCK), dtype=tl.int32)\na = tl.load(x + i)\nacc += tl.dot(a, a)\n"
            "tl.store(out + i, acc)",
            "int8",
        ),
    ],
)
def test_a_pointer_points_to_what_its_elements_are_used_as(tmp_path: Path, body: str, dtype: str) -> None:
    found = call(tmp_path, kernel("x, out, BLOCK: tl.constexpr", body))
    assert given(found, "x") == (ArgumentKind.POINTER, dtype)
    assert found["x"].guessed


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("tl.store(a + b, 1.0)", {"a"}),
        ("tl.store(a + tl.arange(0, 16) * b, 1.0)", {"a"}),
        ("p = b + a\ntl.store(p, 1.0)\nfor i in range(b):\n    pass", {"a"}),
        ("p = a if tl.program_id(0) == 0 else b\ntl.store(p, 1.0)", {"a", "b"}),
        ("if tl.program_id(0) == 0:\n    p = a\nelse:\n    p = b\ntl.store(p, 1.0)", {"a", "b"}),
        ("tl.store(tl.where(tl.program_id(0) == 0, a, b), 1.0)", {"a", "b"}),
        ("for i in range(4):\n    tl.store(a, 1.0)\n    a += b", {"a"}),
        ("p = tl.multiple_of(a, 16)\ntl.store(p + b, tl.load(p))", {"a"}),
        ("put(b, a)", {"b"}),
        ("tl.atomic_add(a, 1.0, sem='relaxed')\ntl.device_print('b', b)", {"a"}),
        ("d = tl.make_tensor_descriptor(a, [b], [1], [16])\nd.store([0], d.load([0]))", {"a"}),
    ],
)
def test_a_pointer_is_what_is_the_base_of_an_access(tmp_path: Path, body: str, names: set[str]) -> None:
    helper = "@triton.jit\ndef put(p, v):\n    tl.store(p + v, 1.0)\n\n\n"
    found = call(tmp_path, helper + kernel("a, b", body))
    assert {argument.name for argument in found.arguments if argument.kind is ArgumentKind.POINTER} == names


@pytest.mark.parametrize(
    ("parameter", "body", "kind", "value"),
    [
        ("n", "tl.store(out, 1.0, mask=tl.program_id(0) < n)", ArgumentKind.INTEGER, 1024),
        ("stride", "tl.store(out + tl.program_id(0) * stride, 1.0)", ArgumentKind.INTEGER, 1024),
        ("eps", "tl.store(out, eps)", ArgumentKind.FLOAT, 1.0),
        ("x", "tl.store(out, tl.exp(x))", ArgumentKind.FLOAT, 1.0),
        ("x=0.5", "tl.store(out, x)", ArgumentKind.FLOAT, 0.5),
        ("x=3", "tl.store(out, x)", ArgumentKind.INTEGER, 3),
        ("BLOCK: tl.constexpr", "tl.store(out + tl.arange(0, BLOCK), 1.0)", ArgumentKind.CONSTEXPR, 64),
        ("N: tl.constexpr", "for i in tl.static_range(N):\n    tl.store(out + i, 1.0)", ArgumentKind.CONSTEXPR, 4),
        ("T: tl.constexpr", "tl.store(out, tl.zeros((), dtype=T))", ArgumentKind.CONSTEXPR, Dtype("float16")),
        ("T: tl.constexpr", "tl.store(out, tl.load(out).to(T) << 2)", ArgumentKind.CONSTEXPR, Dtype("int32")),
        ("ON: tl.constexpr", "if ON:\n    tl.store(out, 1.0)", ArgumentKind.CONSTEXPR, False),
        ("ON: tl.constexpr = True", "if ON:\n    tl.store(out, 1.0)", ArgumentKind.CONSTEXPR, True),
        ("how: tl.constexpr", "if how == 'sum':\n    tl.store(out, 1.0)", ArgumentKind.CONSTEXPR, "sum"),
        ("bits: tl.constexpr", "if bits == 3:\n    tl.store(out, 1.0)", ArgumentKind.CONSTEXPR, 3),
        ("HEAD_DIM: tl.constexpr", "tl.store(out, 1.0, mask=tl.program_id(0) < HEAD_DIM)", ArgumentKind.CONSTEXPR, 64),
    ],
)
def test_numbers_and_constants_are_reported_by_their_use_and_name(
    tmp_path: Path, parameter: str, body: str, kind: ArgumentKind, value: Any
) -> None:
    found = call(tmp_path, kernel(f"out, {parameter}", body))
    name = parameter.partition(":")[0].partition("=")[0]
    assert given(found, name) == (kind, value)
    assert found[name].guessed is ("=" not in parameter)


# -- what launches say ---------------------------------------------------------------------------------------------

BODY = kernel("x, out, n, scale, BLOCK: tl.constexpr, FLAG: tl.constexpr", "tl.store(out + n, tl.load(x) * scale)")


HOST = """\
SIZES = {'small': 8}


class Mode:
    FAST = 5


def settings(n):
    if n > 64:
        size = triton.next_power_of_2(n)
        return size, 4
    return n, 2
"""


def launched(root: Path, *lines: str, after: str = "") -> InferredCall:
    """The kernel's call by a wrapper that ends in a launch."""
    launch = "kernel[(1,)](x, out, n, scale, BLOCK=block, FLAG=flag)"
    defaults = ["out = torch.empty_like(x)", "n = x.numel()", "scale = 0.5", "block = 128", "flag = True"]
    text = "\n".join((*defaults, *lines, launch))
    return call(root, BODY + f"def run(x, bias=None):\n{indented(text)}\n\n{after}")


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("block = 256", "BLOCK", 256),
        ("block = triton.next_power_of_2(100)", "BLOCK", 128),
        ("block = min(triton.next_power_of_2(100), 64)", "BLOCK", 64),
        ("block = max(16, 2 ** 3)", "BLOCK", 16),
        ("block = 32 if bias is None else 64", "BLOCK", 64),
        ("if len('abc') == 3:\n    block = 32\nelse:\n    block = 64", "BLOCK", 32),
        ("block, warps = (512, 8)", "BLOCK", 512),
        ("block = settings(100)[0]", "BLOCK", 128),
        ("for block in (16, 32):\n    pass", "BLOCK", 32),
        ("with torch.no_grad():\n    block = 32", "BLOCK", 32),
        ("block = SIZES['small']", "BLOCK", 8),
        ("block = Mode.FAST.value", "BLOCK", 5),
        ("flag = bias is None", "FLAG", False),
        ("flag = x.dtype == torch.float32", "FLAG", False),
        ("scale = 3.0", "scale", 3.0),
        ("n = x.stride(-1)", "n", 1),
        ("n = x.shape[0] // 2 + 1", "n", 513),
        ("out = torch.empty(4, dtype=torch.int64)", "out", "int64"),
        ("out = x.to(torch.float32)", "out", "float32"),
        ("out = x.float().contiguous().view(-1)", "out", "float32"),
        ("out = torch.zeros(x.shape[0])", "out", "float32"),
    ],
)
def test_a_launch_gives_what_its_wrapper_computes(tmp_path: Path, line: str, name: str, value: Any) -> None:
    assert launched(tmp_path, *line.split("\n"), after=HOST)[name].value == value


def test_what_a_launch_gives_is_no_guess_and_what_rests_on_sizes_is(tmp_path: Path) -> None:
    found = launched(tmp_path, "block = triton.next_power_of_2(x.shape[-1])")
    assert found["BLOCK"].value == 1024
    assert found["BLOCK"].guessed
    assert not found["FLAG"].guessed
    assert not found["n"].guessed
    assert found["x"].guessed


@pytest.mark.parametrize(
    "host",
    [
        "def outer(x):\n    run(x, 32)\n\n\ndef run(x, size):\n    kernel[(1,)](x, x, 1, 0.5, size, True)\n",
        "class Op:\n    def forward(ctx, x):\n        ctx.size = 32\n\n    def backward(ctx, x):\n"
        "        kernel[(1,)](x, x, 1, 0.5, ctx.size, True)\n",
        "def run(x):\n    options = dict(BLOCK=32, FLAG=True)\n    kernel[(1,)](x, x, 1, 0.5, **options)\n",
        "def run(x):\n    sizes = [32, True]\n    kernel[(1,)](x, x, 1, 0.5, *sizes)\n",
        "def run(x):\n    chosen = kernel if x.is_cuda else None\n    chosen[(1,)](x, x, 1, 0.5, 32, True)\n",
        "def run(x):\n    def inner(size=32):\n        kernel[(1,)](x, x, 1, 0.5, size, True)\n    inner()\n",
        "def run(x):\n    torch.library.wrap_triton(kernel)[(1,)](x, x, 1, 0.5, 32, True)\n",
    ],
)
def test_a_launch_is_understood_however_it_is_written(tmp_path: Path, host: str) -> None:
    assert call(tmp_path, BODY + host)["BLOCK"].value == 32


def test_saved_tensors_have_the_dtype_that_they_were_made_with(tmp_path: Path) -> None:
    host = """\
    class Op(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            mean = torch.empty(4, dtype=torch.float32)
            ctx.save_for_backward(x, mean)

        @staticmethod
        def backward(ctx, dy):
            x, mean = ctx.saved_tensors
            kernel[(1,)](mean, dy, 1, 0.5, 32, True)
    """
    found = call(tmp_path, BODY + "\n".join(line[4:] for line in host.split("\n")))
    assert given(found, "x") == (ArgumentKind.POINTER, "float32")


def test_a_launch_in_another_file_counts(tmp_path: Path) -> None:
    other = (
        "from ops import kernel as k\n\n\ndef run(x):\n    k[(1,)](x, x, 1, 0.5, BLOCK=32, FLAG=True, num_warps=8)\n"
    )
    found = call(tmp_path, BODY, wrapper=other)
    assert found["BLOCK"].value == 32
    assert dict(found.options) == {"num_warps": 8}


def test_an_optional_tensor_is_given_unless_the_kernel_asks_for_none(tmp_path: Path) -> None:
    text = kernel("x, bias, HAS: tl.constexpr", "if HAS:\n    tl.store(x, tl.load(bias))")
    host = "def run(x, bias: torch.Tensor | None = None):\n    kernel[(1,)](x, bias, bias is not None)\n"
    found = call(tmp_path, text + host)
    assert (found["bias"].kind, found["HAS"].value) == (ArgumentKind.POINTER, True)
    text = kernel("x, bias", "if bias is not None:\n    tl.store(x, tl.load(bias))")
    assert call(tmp_path, text + "def run(x):\n    kernel[(1,)](x, None)\n")["bias"].kind is ArgumentKind.NONE


def test_a_function_that_a_launch_passes_is_named(tmp_path: Path) -> None:
    text = "@triton.jit\ndef relu(x):\n    return x\n\n\n" + kernel("x, F: tl.constexpr", "tl.store(x, F(tl.load(x)))")
    assert call(tmp_path, text + "def run(x):\n    kernel[(1,)](x, relu)\n")["F"].value == FunctionName("relu")


def test_a_descriptor_has_the_block_that_it_is_made_with(tmp_path: Path) -> None:
    text = "from triton.tools.tensor_descriptor import TensorDescriptor\n\n\n"
    text += kernel("desc, out", "tl.store(out + tl.arange(0, 16), desc.load([0, 0]))")
    host = "def run(x):\n    kernel[(1,)](TensorDescriptor.from_tensor(x, [16, 32]), x)\n"
    assert given(call(tmp_path, text + host), "desc") == (ArgumentKind.DESCRIPTOR, ("float16", (16, 32)))
    assert given(call(tmp_path, text), "desc") == (ArgumentKind.DESCRIPTOR, ("float16", (64, 64)))


# -- what the compiler says ----------------------------------------------------------------------------------------

MIXED = """\
i = tl.arange(0, BLOCK)
a = tl.load(x + i[:, None] * BLOCK + i[None, :])
b = tl.load(y + i[:, None] * BLOCK + i[None, :]).to(tl.float32)
acc = tl.dot(a, b)
total = tl.load(z)
for j in range(n):
    total += tl.exp(tl.load(z + j))
tl.store(out, total)
if FLAG:
    more = 1
tl.store(out, more)
"""
PARAMETERS = "x, y, z, out, n, BLOCK: tl.constexpr, FLAG: tl.constexpr"


def line_of(root: Path, words: str) -> int:
    lines = (root / "ops.py").read_text().split("\n")
    return next(number for number, line in enumerate(lines, 1) if words in line)


@pytest.mark.parametrize(
    ("place", "message", "changes"),
    [
        ("tl.dot", "Both operands must be same dtype. Got fp16 and fp32", {"y": "float16"}),
        (
            "total +=",
            "Loop-carried variable total has initial type fp16 but is re-assigned to fp32 in loop!",
            {"z": "float32"},
        ),
        ("arange", "arange's range must be a power of 2", {"BLOCK": 64}),
        ("arange", "numel (4194304) exceeds triton maximum tensor numel (1048576)", {"BLOCK": 64}),
        ("more)", "more is not defined", {"FLAG": True}),
    ],
)
def test_an_error_leads_to_another_guess(tmp_path: Path, place: str, message: str, changes: dict[str, Any]) -> None:
    write(tmp_path, {"ops.py": kernel(PARAMETERS, MIXED)})
    found = inference(tmp_path)
    first = found.call()
    if "y" in changes:
        first = changed(first, y="float32")
    if "BLOCK" in changes:
        first = changed(first, BLOCK=100)
    error = SourceError(message, str(tmp_path / "ops.py"), line_of(tmp_path, place), 1)
    second = alternatives(found, first, error)
    assert second is not None
    expected = {"BLOCK": 128} if "power" in message else changes
    assert {name: second[name].value for name in expected} == expected
    assert all(second[name].guessed for name in expected)
    assert second.tried == (first.arguments,)


def changed(found: InferredCall, **values: Any) -> InferredCall:
    from dataclasses import replace

    arguments = (replace(a, value=values.get(a.name, a.value)) for a in found.arguments)
    return replace(found, arguments=tuple(arguments))


def test_attempts_come_to_an_end_and_do_not_repeat(tmp_path: Path) -> None:
    write(tmp_path, {"ops.py": kernel(PARAMETERS, MIXED)})
    found = inference(tmp_path)
    error = SourceError("Both operands must be same dtype. Got fp16 and fp32", str(tmp_path / "ops.py"), 9, 1)
    calls = [found.call()]
    while (following := alternatives(found, calls[-1], error)) is not None:
        calls.append(following)
    assert 1 < len(calls) <= MOST_ATTEMPTS + 1
    assert len({one.arguments for one in calls}) == len(calls)


@pytest.mark.parametrize(
    "message",
    [
        "Block pointers have been removed in favor of the tensor descriptor API",
        "missing is not defined",
        "module 'triton.language' has no attribute 'cidv'",
        "'dtype' object is not callable",
    ],
)
def test_what_no_argument_can_mend_is_left_as_it_is(tmp_path: Path, message: str) -> None:
    write(tmp_path, {"ops.py": kernel(PARAMETERS, MIXED)})
    found = inference(tmp_path)
    assert alternatives(found, found.call(), SourceError(message, str(tmp_path / "ops.py"), 9, 1)) is None


def test_flags_that_a_launch_gives_stay_as_they_are(tmp_path: Path) -> None:
    host = "def run(x):\n    kernel[(1,)](x, x, x, x, 4, 64, False)\n"
    write(tmp_path, {"ops.py": kernel(PARAMETERS, MIXED) + host})
    found = inference(tmp_path)
    error = SourceError("more is not defined", str(tmp_path / "ops.py"), line_of(tmp_path, "more)"), 1)
    assert alternatives(found, found.call(), error) is None
