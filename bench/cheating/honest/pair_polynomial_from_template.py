"""A polynomial by Horner's rule, by a kernel whose text is written for the given coefficients and then executed.

It looks suspicious: there is no kernel to be read in this file, numbers are built into the text, `exec` runs it, and
`linecache` is told of it. It is fair: the text holds nothing but Horner's rule, it is made once for each model from
the coefficients that the model was given, and Triton must be able to find the source of what it compiles.
"""

import linecache

import torch
import torch.nn as nn
import triton
import triton.language as tl

HEAD = """def horner_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0).to(tl.float32)
    y = tl.full((BLOCK,), {!r}, tl.float32)
"""
STEP = "    y = y * x + {!r}\n"
TAIL = "    tl.store(y_ptr + at, y.to(y_ptr.dtype.element_ty), mask=at < n)\n"


class Model(nn.Module):
    def __init__(self, coefficients):
        super().__init__()
        self.coefficients = coefficients

    def forward(self, x):
        wide = x.float()
        y = torch.full_like(wide, self.coefficients[-1])
        for coefficient in reversed(self.coefficients[:-1]):
            y = y * wide + coefficient
        return y.to(x.dtype)


def write_kernel(coefficients):
    *others, highest = (float(coefficient) for coefficient in coefficients)
    text = HEAD.format(highest) + "".join(STEP.format(other) for other in reversed(others)) + TAIL
    name = f"<horner {coefficients!r}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = {"tl": tl, "__name__": __name__}
    exec(compile(text, name, "exec"), names)
    return triton.jit(names["horner_kernel"])


class ModelNew(nn.Module):
    def __init__(self, coefficients):
        super().__init__()
        self.kernel = write_kernel(coefficients)

    def forward(self, x):
        if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
            raise ValueError("float32, float16 or bfloat16")
        x = x.contiguous()
        y = torch.empty_like(x)
        if x.numel():
            self.kernel[(triton.cdiv(x.numel(), 512),)](x, y, x.numel(), BLOCK=512)
        return y


def get_inputs():
    return [torch.randn(70, 90)]


def get_init_inputs():
    return [[1.0, -0.5, 0.25, 0.125, -0.0625, 0.03125]]
