"""Means of the features of points that lie in the same voxel: sums by atomics, and a second launch to divide them."""

import torch
import triton
import triton.language as tl

from tritonaudit import Case, Subject

BLOCK_POINTS = 32
BLOCK_FEATURES = 16
BLOCK = 256


@triton.jit
def scatter_kernel(
    feature_ptr,
    voxel_ptr,
    sum_ptr,
    count_ptr,
    points,
    features,
    voxels,
    feature_point_stride,
    feature_stride,
    voxel_stride,
    BLOCK_POINTS: tl.constexpr,
    BLOCK_FEATURES: tl.constexpr,
):
    point = tl.program_id(0).to(tl.int64) * BLOCK_POINTS + tl.arange(0, BLOCK_POINTS)
    feature = tl.program_id(1).to(tl.int64) * BLOCK_FEATURES + tl.arange(0, BLOCK_FEATURES)
    voxel = tl.load(voxel_ptr + point * voxel_stride, mask=point < points, other=-1).to(tl.int64)
    known = (voxel >= 0) & (voxel < voxels)
    mask = known[:, None] & (feature < features)[None, :]
    value = tl.load(
        feature_ptr + point[:, None] * feature_point_stride + feature[None, :] * feature_stride, mask=mask, other=0.0
    )
    tl.atomic_add(sum_ptr + voxel[:, None] * features + feature[None, :], value.to(tl.float32), mask=mask)
    if tl.program_id(1) == 0:
        one = tl.full((BLOCK_POINTS,), 1, tl.int32)
        tl.atomic_add(count_ptr + voxel, one, mask=known)


@triton.jit
def divide_kernel(sum_ptr, count_ptr, mean_ptr, n, features, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    total = tl.load(sum_ptr + at, mask=mask, other=0.0)
    count = tl.load(count_ptr + at // features, mask=mask, other=1)
    mean = total / tl.maximum(count, 1).to(tl.float32)
    tl.store(mean_ptr + at, mean.to(mean_ptr.dtype.element_ty), mask=mask)


def voxel_mean(features: torch.Tensor, voxel: torch.Tensor, voxels: int) -> tuple[torch.Tensor, torch.Tensor]:
    """features, (points, features), float32 or float16, and voxel, (points), int32 or int64, where a number that is
    negative or not below voxels means none: the means, (voxels, features), in the dtype of features, 0 where
    there is no point, and the points of each voxel, (voxels), int32."""
    if features.ndim != 2 or voxel.shape != features.shape[:1] or voxels < 0:
        raise ValueError("shapes do not fit")
    if features.dtype not in (torch.float32, torch.float16):
        raise ValueError("features are float32 or float16")
    if voxel.dtype not in (torch.int32, torch.int64):
        raise ValueError("voxel is int32 or int64")
    points, width = features.shape
    sums = torch.zeros((voxels, width), dtype=torch.float32, device=features.device)
    counts = torch.zeros((voxels,), dtype=torch.int32, device=features.device)
    means = torch.empty((voxels, width), dtype=features.dtype, device=features.device)
    if points and voxels:
        # Without features, one column of programs counts.
        grid = (triton.cdiv(points, BLOCK_POINTS), max(triton.cdiv(width, BLOCK_FEATURES), 1))
        scatter_kernel[grid](
            features,
            voxel,
            sums,
            counts,
            points,
            width,
            voxels,
            *features.stride(),
            voxel.stride(0),
            BLOCK_POINTS=BLOCK_POINTS,
            BLOCK_FEATURES=BLOCK_FEATURES,
        )
    n = means.numel()
    if n:
        divide_kernel[(triton.cdiv(n, BLOCK),)](sums, counts, means, n, width, BLOCK=BLOCK)
    return means, counts


def reference(features: torch.Tensor, voxel: torch.Tensor, voxels: int) -> tuple[torch.Tensor, torch.Tensor]:
    known = (voxel >= 0) & (voxel < voxels)
    index = voxel[known].long()
    sums = torch.zeros((voxels, features.shape[1]), dtype=torch.float64, device=features.device)
    sums.index_add_(0, index, features[known].double())
    counts = torch.bincount(index, minlength=voxels)
    return (sums / counts.clamp(min=1)[:, None]).to(features.dtype), counts.int()


def inputs(case: Case) -> tuple[torch.Tensor, torch.Tensor, int]:
    """Normal features around 1; with an odd seed, some points lie in no voxel, on either side."""
    points, features, voxels = case["points"], case["features"], case["voxels"]
    generator = torch.Generator().manual_seed(case.seed)
    values = 1 + torch.randn((points, features), generator=generator)
    outside = case.seed % 2 * 3
    low, high = -outside, max(voxels + outside, 1)
    voxel = torch.randint(low, high, (points,), generator=generator, dtype=torch.int64 if case["long"] else torch.int32)
    return values.to(getattr(torch, case.dtype)).to(case.device), voxel.to(case.device), voxels


voxelised = Subject(
    voxel_mean,
    reference=reference,
    inputs=inputs,
    name="voxel_mean",
    sizes={
        "points": [64, 1, 45, 200, 0],
        "features": [16, 1, 3, 37, 0],
        "voxels": [8, 1, 50, 300, 0],
        "long": [0, 1],
    },
    dtypes=["float32", "float16"],
)
