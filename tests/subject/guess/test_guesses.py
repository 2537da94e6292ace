"""What a wrapper's code tells of its inputs."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import pytest

from tests.subject.wrappers import COPY, all_guesses, function, guess
from tritonaudit.subject.guess.parameters import TorchName
from tritonaudit.subject.model import Offsets, Size, Tensor

LAUNCH = "kernel[(1,)](x, torch.empty_like(x), x.numel(), BLOCK=64)"


def code(signature: str, body: str) -> str:
    """A wrapper that launches the kernel which copies x."""
    return COPY + function(signature, f"{dedent(body)}\n{LAUNCH}")


def values(signature: str, body: str, kernels: str = COPY) -> dict[str, Any]:
    """What is given for each parameter."""
    return {p.name: p.value for p in guess(code(signature, body).replace(COPY, kernels)).required}


def dims(signature: str, body: str, kernels: str = COPY) -> list[tuple[str | int, ...]]:
    return [value.dims for value in values(signature, body, kernels).values() if isinstance(value, Tensor)]


# -- ranks and names from the body ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("M, N = x.shape", ("M", "N")),
        ("M, N = x.size()", ("M", "N")),
        ("b, t, d = x.shape", ("b", "t", "d")),
        ("*batch, n = x.shape", ("rows", "n")),
        ("n = x.shape[-1]", ("rows", "n")),
        ("n = x.shape[2]", ("batch", "rows", "n")),
        ("n = x.size(1)", ("rows", "n")),
        ("n_rows = x.shape[0]", ("n_rows",)),
        ("sa, sb, sc = x.stride()", ("batch", "rows", "cols")),
        ("s = x.stride(2)", ("batch", "rows", "cols")),
        ("assert x.dim() == 3", ("batch", "rows", "cols")),
        ("assert x.ndim == 2, 'no'", ("rows", "cols")),
        ("assert len(x.shape) == 2", ("rows", "cols")),
        ("if x.ndim != 3:\n    raise ValueError('no')", ("batch", "rows", "cols")),
        ("assert x.ndim in (2, 3)", ("rows", "cols")),
        ("y = x.permute(0, 2, 1)\nb, d, t = y.shape", ("b", "t", "d")),
        ("y = x.transpose(1, 2)\nb, t, h, d = y.shape", ("b", "h", "t", "d")),
        ("n, m = x.t().shape", ("m", "n")),
        ("y = rearrange(x, 'b h t d -> b t h d')", ("b", "h", "t", "d")),
        ("y = x.contiguous().cuda()\nM, N = y.shape", ("M", "N")),
        ("y = x.view(-1, x.shape[-1])\nrows, hidden = y.shape", ("rows", "hidden")),
        ("B, T = x.shape[:2]\nD = x.shape[-1]", ("B", "T")),
        ("assert x.shape == (4, 8)", (4, 8)),
    ],
)
def test_one_tensor(body: str, expected: tuple[str | int, ...]) -> None:
    assert dims("f(x)", body) == [expected]


def test_a_tensor_that_is_only_counted_has_one_dimension() -> None:
    assert dims("f(x)", "") == [("size",)]


def test_a_rank_that_is_asked_about_decides_what_else_is_read() -> None:
    body = """
    if x.dim() == 3:
        batch, rows, cols = x.shape
    else:
        n, m = x.shape
    """
    assert dims("f(x)", body) == [("batch", "rows", "cols")]


def test_a_reshaped_tensor_says_nothing_of_its_own_rank() -> None:
    body = (
        "hidden = x.shape[-1]\nflat = x.reshape(-1, hidden)\nn_rows, n_cols = flat.shape\nassert w.shape[0] == n_cols"
    )
    assert dims("f(x, w)", body) == [("rows", "hidden"), ("hidden",)]


# -- dimensions in common ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("M, K = a.shape\nK, N = b.shape", [("M", "K"), ("K", "N")]),
        ("M, K = a.shape\nK2, N = b.shape\nassert K == K2", [("M", "K"), ("K", "N")]),
        ("M, K = a.shape\nN = b.shape[1]\nassert a.shape[1] == b.shape[0]", [("M", "K"), ("K", "N")]),
        ("M, K = a.shape\nassert b.shape == (K, 3)", [("M", "K"), ("K", 3)]),
        ("M, K = a.shape\nif b.shape[0] != K:\n    raise ValueError", [("M", "K"), ("K",)]),
        ("M, K = a.shape\nassert a.shape == b.shape", [("M", "K"), ("M", "K")]),
        ("M, K = a.shape\nassert a.shape[:-1] == b.shape[:-1]\nN = b.shape[1]", [("M", "K"), ("M", "N")]),
        ("a, b = torch.broadcast_tensors(a, b)\nM, N = a.shape\nP, Q = b.shape", [("M", "N"), ("P", "Q")]),
        ("M, K = a.shape\nassert b.shape[1] == K // 8\nr = b.shape[0]", [("M", "K"), ("r", "K // 8")]),
        ("M, N2 = a.shape\nM, N = b.shape\nassert N2 == 2 * N", [("M", "2 * N"), ("M", "N")]),
        ("M, K = a.shape\nassert b.shape[0] == triton.cdiv(K, 128)", [("M", "K"), ("-(-K // 128)",)]),
    ],
)
def test_two_tensors(body: str, expected: list[tuple[str | int, ...]]) -> None:
    assert dims("f(a, b)", f"{body}\nx = a") == expected


def test_a_tensor_of_which_nothing_is_said_is_like_the_first() -> None:
    assert dims("f(x, y)", "M, N = x.shape\nuse(y)") == [("M", "N"), ("M", "N")]


def test_a_weight_of_which_nothing_is_said_is_as_long_as_a_row() -> None:
    assert dims("f(x, weight, bias)", "M, N = x.shape\nuse(weight, bias)") == [("M", "N"), ("N",), ("N",)]


def test_what_functions_of_the_module_say_counts() -> None:
    helper = "def _check(a, b):\n    assert a.shape[1] == b.shape[0]\n    return a.contiguous()\n\n\n"
    found = dims("f(x, w)", "x = _check(x, w)\nM, K = x.shape\nK, N = w.shape", COPY + helper)
    assert found == [("M", "K"), ("K", "N")]


def test_what_an_autograd_class_says_counts() -> None:
    autograd = """\
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, eps):
        rows, hidden = x.shape
        assert w.shape == (hidden,)
        kernel[(1,)](x, x, 1, 64)

    @staticmethod
    def backward(ctx, grad):
        return grad


