"""Each token's weighted sum of the rows that its experts made for it; a place of -1 is a choice that was dropped."""

import torch
import triton
import triton.language as tl

from tritonaudit import Case, Subject

BLOCK = 64


@triton.jit
def combine_kernel(
    rows_ptr,
    place_ptr,
    weight_ptr,
    out_ptr,
    choices,
    width,
    blocks,
    row_stride,
    col_stride,
    place_token_stride,
    place_choice_stride,
    weight_token_stride,
    weight_choice_stride,
    CHOICES: tl.constexpr,
    BLOCK: tl.constexpr,
):
    program = tl.program_id(0).to(tl.int64)
    token = program // blocks
    col = program % blocks * BLOCK + tl.arange(0, BLOCK)
    inside = col < width
    choice = tl.arange(0, CHOICES).to(tl.int64)
    place = tl.load(
        place_ptr + token * place_token_stride + choice * place_choice_stride, mask=choice < choices, other=-1
    ).to(tl.int64)
    kept = place >= 0
    weight = tl.load(weight_ptr + token * weight_token_stride + choice * weight_choice_stride, mask=kept, other=0.0).to(
        tl.float32
    )
    row = tl.load(
        rows_ptr + place[:, None] * row_stride + col[None, :] * col_stride,
        mask=kept[:, None] & inside[None, :],
        other=0.0,
    ).to(tl.float32)
    total = tl.sum(weight[:, None] * row, axis=0)
    tl.store(out_ptr + token * width + col, total.to(out_ptr.dtype.element_ty), mask=inside)


def combine_experts(rows: torch.Tensor, places: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """rows, (slots, width), float32 or float16, places, (tokens, choices), int32 or int64, from -1 to slots - 1,
    weights, (tokens, choices), float32: (tokens, width) in the dtype of rows."""
    if rows.ndim != 2 or places.ndim != 2 or weights.shape != places.shape:
        raise ValueError("rows has two dimensions, and so have places and weights, of one shape")
    if rows.dtype not in (torch.float32, torch.float16) or weights.dtype != torch.float32:
        raise ValueError("rows is float32 or float16, and weights is float32")
    if places.dtype not in (torch.int32, torch.int64):
        raise ValueError("places is int32 or int64")
    tokens, choices = places.shape
    if choices > 64:
        raise ValueError("a token has at most 64 choices")
    width = rows.shape[1]
    out = torch.zeros((tokens, width), dtype=rows.dtype, device=rows.device)
    blocks = triton.cdiv(width, BLOCK)
    programs = tokens * blocks
    if programs >= 2**31:
        raise ValueError("too many blocks for a grid")
    if programs and choices:
        combine_kernel[(programs,)](
            rows,
            places,
            weights,
            out,
            choices,
            width,
            blocks,
            *rows.stride(),
            *places.stride(),
            *weights.stride(),
            CHOICES=triton.next_power_of_2(choices),
            BLOCK=BLOCK,
        )
    return out


def reference(rows: torch.Tensor, places: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    tokens, choices = places.shape
    out = torch.zeros((tokens, rows.shape[1]), dtype=torch.float64, device=rows.device)
    for j in range(choices):
        kept = places[:, j] >= 0
        chosen = rows[places[kept, j].long()].double()
        out[kept] += weights[kept, j, None].double() * chosen
    return out.to(rows.dtype)


def inputs(case: Case) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """A fifth of the choices is dropped; with an odd seed the first row is NaN, and no token has it."""
    tokens, choices, slots, width = case["tokens"], case["choices"], case["slots"], case["width"]
    dtype = torch.float16 if case["half"] else torch.float32
    generator = torch.Generator().manual_seed(case.seed)
    rows = torch.randn((slots, width), generator=generator).to(dtype)
    places = torch.randint(0, slots, (tokens, choices), generator=generator)
    places[torch.rand((tokens, choices), generator=generator) < 0.2] = -1
    if case.seed % 2:
        rows[0] = float("nan")
        places[places == 0] = -1
    if case["long"] == 0:
        places = places.int()
    weights = torch.rand((tokens, choices), generator=generator)
    return rows.to(case.device), places.to(case.device), weights.to(case.device)


combined = Subject(
    combine_experts,
    reference=reference,
    inputs=inputs,
    name="combine_experts",
    sizes={
        "tokens": [16, 1, 5, 0],
        "choices": [4, 1, 3, 9, 0],
        "slots": [32, 1, 7],
        "width": [128, 1, 50, 130],
        "half": [0, 1],
        "long": [0, 1],
    },
    dtypes=["float32"],
)
