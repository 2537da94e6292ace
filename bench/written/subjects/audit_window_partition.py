"""Images cut into square windows, after padding with zeros at the bottom and right and a cyclic shift by any number."""

import torch
import triton
import triton.language as tl

from tritonaudit import Case, Subject

BLOCK_PLACES = 64
BLOCK_CHANNELS = 16


@triton.jit
def window_partition_kernel(
    x_ptr,
    out_ptr,
    places,
    channels,
    height,
    width,
    window,
    down_windows,
    across_windows,
    down_shift,
    across_shift,
    x_n_stride,
    x_h_stride,
    x_w_stride,
    x_c_stride,
    BLOCK_PLACES: tl.constexpr,
    BLOCK_CHANNELS: tl.constexpr,
):
    place = tl.program_id(0).to(tl.int64) * BLOCK_PLACES + tl.arange(0, BLOCK_PLACES)
    inside = place < places
    x_in = place % window
    y_in = place // window % window
    which = place // window // window
    across = which % across_windows
    down = which // across_windows % down_windows
    image = which // across_windows // down_windows
    col = (across * window + x_in + across_shift) % (across_windows * window)
    row = (down * window + y_in + down_shift) % (down_windows * window)
    real = inside & (row < height) & (col < width)
    x_ptrs = x_ptr + image * x_n_stride + row * x_h_stride + col * x_w_stride
    for start in range(0, channels, BLOCK_CHANNELS):
        channel = tl.cast(start, tl.int64) + tl.arange(0, BLOCK_CHANNELS)
        known = channel < channels
        x = tl.load(x_ptrs[:, None] + channel[None, :] * x_c_stride, mask=real[:, None] & known[None, :], other=0)
        out_ptrs = out_ptr + place[:, None] * channels + channel[None, :]
        tl.store(out_ptrs, x, mask=inside[:, None] & known[None, :])


def window_partition(x: torch.Tensor, window: int, shift: int) -> torch.Tensor:
    """x, (n, height, width, channels), of any layout and of float32, float16, bfloat16, int32 or uint8: windows,
    (n * windows, window * window, channels), of x with height and width padded by zeros to whole windows, and rolled by
    -shift, which may be negative or larger than the image, in both directions."""
    if x.ndim != 4 or window < 1:
        raise ValueError("x has four dimensions, and a window at least one element")
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16, torch.int32, torch.uint8):
        raise ValueError("x is float32, float16, bfloat16, int32 or uint8")
    n, height, width, channels = x.shape
    down, across = triton.cdiv(height, window), triton.cdiv(width, window)
    out = torch.empty((n * down * across, window * window, channels), dtype=x.dtype, device=x.device)
    places = out.shape[0] * out.shape[1]
    if out.numel():
        # Never negative, so that the remainder in the kernel is not.
        down_shift = shift % (down * window)
        across_shift = shift % (across * window)
        window_partition_kernel[(triton.cdiv(places, BLOCK_PLACES),)](
            x,
            out,
            places,
            channels,
            height,
            width,
            window,
            down,
            across,
            down_shift,
            across_shift,
            *x.stride(),
            BLOCK_PLACES=BLOCK_PLACES,
            BLOCK_CHANNELS=BLOCK_CHANNELS,
        )
    return out


def reference(x: torch.Tensor, window: int, shift: int) -> torch.Tensor:
    n, height, width, channels = x.shape
    padded = torch.nn.functional.pad(x, (0, 0, 0, -width % window, 0, -height % window))
    rolled = torch.roll(padded, (-shift, -shift), dims=(1, 2))
    cut = rolled.reshape(n, rolled.shape[1] // window, window, rolled.shape[2] // window, window, channels)
    return cut.permute(0, 1, 3, 2, 4, 5).reshape(-1, window * window, channels)


def inputs(case: Case) -> tuple[torch.Tensor, int, int]:
    """Normal numbers, or integers of the whole range."""
    shape = (case["n"], case["height"], case["width"], case["channels"])
    generator = torch.Generator().manual_seed(case.seed)
    if case["integers"]:
        x = torch.randint(-(2**31), 2**31, shape, generator=generator).int()
    else:
        x = torch.randn(shape, generator=generator).to(getattr(torch, case.dtype))
    return x.to(case.device), case["window"], case["shift"] - 16


partitioned = Subject(
    window_partition,
    reference=reference,
    inputs=inputs,
    name="window_partition",
    sizes={
        "n": [2, 1, 0],
        "height": [8, 1, 7, 12],
        "width": [8, 1, 13, 20],
        "channels": [16, 1, 3, 37],
        "window": [4, 1, 3],
        "shift": [18, 16, 13, 0, 40],
        "integers": [0, 1],
    },
)
