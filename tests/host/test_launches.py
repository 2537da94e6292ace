"""What launches pass, on which paths, from the functions that lead to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.host.wrappers import conditions, grid, module, passed, site, sites
from tritonaudit.host.values import Described, Dtype, Symbol, Tensor, number
from tritonaudit.kernel.project import Project


def test_rows_of_a_softmax() -> None:
    one = site("""
        def softmax(x):
            rows, cols = x.shape
            out = torch.empty_like(x)
            block = triton.next_power_of_2(cols)
            kernel[(rows,)](x, out, rows, cols, x.stride(0), BLOCK=block, num_warps=8)
            return out
    """)
    assert grid(one) == ["x.shape[0]"]
    assert passed(one, "BLOCK") == "next_power_of_2(x.shape[1])"
    assert passed(one, "stride") == "x.stride(0)"
    assert passed(one, "out") == "('x.shape[0]', 'x.shape[1]')"
    assert str(one.options["num_warps"]) == "8"


def test_a_matrix_product_asserts_what_belongs_together() -> None:
    one = site("""
        def matmul(a, b):
            assert a.shape[1] == b.shape[0], "they do not fit"
            M, K = a.shape
            K, N = b.shape
            c = torch.empty((M, N), device=a.device, dtype=a.dtype)
            grid = lambda META: (triton.cdiv(M, META["BLOCK"]) * triton.cdiv(N, META["BLOCK"]),)
            kernel[grid](a, c, M, K, c.stride(0), BLOCK=64)
    """)
    assert grid(one) == ["cdiv(a.shape[0], 64) * cdiv(b.shape[1], 64)"]
    assert passed(one, "stride") == "b.shape[1]"
    assert conditions(one) == ["a.shape[1] == b.shape[0]"]
    facts, inner = one.facts(), one.argument("m")
    assert inner is not None
    assert str(facts.normal(inner)) == "a.shape[1]"


def test_heads_of_an_attention() -> None:
    one = site("""
        def attention(q, k):
            B, H, T, D = q.shape
            assert k.shape == (B, H, T, D)
            q = q.transpose(1, 2).contiguous()
            kernel[(triton.cdiv(T, 64), B * H)](q, k, k.size(2), q.size(-1), q.stride(1), BLOCK=64)
    """)
    assert grid(one) == ["cdiv(q.shape[2], 64)", "q.shape[0] * q.shape[1]"]
    assert passed(one, "stride") == "q.shape[1] * q.shape[3]"
    facts = one.facts()
    keys, queries = one.argument("n"), one.axis(0)
    assert keys is not None
    assert queries is not None
    assert one.arithmetic.rounded_up(facts.normal(keys), number(64)) == facts.normal(queries)


TENSORS_ONLY = """
    def contiguous(fn):
        def wrapper(*args):
            return fn(*(one.contiguous() if isinstance(one, torch.Tensor) else one for one in args))
        return wrapper