"""
    found = guess(COPY + autograd + "def f(x, w, eps=1e-6):\n    return F.apply(x, w, eps)\n")
    assert [p.value for p in found.required] == [Tensor("rows", "hidden"), Tensor("hidden")]
    assert [(p.name, p.value) for p in found.parameters if p.has_default] == [("eps", 1e-6)]


# -- what kernels tell ---------------------------------------------------------------------------------------------

MATMUL = """\
@triton.jit
def kernel(a, b, c, M, N, K, sam, sak, sbk, sbn, scm, scn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.{total})
    for start in range(0, K, BK):
        a_mask = (m[:, None] < M) & (start + k[None, :] < K)
        b_mask = (start + k[:, None] < K) & (n[None, :] < N)
        x = tl.load(a + m[:, None] * sam + (start + k[None, :]) * sak, mask=a_mask)
        y = tl.load(b + (start + k[:, None]) * sbk + n[None, :] * sbn, mask=b_mask)
        acc += tl.dot(x, y)
    tl.store(c + m[:, None] * scm + n[None, :] * scn, acc, mask=(m[:, None] < M) & (n[None, :] < N))


def matmul(a, b, c, M, N, K):
    kernel[(1, 1)](
        a, b, c, M, N, K, a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1), 64, 64, 32
    )
