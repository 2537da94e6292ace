"""A 2-D convolution as a matrix product: a row for each place in the output, and along K channels and taps."""

import torch
import triton
import triton.language as tl

from tritonaudit import Case, Subject

BLOCK_M, BLOCK_N, BLOCK_K = 32, 16, 32


@triton.jit
def conv2d_kernel(
    x_ptr,
    w_ptr,
    bias_ptr,
    y_ptr,
    places,
    out_channels,
    inner,
    height,
    width,
    out_height,
    out_width,
    kernel_height,
    kernel_width,
    stride,
    padding,
    dilation,
    x_n_stride,
    x_c_stride,
    x_h_stride,
    x_w_stride,
    w_o_stride,
    w_c_stride,
    w_h_stride,
    w_w_stride,
    bias_stride,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    place = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    channel = tl.program_id(1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    place_mask = place < places
    channel_mask = channel < out_channels
    out_x = place % out_width
    out_y = place // out_width % out_height
    image = place // out_width // out_height
    left = out_x * stride - padding
    top = out_y * stride - padding

    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, inner, BLOCK_K):
        k = tl.cast(start, tl.int64) + tl.arange(0, BLOCK_K)
        k_mask = k < inner
        tap_x = k % kernel_width
        tap_y = k // kernel_width % kernel_height
        c = k // kernel_width // kernel_height
        in_x = left[:, None] + (tap_x * dilation)[None, :]
        in_y = top[:, None] + (tap_y * dilation)[None, :]
        x_mask = place_mask[:, None] & k_mask[None, :]
        x_mask &= (in_x >= 0) & (in_x < width) & (in_y >= 0) & (in_y < height)
        x_ptrs = x_ptr + image[:, None] * x_n_stride + c[None, :] * x_c_stride
        x = tl.load(x_ptrs + in_y * x_h_stride + in_x * x_w_stride, mask=x_mask, other=0.0)
        w_at = c * w_c_stride + tap_y * w_h_stride + tap_x * w_w_stride
        w = tl.load(
            w_ptr + channel[None, :] * w_o_stride + w_at[:, None],
            mask=channel_mask[None, :] & k_mask[:, None],
            other=0.0,
        )
        acc = tl.dot(x, w, acc, input_precision="ieee")

    acc += tl.load(bias_ptr + channel * bias_stride, mask=channel_mask, other=0.0).to(tl.float32)[None, :]
    y_ptrs = y_ptr + (image[:, None] * out_channels + channel[None, :]) * out_height * out_width
    y_ptrs += (out_y * out_width + out_x)[:, None]
    tl.store(y_ptrs, acc.to(y_ptr.dtype.element_ty), mask=place_mask[:, None] & channel_mask[None, :])


def extent(size: int, taps: int, stride: int, padding: int, dilation: int) -> int:
    return (size + 2 * padding - dilation * (taps - 1) - 1) // stride + 1


def conv2d(
    x: torch.Tensor, w: torch.Tensor, bias: torch.Tensor, stride: int, padding: int, dilation: int
) -> torch.Tensor:
    """x, (n, c, h, w), w, (o, c, kh, kw), and bias, (o), float32 or float16, in any layout: as torch's conv2d with the
    same stride, padding and dilation both ways, summed in float32; the result is contiguous."""
    if x.ndim != 4 or w.ndim != 4 or bias.shape != w.shape[:1] or x.shape[1] != w.shape[1]:
        raise ValueError("shapes do not fit")
    if x.dtype not in (torch.float32, torch.float16) or not x.dtype == w.dtype == bias.dtype:
        raise ValueError("all are float32, or all float16")
    if stride < 1 or padding < 0 or dilation < 1:
        raise ValueError("stride and dilation are positive, and padding is not negative")
    n, c, h, width = x.shape
    o, _, kh, kw = w.shape
    oh = extent(h, kh, stride, padding, dilation)
    ow = extent(width, kw, stride, padding, dilation)
    if oh < 1 or ow < 1:
        raise ValueError("the image is smaller than the kernel")
    y = torch.empty((n, o, oh, ow), dtype=x.dtype, device=x.device)
    places = n * oh * ow
    if y.numel():
        grid = (triton.cdiv(places, BLOCK_M), triton.cdiv(o, BLOCK_N))
        conv2d_kernel[grid](
            x,
            w,
            bias,
            y,
            places,
            o,
            c * kh * kw,
            h,
            width,
            oh,
            ow,
            kh,
            kw,
            stride,
            padding,
            dilation,
            *x.stride(),
            *w.stride(),
            bias.stride(0),
            BLOCK_M=BLOCK_M,
            BLOCK_N=BLOCK_N,
            BLOCK_K=BLOCK_K,
        )
    return y


def reference(
    x: torch.Tensor, w: torch.Tensor, bias: torch.Tensor, stride: int, padding: int, dilation: int
) -> torch.Tensor:
    y = torch.nn.functional.conv2d(x.double(), w.double(), bias.double(), stride, padding, dilation)
    return y.to(x.dtype)


def inputs(case: Case) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, int, int, int]:
    """Normal numbers, weights scaled by their number, and images a little larger than the taps reach."""
    n, c, o, taps = case["n"], case["c"], case["o"], case["taps"]
    dilation = case["dilation"]
    reach = dilation * (taps - 1)
    generator = torch.Generator().manual_seed(case.seed)
    dtype = getattr(torch, case.dtype)
    x = torch.randn((n, c, reach + case["down"], reach + case["across"]), generator=generator)
    w = torch.randn((o, c, taps, taps), generator=generator) / max(c * taps * taps, 1) ** 0.5
    bias = torch.randn((o,), generator=generator)
    tensors = tuple(tensor.to(dtype).to(case.device) for tensor in (x, w, bias))
    return *tensors, case["stride"], case["padding"], dilation


convolved = Subject(
    conv2d,
    reference=reference,
    inputs=inputs,
    name="conv2d_gemm",
    sizes={
        "n": [2, 1, 0],
        "c": [8, 1, 5],
        "o": [16, 1, 19],
        "down": [8, 5, 11],
        "across": [8, 1, 13],
        "taps": [3, 1, 2],
        "stride": [1, 2, 3],
        "padding": [0, 1, 2],
        "dilation": [1, 2],
    },
    dtypes=["float32", "float16"],
)
