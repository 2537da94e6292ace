"""What is measured: each with three sizes, whose largest is far larger than the caches."""

import torch
import torch.nn.functional as F

from bench.mutation.subjects.layer_norm_backward.audit_layer_norm_backward import reference as norm_gradients
from bench.mutation.subjects.layer_norm_backward.layer_norm_backward import layer_norm_backward
from tritonaudit import Subject, Tensor

from .products import attention, matmul
from .rows import (
    add,
    copy,
    cross_entropy,
    embedding,
    first_of_eight,
    layer_norm,
    rms_norm,
    softmax,
    spilling_softmax,
)

_SIZES = ("small", "medium", "large")
_VECTOR = {"small": {"size": 1 << 16}, "medium": {"size": 1 << 22}, "large": {"size": 1 << 27}}
_HALF = ["float16"]


def _rows(columns):
    return {
        name: {"rows": rows, "columns": columns} for name, rows in (("small", 64), ("medium", 2048), ("large", 32768))
    }


copy_subject = Subject(
    copy, reference=torch.clone, inputs=[Tensor("size")], dtypes=["float32"], timed=_VECTOR, name="copy"
)
add_subject = Subject(
    add, reference=torch.add, inputs=[Tensor("size"), Tensor("size")], dtypes=["float32"], timed=_VECTOR, name="add"
)


def _softmax(columns):
    return Subject(
        softmax,
        reference=lambda x: torch.softmax(x, -1),
        inputs=[Tensor("rows", "columns")],
        dtypes=_HALF,
        timed=_rows(columns),
        name=f"softmax_{columns}",
    )


softmax_256, softmax_1000, softmax_8192 = map(_softmax, (256, 1000, 8192))
spilling = Subject(
    spilling_softmax,
    reference=lambda x: torch.softmax(x, -1),
    inputs=[Tensor("rows", "columns")],
    dtypes=_HALF,
    timed=_rows(8192),
    name="spilling_softmax",
)
norm = Subject(
    layer_norm,
    reference=lambda x, weight, bias: F.layer_norm(x, weight.shape, weight, bias),
    inputs=[Tensor("rows", "columns"), Tensor("columns"), Tensor("columns")],
    dtypes=_HALF,
    timed=_rows(4096),
    name="layer_norm",
)
norm_backward = Subject(
    layer_norm_backward,
    reference=norm_gradients,
    inputs=[Tensor("rows", "columns"), Tensor("rows", "columns"), Tensor("columns")],
    dtypes=_HALF,
    timed=_rows(4096),
    name="layer_norm_backward",
)
rms = Subject(
    rms_norm,
    reference=lambda x, weight: F.rms_norm(x, weight.shape, weight, 1e-6),
    inputs=[Tensor("rows", "columns"), Tensor("columns")],
    dtypes=["bfloat16"],
    timed=_rows(4096),
    name="rms_norm",
)
loss = Subject(
    cross_entropy,
    reference=lambda x, target: F.cross_entropy(x.float(), target, reduction="none"),
    inputs=[Tensor("rows", "columns"), Tensor("rows", dtype="int64", high="columns")],
    dtypes=["bfloat16"],
    timed={
        name: {"rows": rows, "columns": 32000} for name, rows in (("small", 64), ("medium", 1024), ("large", 16384))
    },
    name="cross_entropy",
)
gather = Subject(
    embedding,
    reference=lambda index, table: F.embedding(index, table),
    inputs=[Tensor("tokens", dtype="int64", high="words"), Tensor("words", "columns")],
    dtypes=_HALF,
    timed={
        name: {"tokens": tokens, "words": 32000, "columns": 4096}
        for name, tokens in (("small", 256), ("medium", 4096), ("large", 65536))
    },
    bytes=lambda case: case["tokens"] * (8 + 2 * 2 * case["columns"]),
    name="embedding",
)
strided = Subject(
    first_of_eight,
    reference=lambda x: x[::8] * 2,
    inputs=[Tensor("8 * size")],
    dtypes=["float32"],
    timed={"small": {"size": 1 << 13}, "medium": {"size": 1 << 19}, "large": {"size": 1 << 24}},
    bytes=lambda case: 2 * 4 * case["size"],
    name="strided",
)
_SQUARES = {
    name: {"m": size, "n": size, "k": size} for name, size in (("small", 512), ("medium", 2048), ("large", 8192))
}
product = Subject(
    matmul,
    reference=torch.matmul,
    inputs=[Tensor("m", "k"), Tensor("k", "n")],
    dtypes=["float16", "bfloat16"],
    timed=_SQUARES,
    name="matmul",
)


def _scaled(a, b):
    if a.dtype == torch.float8_e4m3fn:
        unit = torch.ones((), device=a.device)
        return torch._scaled_mm(a, b, scale_a=unit, scale_b=unit, out_dtype=torch.bfloat16)
    return a @ b


def _of_8_bits(case):
    numbers = [torch.randn(case["n"], case["k"], device=case.device).to(torch.float8_e4m3fn) for _ in range(2)]
    return numbers[0], numbers[1].t()


product_of_8_bits = Subject(
    matmul,
    reference=_scaled,
    inputs=_of_8_bits,
    dtypes=["float8_e4m3fn"],
    sizes={"n": [128], "k": [256]},
    timed={name: {"n": sizes["n"], "k": sizes["k"]} for name, sizes in _SQUARES.items()},
    name="matmul_fp8",
)
heads = Subject(
    attention,
    reference=F.scaled_dot_product_attention,
    inputs=[Tensor("batch", "heads", "tokens", "head_dim")] * 3,
    sizes={"head_dim": [16, 64, 128]},
    dtypes=_HALF,
    timed={
        name: {"batch": 4, "heads": 16, "tokens": tokens, "head_dim": 64}
        for name, tokens in (("small", 256), ("medium", 1024), ("large", 8192))
    },
    name="attention",
)
itself = Subject(
    torch.matmul,
    reference=torch.matmul,
    inputs=[Tensor("m", "k"), Tensor("k", "n")],
    dtypes=_HALF,
    timed=_SQUARES,
    name="torch_matmul",
)