"""


def test_masks_say_which_dimensions_are_the_same() -> None:
    found = guess(MATMUL.format(total="float32"))
    assert [p.value for p in found.required] == [
        Tensor("M", "K"),
        Tensor("K", "N"),
        Tensor("M", "N"),
        Size("M"),
        Size("N"),
        Size("K"),
    ]
    assert found.is_known


def test_what_a_kernel_writes_to_is_mutated() -> None:
    assert [p.is_mutated for p in guess(MATMUL.format(total="float32")).required[:3]] == [False, False, True]


def test_a_matrix_product_of_integers_has_small_integers() -> None:
    a, b, c = (p.value for p in guess(MATMUL.format(total="int32")).required[:3])
    assert (a.dtype, b.dtype, c.dtype) == ("int8", "int8", None)


GATHER = """\
@triton.jit
def kernel(table, picks, out, stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    source = tl.load(picks + row)
    tl.store(out + row * stride + cols, tl.load(table + source * stride + cols, mask=cols < n_cols), mask=cols < n_cols)


def gather(table, picks):
    vocab, hidden = table.shape
    out = torch.empty((picks.shape[0], hidden))
    kernel[(picks.shape[0],)](table, picks, out, table.stride(0), hidden, BLOCK=64)
"""


def test_what_becomes_an_address_is_an_index_into_what_it_selects() -> None:
    table, picks = (p.value for p in guess(GATHER).required)
    assert table == Tensor("vocab", "hidden")
    assert picks == Tensor("size", dtype="int64", high="vocab")


NORM = """\
@triton.jit
def kernel(x_ptr, w_ptr, s_ptr, out_ptr, stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * stride + cols, mask=mask)
    tl.store(out_ptr + row * stride + cols, x * tl.load(w_ptr + cols, mask=mask) * tl.load(s_ptr), mask=mask)


def norm(tokens, affine, factor):
    hidden = tokens.shape[-1]
    flat = tokens.reshape(-1, hidden)
    out = torch.empty_like(flat)
    kernel[(flat.shape[0],)](flat, affine, factor, out, flat.stride(0), hidden, BLOCK=64)
"""


def test_how_far_a_kernel_reads_says_how_long_a_tensor_is() -> None:
    assert [p.value for p in guess(NORM).required] == [Tensor("rows", "hidden"), Tensor("hidden"), Tensor(1)]


SHIFT = """\
@triton.jit
def kernel(packed_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    packed = tl.load(packed_ptr + offs, mask=offs < n)
    low = packed & 0xF
    tl.store(out_ptr + offs, low + ((packed {shift}) & 0xF), mask=offs < n)


def unpack(packed):
    kernel[(1,)](packed, torch.empty_like(packed), packed.numel(), BLOCK=64)
"""


@pytest.mark.parametrize(
    ("shift", "spec"),
    [
        (">> 4", Tensor("size", dtype="uint8", high=256)),
        (">> (offs % 8)", Tensor("size", dtype="int32", low=-(2**31), high=2**31)),
    ],
)
def test_what_is_shifted_is_packed(shift: str, spec: Tensor) -> None:
    assert [p.value for p in guess(SHIFT.format(shift=shift)).required] == [spec]


# -- notes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "note",
    [
        '"""x: queries of shape `[B, T, H, K]`."""',
        '"""\n    Args:\n        x (torch.Tensor):\n            queries of shape `[B, T, H, K]`.\n    """',
        '"""\n    :param x: a tensor (B, T, H, K), contiguous\n    """',
        "# x: (B, T, H, K)",
    ],
)
def test_shapes_that_are_written_down(note: str) -> None:
    assert dims("f(x)", note) == [("B", "T", "H", "K")]


def test_a_shape_beside_the_parameter() -> None:
    signature = "f(\n    x: torch.Tensor,  # [num_tokens, 2 * d]\n    out: torch.Tensor,  # [num_tokens, d]\n)"
    assert dims(signature, "") == [("num_tokens", "2 * d"), ("num_tokens", "d")]


def test_a_shape_in_an_annotation() -> None:
    assert dims('f(x: Float[torch.Tensor, "batch size"])', "") == [("batch", "size")]


def test_the_code_is_believed_before_a_note() -> None:
    assert dims("f(x)", '"""x: of shape (hidden,)"""\nM, N = x.shape') == [("M", "N")]


def test_types_are_no_shapes() -> None:
    assert dims("f(x, y)", '"""x (Optional[torch.Tensor], optional): y\n    y (int, default): z"""') == [
        ("size",),
        ("size",),
    ]


# -- dtypes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("signature", "body", "dtype"),
    [
        ("f(x: torch.LongTensor)", "", "int64"),
        ("f(x)", "assert x.dtype == torch.int32", "int32"),
        ("f(x)", "if x.dtype != torch.int8:\n    raise ValueError", "int8"),
        ("f(x)", '"""x (torch.LongTensor): of shape (N,)"""', "int64"),
        ("f(x)", "assert x.dtype == torch.float8_e4m3fn", "float8_e4m3fn"),
        ("f(x)", "", None),
    ],
)
def test_a_dtype_that_is_reported(signature: str, body: str, dtype: str | None) -> None:
    assert values(signature, body)["x"].dtype == dtype


def test_floating_point_dtypes_are_the_subjects() -> None:
    found = guess(code("f(x)", "assert x.dtype in (torch.float16, torch.bfloat16)"))
    assert found.dtypes == ("float16", "bfloat16")
    assert found.required[0].value == Tensor("size")


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("block_tables", Tensor("rows", "cols", dtype="int32")),
        ("seq_lens", Tensor("size", dtype="int32")),
        ("attn_mask", Tensor("rows", "cols", dtype="bool")),
        ("token_ids", Tensor("size", dtype="int64")),
    ],
)
def test_a_dtype_that_a_name_tells(name: str, spec: Tensor) -> None:
    found = values(f"f(x, {name})", f"rows, cols = x.shape\nuse({name})")[name]
    assert (found.dtype, len(found.dims)) == (spec.dtype, len(spec.dims))


def test_cumulative_lengths_are_offsets() -> None:
    found = values("f(x, cu_seqlens)", "tokens, hidden = x.shape\nbatch = cu_seqlens.shape[0] - 1")
    assert found["cu_seqlens"] == Offsets("batch", "tokens")
    noted = values("f(x, cu_seqlens)", '"""cu_seqlens: of shape [N + 1]"""\ntokens, hidden = x.shape')
    assert noted["cu_seqlens"] == Offsets("N", "tokens")


# -- everything else -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("signature", "value"),
    [
        ("f(x, eps)", 1e-6),
        ("f(x, eps: float)", 1e-6),
        ("f(x, factor: float)", 1.0),
        ("f(x, dim)", -1),
        ("f(x, causal: bool)", True),
        ("f(x, flag: bool)", False),
        ("f(x, BLOCK_M)", 64),
        ("f(x, num_warps)", 4),
        ("f(x, n_heads: int)", 8),
        ("f(x, hidden_size: int)", 1024),
        ("f(x, out_dtype)", TorchName("float32")),
        ("f(x, dtype: torch.dtype)", TorchName("float32")),
        ("f(x, device)", "cuda"),
        ("f(x, bias: Optional[torch.Tensor])", None),
        ("f(x, mode: Literal['sum', 'mean'])", "sum"),
        ("f(x, tensors: List[torch.Tensor])", [Tensor("size"), Tensor("size")]),
    ],
)
def test_a_value(signature: str, value: Any) -> None:
    assert list(values(signature, "").values())[1] == value


def test_a_word_is_one_that_the_code_knows() -> None:
    assert values("f(x, activation)", "if activation == 'gelu':\n    pass")["activation"] == "gelu"
    assert values("f(x, kind: str)", "assert kind in ('row', 'column')")["kind"] == "row"


def test_a_number_that_is_a_size_is_given_as_one() -> None:
    assert values("f(x, n_cols)", "assert x.shape[1] == n_cols\nrows = x.shape[0]") == {
        "x": Tensor("rows", "n_cols"),
        "n_cols": Size("n_cols"),
    }


def test_sizes_that_the_code_allows() -> None:
    found = guess(code("f(x)", "n, d = x.shape\nassert d in {16, 32, 64, 128}"))
    assert found.sizes == (("d", (64, 128, 16)),)
    limited = guess(code("f(x)", "n, d = x.shape\nassert d <= 256"))
    assert limited.sizes == (("d", (64, 128)),)


def test_heads_of_attention_are_as_large_as_heads_are() -> None:
    found = guess(code("f(q, k, v)", "B, H, T, D = q.shape\nx = q\nuse(k, v)"))
    assert [p.value.dims for p in found.required] == [("B", "H", "T", "D")] * 3
    assert found.sizes == (("D", (64, 128)),)


# -- defaults ------------------------------------------------------------------------------------------------------


def test_a_default_is_left_and_what_it_rules_out_is_not_read() -> None:
    body = """
    if lengths is not None:
        assert x.shape[0] == 1
    rows, cols = x.shape
    """
    found = guess(code("f(x, lengths=None, causal=False)", body))
    assert [p.name for p in found.required] == ["x"]
    assert found.required[0].value == Tensor("rows", "cols")


@pytest.mark.parametrize("body", ["n = bias.shape[0]", "assert bias is not None", "bias = bias.contiguous()"])
def test_a_default_of_none_that_will_not_do_is_replaced(body: str) -> None:
    found = guess(code("f(x, scale=1.0, bias=None)", f"rows, cols = x.shape\n{body}"))
    assert [(p.name, p.is_keyword) for p in found.required] == [("x", False), ("bias", True)]
    assert isinstance(found.required[1].value, Tensor)


def test_keyword_only_parameters_are_given_by_name() -> None:
    found = guess(code("f(x, *, eps)", ""))
    assert [(p.name, p.is_keyword) for p in found.required] == [("x", False), ("eps", True)]


# -- what is only guessed ------------------------------------------------------------------------------------------


def test_what_is_reported_is_known_and_what_is_not_is_a_guess() -> None:
    found = guess(code("f(x, y, eps)", "M, N = x.shape\nuse(y)"))
    assert [p.is_known for p in found.required] == [True, False, False]
    assert not found.is_known


def test_ranks_that_nothing_tells_can_be_tried_one_after_the_other() -> None:
    found = all_guesses(code("f(x, y)", "M, N = x.shape\nuse(y)"))
    assert [len(one.required[1].value.dims) for one in found] == [2, 1, 3, 4]
    assert {one.required[0].value for one in found} == {Tensor("M", "N")}


def test_where_all_is_known_there_is_one_guess() -> None:
    assert len(all_guesses(code("f(x)", "M, N = x.shape"))) == 1


def test_an_object_is_not_guessed() -> None:
    found = guess(code("f(x, config)", "n = config.block_size"))
    assert (found.required[1].value, found.required[1].is_known) == (None, False)


def test_code_that_calls_itself_is_read_once() -> None:
    helper = "def _g(x, n):\n    return _g(x, n - 1) if n else f(x)\n\n\n"
    assert dims("f(x)", "M, N = x.shape\n_g(x, 3)", COPY + helper) == [("M", "N")]