"""


@pytest.mark.parametrize(
    "body",
    [
        "kernel[(1,)](x, x, x.shape[0], n, x.stride(0))",
        "launched(x, n)\n\n    def launched(y, n):\n        kernel[(1,)](y, y, y.shape[0], n, y.stride(0))",
        "launched(n=n, y=x)\n\n    def launched(n, y):\n        kernel[(1,)](y, y, y.shape[0], n, y.stride(0))",
    ],
)
def test_what_is_asked_for_its_strides_is_a_tensor_in_whichever_function(body: str) -> None:
    one = next(iter(sites(f"{TENSORS_ONLY}\n    @contiguous\n    def run(x, n):\n        {body}\n")))
    tensor = one.arguments["x"]
    assert isinstance(tensor, Tensor)
    assert tensor.made == "contiguous"


def test_a_list_that_is_passed_is_one_argument() -> None:
    one = site("""
        def run(tensors, x):
            parts = [part.contiguous() for part in tensors]
            launched(parts, x, x.shape[0], x.shape[1])

        def launched(parts, x, rows, cols):
            kernel[(rows,)](parts[0], x, rows, cols, 1)
    """)
    assert [passed(one, name) for name in ("n", "m")] == ["x.shape[0]", "x.shape[1]"]


def test_what_a_star_brings_leaves_the_rest_open() -> None:
    one = site("""
        def run(x, sizes):
            launched(x, *sizes)

        def launched(x, rows, cols):
            kernel[(1,)](x, x, rows, cols, 1)
    """)
    value = one.arguments["n"]
    assert isinstance(value, Symbol)
    assert value.reason == "it is passed by `*` or `**`"


def test_what_must_hold_together_fails_where_one_of_it_does() -> None:
    one = site("""
        def run(x, y):
            if not (x.is_cuda and torch.version.hip is None and y.shape[0] == x.shape[0]):
                raise ValueError("for one machine")
            kernel[(1,)](x, y, x.shape[0], y.shape[0], 1)
    """)
    assert conditions(one) == ["`x.is_cuda`", "torch.version.hip is None", "y.shape[0] == x.shape[0]"]


@pytest.mark.parametrize("called", ["Fn.apply(x.contiguous(), True)", "apply(x.contiguous(), True)"])
def test_an_autograd_function(called: str) -> None:
    one = site(f"""
        class Fn(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, flag):
                M, N = x.shape
                kernel[(M,)](x, x, M, N, x.stride(0), FLAG=flag)
                ctx.save_for_backward(x)
                return x

        apply = Fn.apply

        def public(x):
            return {called}
    """)
    assert one.entry.node.name == "public"
    assert passed(one, "FLAG") == "True"
    assert passed(one, "stride") == "x.shape[1]"


def test_the_constants_of_an_autotuner_are_given_by_its_configs() -> None:
    one = site("""
        CONFIGS = [triton.Config({"B": b, "W": 4}, num_warps=w) for b in (32, 64) for w in (2, 4)]

        @triton.autotune(configs=CONFIGS, key=["n"])
        @triton.heuristics({"EVEN": lambda args: args["n"] % args["W"] == 0})
        @triton.jit
        def tuned(x, n, B: tl.constexpr, W: tl.constexpr, EVEN: tl.constexpr):
            pass

        def run(x):
            n = x.numel()
            tuned[lambda meta: (triton.cdiv(n, meta["B"]),)](x, n)
    """)
    assert grid(one) == ["cdiv(x.numel(), B)"]
    assert [str(config.given["B"]) for config in one.configs] == ["32", "32", "64", "64"]
    assert passed(one, "W") == "4"
    assert passed(one, "EVEN") == "(x.numel() % 4) == 0"
    assert [str(value) for value in one.chosen(one.configs[3]).values()] == ["64"]


@pytest.mark.parametrize(
    ("lines", "divides"),
    [
        ("assert is_power_of_2(n) and block <= n", True),
        ("assert n == triton.next_power_of_2(n)\nassert block <= n", True),
        ("if n & (n - 1) != 0 or block > n: raise ValueError(n)", True),
        ("assert is_power_of_2(n)", False),
        ("assert block <= n", False),
        ("assert is_power_of_2(n + 1) and block <= n", False),
    ],
)
def test_of_two_powers_of_2_the_smaller_one_divides_the_other(lines: str, divides: bool) -> None:
    body = "\n".join(f"            {line}" for line in lines.splitlines())
    one = site(f"""
        def is_power_of_2(n):
            assert isinstance(n, int)
            return (n & (n - 1)) == 0

        def scaled(x, block=64):
            n = x.shape[0]
{body}
            kernel[(triton.cdiv(n, block),)](x, x, n, n, 1, BLOCK=block)
    """)
    size, tile = one.argument("n"), one.argument("BLOCK")
    assert size is not None
    assert tile is not None
    assert one.facts().divides(tile, size, is_power=True) is divides
    assert one.facts().divides(tile, size) is False, "who calls it may pass 48"


def test_padding_to_a_multiple() -> None:
    one = site("""
        def padded(x):
            M, N = x.shape
            extra = triton.cdiv(N, 128) * 128 - N
            x = F.pad(x, (0, extra))
            kernel[(M, x.shape[1] // 128)](x, x, x.shape[0], x.shape[1], x.stride(0), BLOCK=128)
    """)
    assert grid(one) == ["x.shape[0]", "cdiv(x.shape[1], 128)"]
    assert passed(one, "m") == "128 * cdiv(x.shape[1], 128)"


def test_a_flag_that_is_asked_twice_is_one_flag() -> None:
    found = sites("""
        def run(x, flag):
            block = 64 if flag else 32
            if flag:
                kernel[(1,)](x, x, 1, 1, 1, BLOCK=block)
    """)
    assert [(passed(one, "BLOCK"), conditions(one)) for one in found] == [("64", ["`flag`"])]


def test_what_returns_or_raises_before_is_ruled_out() -> None:
    found = sites("""
        def run(x, n, mode):
            if n == 0:
                return x
            if n % 16 != 0:
                raise ValueError("no")
            if mode not in ("a", "b"):
                raise ValueError(mode)
            kernel[(n // 16,)](x, x, n, 1, 1, FLAG=mode == "a")
    """)
    assert [passed(one, "FLAG") for one in found] == ["True", "False"]
    for one in found:
        size = one.argument("n")
        assert size is not None
        assert one.facts().divides(number(16), size)


@pytest.mark.parametrize(
    ("lines", "axis"),
    [
        ("n = x.numel()\nm = max(n, 1)", "maximum(x.numel(), 1)"),
        ("x = x.view(-1, 64)\nm = x.shape[0]", "(x.numel() // 64)"),
        ("*lead, last = x.shape\nm = last", "x.shape[-1]"),
        ("a, b = x.shape[:-1], x.shape[-1]\nm = math.prod(a)", "x.shape[:-1].numel()"),
        ("a, b, c = x.shape\nm = x.flatten(0, 1).shape[0]", "x.shape[0] * x.shape[1]"),
        ("a, b, c = x.shape\nm = x.unsqueeze(1).permute(0, 2, 1, 3).size(1)", "x.shape[1]"),
        ("a, b = x.shape\nq, k = x.split([32, b - 32], dim=-1)\nm = k.shape[1]", "x.shape[1] - 32"),
        ("a, b = x.shape\nm = x[:, :8].shape[1]", "minimum(x.shape[1], 8)"),
        ("a, b = x.shape\nm = torch.cat([x, x], dim=1).shape[1]", "2 * x.shape[1]"),
        ("a, b = x.shape\nm = x.chunk(2, dim=1)[0].shape[1]", "cdiv(x.shape[1], 2)"),
        ("m = functools.partial(triton.cdiv, 1000)(64)", "16"),
        ("m = math.ceil(x.numel() / 256)", "cdiv(x.numel(), 256)"),
        ("m = (lambda k, by=4: k * by)(3)", "12"),
        ("m = sum([i for i in range(4) if i != 2])", "4"),
        ("m = {'a': 3}.get('a', 5) + len((1, 2))", "5"),
        ("m = 0\nfor i in (1, 2, 3):\n    m += i", "6"),
        ("m = 1\nwhile m < 100:\n    m *= 2", "128"),
        ("m = SIZE * 2", "512"),
        ("m = helper(x, size=3)", "3 * x.shape[0]"),
        ("try:\n    raise ValueError\nexcept ValueError:\n    m = 7", "7"),
        ("m = 1 << 200\nm = 3", "3"),
    ],
)
def test_sizes(lines: str, axis: str) -> None:
    body = "\n".join(f"    {line}" for line in lines.splitlines())
    text = "SIZE = 2 * OTHER\nOTHER = 128\n\n\ndef helper(x, size=1):\n    return x.shape[0] * size\n\n\n"
    assert grid(site(f"{text}def run(x):\n{body}\n    kernel[(m,)](x, x, 1, 1, 1)\n")) == [axis]


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("m = read(x)", "is not defined"),
        ("m = torch.unknown(x)", "`torch.unknown` is not known"),
        ("m = 1\nfor i in x:\n    m = m + i.size", "it is set in a loop"),
        ("m = cycle(x)", "too deeply"),
    ],
)
def test_what_is_not_known_has_a_reason_and_spoils_nothing_else(lines: str, reason: str) -> None:
    body = "\n".join(f"    {line}" for line in lines.splitlines())
    text = f"def cycle(x):\n    return cycle(x)\n\n\ndef run(x):\n{body}\n    kernel[(4,)](x, x, m, 2, 1)\n"
    one = site(text)
    value = one.arguments["n"]
    assert isinstance(value, Symbol) or one.argument("n") is not None
    assert not isinstance(value, Symbol) or reason in value.reason
    assert (grid(one), passed(one, "m")) == (["4"], "2")


def test_project_decorators_are_followed() -> None:
    one = site("""
        def contiguous(fn):
            @functools.wraps(fn)
            def inner(*args, **kwargs):
                return fn(*(a.contiguous() if isinstance(a, torch.Tensor) else a for a in args), **kwargs)
            return inner

        @contiguous
        def run(x, n: int):
            M, N = x.shape
            kernel[(M,)](x, x, n, N, x.stride(0))
    """)
    assert passed(one, "stride") == "x.shape[1]"
    assert passed(one, "n") == "n"


def test_callers_are_followed_and_tests_are_no_callers() -> None:
    found = sites("""
        def _launch(x, n, block):
            kernel[(triton.cdiv(n, block),)](x, x, n, 1, 1, BLOCK=block)

        def one(x):
            _launch(x, x.numel(), block=64)

        def two(x):
            if x.is_cuda:
                _launch(x, 4096, 128)
    """)
    assert sorted((one.entry.node.name, grid(one)[0]) for one in found) == [
        ("one", "cdiv(x.numel(), 64)"),
        ("two", "32"),
    ]


def test_a_way_that_the_number_of_dimensions_decides_has_another() -> None:
    """Both tensors have one shape, and each is asked whether it has any dimension."""
    found = sites("""
        def rows_of(x):
            if x.ndim == 0:
                return x, 1
            return x.contiguous(), x.shape[-1]

        def run(x, y):
            assert x.shape == y.shape
            x, m = rows_of(x)
            y, n = rows_of(y)
            kernel[(x.numel() // x.shape[-1],)](x, y, n, m, n)
    """)
    assert {passed(one, "n") for one in found} == {"y.shape[-1]"}


def test_a_member_of_a_class_is_its_number() -> None:
    one = site("""
        class Mode(enum.IntEnum):
            PLAIN = 3

        class Tiles:
            ROWS = 16
            WIDE = True

        def run(x):
            kernel[(1,)](x, x, Mode.PLAIN.value, Mode.PLAIN, 1, BLOCK=Tiles.ROWS, FLAG=Tiles.WIDE)
    """)
    assert [passed(one, name) for name in ("n", "m", "BLOCK")] == ["3", "3", "16"]
    assert passed(one, "FLAG") == "Tiles.WIDE"  # a switch, which others may turn


def test_a_descriptor_has_its_tensor_and_its_block() -> None:
    one = site("""
        from triton.tools.tensor_descriptor import TensorDescriptor

        def run(x):
            kernel[(1,)](TensorDescriptor.from_tensor(x, [16, 32]), x, 1, 1, 1)
    """)
    described = one.arguments["x"]
    assert isinstance(described, Described)
    assert (described.tensor.symbol.name, [str(size) for size in described.block]) == ("x", ["16", "32"])


def test_a_backward_has_what_its_forward_has_kept() -> None:
    text = """
        class Fn(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                mean = torch.empty(4, dtype=torch.float32)
                ctx.block = 64
                ctx.save_for_backward(x, mean)
                return x

            @staticmethod
            def backward(context, grad):
                x, mean = context.saved_tensors
                kernel[(1,)](x, mean, 1, 1, 1, BLOCK=context.block)
    """
    one = site(text)
    found = module(text)
    host = Project(Path("/nowhere")).host
    (again,) = host.launches(found, found.jit[0], [])
    saved = host.saved(again.entry)
    assert passed(one, "BLOCK") == "context.block"
    assert str(saved["input", "context", "block"]) == "64"
    assert saved[again.arguments["out"].key].dtype == Dtype("float32")


@pytest.mark.parametrize(
    ("text", "is_launched"),
    [
        ("def run(x):\n    unknown(x)[0](kernel)\n", True),
        ("def run(x):\n    kernel[grid_of(x)](*x)\n", True),
        ("def run(x):\n    return kernel(x)\n", False),
        ("def run(x):\n    return x\n", False),
    ],
)
def test_whether_a_kernel_is_launched_shows_where_the_launch_cannot_be_evaluated(text: str, is_launched: bool) -> None:
    found = module(text)
    assert Project(Path("/nowhere")).host.is_launched(found, found.jit[0], []) is is_launched


def test_what_sizes_are_called() -> None:
    one = site("""
        def run(q):
            batch, heads = q.shape[:2]
            kernel[(batch,)](q, q, heads, batch, 1)
    """)
    assert sorted(one.made.called.values()) == ["batch", "heads"]


def test_what_one_path_keeps_in_its_module_is_not_there_on_another() -> None:
    found = sites("""
        TUNED = {}

        def scale(x, tune):
            if tune:
                TUNED["BLOCK"] = 64
            block = TUNED.get("BLOCK", 256)
            kernel[(triton.cdiv(x.numel(), block),)](x, x, x.numel(), 1, 1, BLOCK=block)
    """)
    assert {(*conditions(one), passed(one, "BLOCK")) for one in found} == {("`tune`", "64"), ("not (`tune`)", "256")}
