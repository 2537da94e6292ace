"""Sums of rows by as many programs as the GPU has multiprocessors, each of which takes row after row."""

import functools

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def rows_kernel(x_ptr, out_ptr, rows, cols, IS_RESET: tl.constexpr, BLOCK: tl.constexpr):
    total = tl.zeros([BLOCK], tl.float32)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        if IS_RESET:
            total = tl.zeros([BLOCK], tl.float32)
        for start in range(0, cols, BLOCK):
            lanes = start + tl.arange(0, BLOCK)
            total += tl.load(x_ptr + row * cols + lanes, mask=lanes < cols, other=0.0)
        tl.store(out_ptr + row, tl.sum(total, axis=0))


def sums(x, programs, is_reset):
    x = x.contiguous()
    out = torch.empty(x.shape[0], dtype=x.dtype, device=x.device)
    rows_kernel[(programs,)](x, out, x.shape[0], x.shape[1], IS_RESET=is_reset, BLOCK=64)
    return out


def by_torch(x):
    return sums(x, torch.cuda.get_device_properties(x.device).multi_processor_count, True)


def by_driver(x):
    utils = triton.runtime.driver.active.utils
    return sums(x, utils.get_device_properties(0)["multiprocessor_count"], False)


def never_reset(x):
    return sums(x, min(x.shape[0], torch.cuda.get_device_properties(x.device).multi_processor_count), False)


def quarter(x):
    return sums(x, torch.cuda.get_device_properties(x.device).multi_processor_count // 4, True)


@functools.cache
def known_count():
    return torch.cuda.get_device_properties(0).multi_processor_count


def kept(x):
    return sums(x, known_count(), False)


def unasked(x):
    return sums(x, 7, True)


shape = {"inputs": [Tensor("rows", "cols")], "sizes": {"rows": [37], "cols": [100]}, "dtypes": ["float32"]}
by_torch_subject = Subject(by_torch, reference=lambda x: x.sum(1), **shape)
by_driver_subject = Subject(by_driver, reference=lambda x: x.sum(1), **shape)
never_reset_subject = Subject(never_reset, reference=lambda x: x.sum(1), **shape)
quarter_subject = Subject(quarter, reference=lambda x: x.sum(1), **shape)
kept_subject = Subject(kept, reference=lambda x: x.sum(1), **shape)
unasked_subject = Subject(unasked, reference=lambda x: x.sum(1), **shape)
