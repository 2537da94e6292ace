"""What is right: for each fixed kernel a launch, and what the tensors among its arguments hold afterwards.

The sizes leave a part of the last block empty, and what lies behind a tensor's data must not count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Case:
    """A launch on the CPU engine; `wanted` says what the arguments at these places hold afterwards."""

    grid: tuple[int, ...]
    arguments: tuple[Any, ...]
    wanted: Mapping[int, Tensor]
    constants: Mapping[str, Any] = field(default_factory=dict)
    tolerance: float = 1e-5


CASES: dict[tuple[str, str], Callable[[], Case]] = {}

Maker = Callable[[], Case]


def _case(*keys: str) -> Callable[[Maker], Maker]:
    """Registers a case for the kernels written as `CODE kernel`."""

    def register(maker: Maker) -> Maker:
        for key in keys:
            code, kernel = key.split()
            CASES[code, kernel] = maker
        return maker

    return register


def _random(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


# -- TAC102: sizes of blocks that are no power of two ------------------------------------------------------------------


@_case("TAC102 gelu_kernel")
def _gelu() -> Case:
    x = _random(200)
    return Case((4,), (x, torch.zeros(200), 200), {1: torch.nn.functional.gelu(x)})


@_case("TAC102 scale_kernel")
def _scale_by_default() -> Case:
    x = _random(1500)
    return Case((2,), (x, torch.zeros(1500), 3.0, 1500), {1: 3 * x})


# -- TAC103: constants that are none -----------------------------------------------------------------------------------


@_case("TAC103 softmax_kernel")
def _softmax_of_rows() -> Case:
    x = _random(3, 50)
    return Case((3,), (x, torch.zeros(3, 50), 50, 50), {1: x.softmax(1)}, {"BLOCK_SIZE": 64})


@_case("TAC103 scale_kernel")
def _scale() -> Case:
    x = _random(200)
    return Case((4,), (x, torch.zeros(200), 200, 3.0), {1: 3 * x}, {"BLOCK": 64})


@_case("TAC103 whole_row_kernel")
def _copied_rows() -> Case:
    x = _random(3, 32)
    return Case((3,), (x, torch.zeros(3, 32), 32), {1: x})


@_case("TAC103 matmul_kernel")
def _wide_product() -> Case:
    a, b = _random(16, 20), _random(20, 64, seed=1)
    wanted = torch.zeros(16, 64)
    wanted[:, :32] = (a @ b)[:, :32] + 0.5
    blocks = {"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 16}
    return Case((1,), (a, b, torch.zeros(16, 64), 20), {2: wanted}, blocks, 2e-2)


@_case("TAC103 unpack_kernel")
def _unpacked() -> Case:
    x = _random(64)
    wanted = 4 * x
    wanted[:16] = 2 * x.view(4, 16).sum(0)
    return Case((1,), (x, torch.zeros(64)), {1: wanted}, {"GROUPS": 4, "SIZE": 64})


@_case("TAC103 conv_kernel")
def _convolved() -> Case:
    x, w = _random(100), _random(3, seed=1)
    wanted = torch.stack([w[0] * x[i] + sum(w[j] * x[i - j] for j in (1, 2) if j <= i) for i in range(100)])
    return Case((4,), (x, w, torch.zeros(100), 100), {2: wanted}, {"WIDTH": 3, "BLOCK": 32})


@_case("TAC103 rotate_kernel")
def _rotated() -> Case:
    x, half = _random(128), 32
    wanted = torch.zeros(128)
    wanted[:half] = x[half : 2 * half]
    wanted[:16] = x[:16]
    return Case((1,), (x, torch.ones(128)), {1: wanted}, {"HEAD_DIM": 2 * half})


# -- TAC105, TAC106: names ---------------------------------------------------------------------------------------------


@_case("TAC105 copy_kernel")
def _copied() -> Case:
    x = _random(200)
    return Case((2,), (x, torch.zeros(200), 200), {1: x}, {"BLOCK": 32})


@_case("TAC105 softmax_kernel")
def _softmax_of_long_rows() -> Case:
    x = _random(3, 50)
    return Case((3,), (x, torch.zeros(3, 50), 50, 50), {1: x.softmax(1)}, {"BLOCK": 64})


@_case("TAC105 spelled_out_kernel", "TAC106 tanh_kernel")
def _tanh() -> Case:
    x = _random(200)
    return Case((4,), (x, torch.zeros(200), 200), {1: x.tanh()}, {"BLOCK": 64})


# -- TAC107: conditions of blocks --------------------------------------------------------------------------------------


@_case("TAC107 transpose_kernel")
def _transposed() -> Case:
    x = _random(20, 40)
    blocks = {"BLOCK_M": 16, "BLOCK_N": 32}
    return Case((2, 2), (x, torch.zeros(40, 20), 20, 40), {1: x.T}, blocks)


@_case("TAC107 window_kernel")
def _window() -> Case:
    n, window = 20, 5
    qk, place = _random(n, n), torch.arange(n)
    rows, cols = place[:, None], place[None, :]
    kept = ((cols > rows - window) & (cols <= rows)) | (cols == 0)
    wanted = torch.where(kept, qk, -float("inf"))
    return Case((1,), (qk, torch.zeros(n, n), n, window), {1: wanted}, {"BLOCK": 32, "CAUSAL": True})


@_case("TAC107 histogram_kernel")
def _middle() -> Case:
    x = _random(100)
    wanted = torch.where((x >= -1) & (x < 1), 1.0, 7.0)
    return Case((2,), (x, torch.full((100,), 7.0), -1.0, 1.0, 100), {1: wanted}, {"BLOCK": 64})


@_case("TAC107 scalar_kernel")
def _some_programs() -> Case:
    x = _random(8)
    wanted = torch.zeros(8)
    wanted[1:5] = x[1:5]
    return Case((8,), (x, torch.zeros(8), 5), {1: wanted})


@_case("TAC107 make_kernel.kernel")
def _limited() -> Case:
    x = _random(200)
    wanted = x.clone()
    wanted[:64] = 0
    return Case((4,), (x, 150), {0: wanted}, {"BLOCK": 64})


@_case("TAC107 tuned_kernel")
def _cleared() -> Case:
    x, keep = _random(200), torch.arange(200, dtype=torch.int32) % 3
    return Case((2,), (x, keep, 200), {0: torch.where(keep != 0, 0.0, x)})


# -- TAC112, TAC122: integers and floats -------------------------------------------------------------------------------


@_case("TAC112 pairs_kernel")
def _pairs() -> Case:
    x = _random(8)
    return Case((8,), (x, torch.zeros(8)), {1: x[torch.arange(8) // 2]})


@_case("TAC122 mean_kernel")
def _mean() -> Case:
    x = _random(50)
    return Case((1,), (x, torch.zeros(1), 50), {1: x.mean()[None]})


@_case("TAC122 bounds_kernel")
def _first_half() -> Case:
    x = _random(8)
    wanted = torch.zeros(8)
    wanted[:4] = x[:4]
    return Case((8,), (x, torch.zeros(8)), {1: wanted})


@_case("TAC124 blocks_kernel", "TAC130 blocks_kernel")
def _sum_of_blocks() -> Case:
    x = _random(100)
    return Case((1,), (x, torch.zeros(1), 100), {1: x.sum()[None]}, {"BLOCK": 32}, tolerance=1e-4)


# -- TAC132: the product of the row and the stride does not fit into 32 bits, and what it gives is an address ----------


@_case("TAC132 row_kernel")
def _far_rows() -> Case:
    stride = 1 << 30
    x = torch.empty(4 * stride, device="meta")
    return Case((4,), (x, torch.empty(4 * stride, device="meta"), stride), {})


@_case("TAC132 next_row_kernel")
def _next_rows() -> Case:
    x = _random(64)
    wanted = torch.zeros(64)
    wanted[16::16] = x[16::16]
    return Case((3,), (x, torch.zeros(64), 16), {1: wanted})


# -- TAC202: autotuners ------------------------------------------------------------------------------------------------


@_case("TAC202 upside_down_kernel", "TAC202 long_kernel", "TAC202 warps_kernel")
def _filled() -> Case:
    return Case((2,), (torch.zeros(100), 90), {0: torch.cat([torch.ones(90), torch.zeros(10)])})


# -- TAM101: what has no mask ------------------------------------------------------------------------------------------


@_case("TAM101 add_kernel")
def _added() -> Case:
    x, y = _random(100), _random(100, seed=1)
    return Case((2,), (x, y, torch.zeros(100), 100), {2: x + y}, {"BLOCK_SIZE": 64})


@_case("TAM101 bias_gelu_kernel")
def _bias_gelu() -> Case:
    x, bias = _random(20, 20), _random(20, seed=1)
    wanted = torch.nn.functional.gelu(x + bias)
    blocks = {"BLOCK_M": 16, "BLOCK_N": 32}
    return Case((2, 1), (x, bias, torch.zeros(20, 20), 20, 20, 20), {2: wanted}, blocks)


@_case("TAM101 rms_norm_kernel")
def _rms_norm_with_weight() -> Case:
    x, weight = _random(3, 50), _random(50, seed=1)
    wanted = x * torch.rsqrt(x.square().mean(1, keepdim=True) + 1e-5) * weight
    return Case((3,), (x, weight, torch.zeros(3, 50), 50, 50, 1e-5), {2: wanted}, {"BLOCK": 32})


@_case("TAM101 relu_kernel", "TAM101 relu")
def _relu() -> Case:
    x = _random(100)
    return Case((2,), (x, torch.zeros(100), 100), {1: x.relu()}, {"BLOCK_SIZE": 64})


@_case("TAM101 scatter_add_kernel")
def _scattered() -> Case:
    x, out = _random(100), _random(100, seed=1)
    return Case((2,), (x, out, 100), {1: x + out}, {"BLOCK_SIZE": 64})


@_case("TAM101 copy_rows_kernel")
def _copied_blocks() -> Case:
    x = _random(3, 50)
    return Case((3, 2), (x, torch.zeros(3, 50), 50, 50), {1: x}, {"BLOCK_N": 32})


@_case("TAM101 Dropout.kernel")
def _no_dropout() -> Case:
    x = _random(100)
    return Case((2,), (x, torch.zeros(100), 100, 0.0, 7), {1: x}, {"BLOCK_SIZE": 64})


@_case("TAM101 varlen_scale_kernel")
def _ragged() -> Case:
    x = _random(50, 16)
    ends = torch.tensor([0, 7, 50], dtype=torch.int32)
    return Case((2,), (x, torch.zeros(50, 16), ends, 3.0), {1: 3 * x}, {"D": 16, "BLOCK_T": 16})


# -- TAN101: sums in 16 bits, of terms that are nothing beside the others in 16 bits, and are not in 32 ----------------


def _cancelling(rows: int, terms: int) -> tuple[Tensor, Tensor]:
    """Of 32 products 16 add up to 2049, where fp16 counts by twos, and the others to -2048."""
    a, b = torch.zeros(2, rows, terms, dtype=torch.float16)
    a[:, ::32], a[:, 16::32] = 64, -64
    b[:, ::16] = 32
    a[:, 1::32] = b[:, 1::32] = 1
    return a, b


@_case("TAN101 matmul_kernel")
def _product() -> Case:
    k = 512
    a, b = _cancelling(16, k)
    b = b.T.contiguous()
    wanted = (a.double() @ b.double()).half()
    blocks = {"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 16}
    arguments = (a, b, torch.zeros(16, 16, dtype=torch.float16), 16, 16, k, k, 1, 16, 1, 16, 1)
    return Case((1, 1), arguments, {2: wanted}, blocks, 1e-3)


@_case("TAN101 rms_norm_kernel")
def _rms_norm() -> Case:
    n = 3200
    x = torch.ones(2, n, dtype=torch.float16)
    x[:, :16] = 64
    wanted = (x.double() * torch.rsqrt(x.double().square().mean(1, keepdim=True))).half()
    return Case((2,), (x, torch.zeros_like(x), n, n, 1e-5), {1: wanted}, {"BLOCK": 16}, 5e-3)


@_case("TAN101 weight_grad_kernel")
def _weight_gradient() -> Case:
    x, dy = (one.T.contiguous() for one in _cancelling(16, 512))
    wanted = (dy.double().T @ x.double()).half()
    arguments = (x, dy, torch.zeros(16, 16, dtype=torch.float16), 512)
    return Case((1,), arguments, {2: wanted}, {"BLOCK": 16, "D": 16}, 1e-3)


@_case("TAN101 layer_norm_kernel")
def _sums_of_layer_norm() -> Case:
    n = 1000
    x = torch.cat([torch.full((1, n // 2), 3.0), torch.full((1, n // 2), 1.0)], dim=1)
    wanted = (x - 2).cumsum(1) * (2 + 1 + 0)
    return Case((1,), (x, torch.zeros(1, n), n, n, 0.0), {1: wanted}, {"BLOCK": 1024}, 1e-2)


# -- TAN102, TAN105: exponentials and what fills a block, in rows where exp(x - 0) is 0 --------------------------------


@_case("TAN102 chunk_scan_kernel")
def _decays() -> Case:
    decay, x = -torch.arange(32.0) * 10, _random(32)
    pairs = (decay[:, None] - decay[None, :]).clamp(max=0).exp()
    return Case((1,), (decay, x, torch.zeros(32), 32), {2: (pairs * x[None, :]).sum(1)}, {"CHUNK": 32})


@_case("TAN105 softmax_kernel")
def _softmax() -> Case:
    x = _random(3, 50) - 200
    return Case((3,), (x, torch.zeros(3, 50), 50, 50), {1: x.softmax(1)}, {"BLOCK": 64})


@_case("TAN105 logsumexp_kernel")
def _logsumexp() -> Case:
    x = _random(3, 50) - 200
    return Case((3,), (x, torch.zeros(3), 50, 50), {1: x.logsumexp(1)}, {"BLOCK": 64})


@_case("TAN105 layer_norm_kernel")
def _layer_norm() -> Case:
    x, w, b = _random(3, 50) + 5, _random(50, seed=1), _random(50, seed=2)
    wanted = torch.nn.functional.layer_norm(x, (50,), w, b)
    return Case((3,), (x, w, b, torch.zeros(3, 50), 50, 50, 1e-5), {3: wanted}, {"BLOCK": 64}, 1e-4)


@_case("TAN105 sample_kernel")
def _sampled() -> Case:
    logits, noise = _random(3, 50) - 200, _random(3, 50, seed=1) - 200
    noise[:2] = logits[:2]
    best = logits.argmax(1)
    wanted = torch.where(best == noise.argmax(1), best, -1)
    return Case((3,), (logits, noise, torch.zeros(3, dtype=torch.int64), 50, 50), {2: wanted}, {"BLOCK": 64})


@_case("TAN105 row_max_kernel")
def _extremes() -> Case:
    x = _random(2, 50)
    x[0] -= 200
    x[1] += 200
    arguments = (x, torch.zeros(2), torch.zeros(2), 50, 50)
    return Case((2,), arguments, {1: x.amax(1), 2: x.amin(1)}, {"BLOCK": 64})


@_case("TAN105 entropy_kernel")
def _entropy() -> Case:
    n = 50
    both = torch.cat([_random(1, n).softmax(1), _random(1, n, seed=1) - 200], dim=1)
    p, logits = both[:, :n], both[:, n:]
    wanted = p.log().mean(1) + (logits.softmax(1) * p).sum(1)
    return Case((1,), (both, torch.zeros(1), 2 * n, n), {1: wanted}, {"BLOCK": 64}, 1e-4)


@_case("TAN105 zeros_kernel")
def _counted() -> Case:
    x = _random(100)
    return Case((2,), (x, torch.zeros(1), 100), {1: (x + 1).sum()[None]}, {"BLOCK": 64}, 1e-4)
