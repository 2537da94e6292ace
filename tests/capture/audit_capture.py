"""Wrappers that ask of the GPU what wrappers ask, as a user would write them."""

import torch
import triton
import triton.language as tl

from tritonaudit import Case, Size, Subject, Tensor

IS_HOPPER = torch.version.hip is None and torch.cuda.get_device_capability()[0] == 9


@triton.jit
def scale_kernel(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * factor, mask=mask)


def scale(x, factor=2.0):
    out = torch.empty_like(x)
    grid = lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)  # noqa: E731
    scale_kernel[grid](x, out, x.numel(), factor, BLOCK=1024)
    return out


def hard_coded(x):
    assert x.is_cuda
    assert x.device.type == "cuda"
    out = torch.zeros(x.shape, device="cuda", dtype=x.dtype)
    index = torch.arange(4).cuda().to("cuda:0", non_blocking=True)
    assert index.device == out.device
    programs = torch.cuda.get_device_properties(x.device).multi_processor_count
    with torch.cuda.device(x.device):
        scale_kernel[(programs,)](x.contiguous(), out, x.numel(), 2.0, BLOCK=512 if IS_HOPPER else 256)
    torch.cuda.synchronize()
    return out.to(torch.float16)


def benchmarks_itself(x):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.reset_peak_memory_stats()
    start.record()
    tuned(x)
    end.record(torch.cuda.current_stream())
    torch.cuda.Stream().wait_event(end)
    end.synchronize()
    torch.cuda.set_rng_state(torch.cuda.get_rng_state())
    assert start.elapsed_time(end) > 0
    assert torch.cuda.max_memory_allocated() >= torch.cuda.memory_allocated()
    noise = torch.rand(x.shape, device="cuda", generator=torch.Generator(device="cuda").manual_seed(0))
    scale_kernel[(1,)](x, noise, x.numel(), 2.0, BLOCK=tuned_kernel.best_config.kwargs["BLOCK"])


def asks_for_limits(x):
    properties = torch.cuda.get_device_properties(x.device)
    limits = triton.runtime.driver.active.utils.get_device_properties(0)
    threads = properties.max_threads_per_multi_processor
    registers = properties.regs_per_multiprocessor
    assert (limits["max_threads_per_sm"], limits["max_num_regs"]) == (threads, registers)
    scale_kernel[(threads, registers // 1024)](x, x, int(torch.cuda.is_bf16_supported(False)), 2.0, BLOCK=64)


def as_compiled_code(x):
    from torch._C import _cuda_getCurrentRawStream

    assert _cuda_getCurrentRawStream(0) == torch.cuda.current_stream().cuda_stream
    with torch.cuda._DeviceGuard(0):
        out = torch._C._dynamo.guards._empty_strided_cuda((x.numel(),), (1,), x.dtype)
        out = torch.ops.inductor._reinterpret_tensor(out, x.shape, x.stride(), 0)
        assert out.is_cuda
        scale_kernel[(1,)](x, out, x.numel(), 2.0, BLOCK=64)


def draws_in_a_kernel(x):
    generator = torch.cuda.default_generators[torch.cuda.current_device()]
    generator.manual_seed(7)
    state = generator.get_state()
    assert state.view(torch.int64).tolist() == [7, 0]
    state.view(torch.int64)[1] += 12
    generator.set_state(state)
    seed, offset = generator.get_state().view(torch.int64).tolist()
    noise = torch.rand(x.shape, device="cuda", generator=generator)
    scale_kernel[(seed + offset,)](x, noise, x.numel(), 2.0, BLOCK=64)


def random_inputs(case: Case):
    generator = torch.Generator(device="cuda")
    return (torch.randn(64, device="cuda", generator=generator),)


def per_sequence(x, lengths):
    for length in lengths.tolist():
        scale_kernel[(1,)](x, x, length, 1.0, BLOCK=64)


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return scale(x)

    @staticmethod
    def backward(ctx, grad):
        ones = torch.ones(grad.shape, device=grad.device)
        return scale(grad * ones, 3.0)


@torch.library.custom_op("tritonaudit_tests::scale", mutates_args=())
def operator(x: torch.Tensor) -> torch.Tensor:
    return scale(x, 4.0)


@operator.register_fake
def _(x):
    return torch.empty_like(x)


def through_operator(x):
    return torch.ops.tritonaudit_tests.scale(x)


def keep_even_sizes(configs, named_args, **_):
    return [config for config in configs if named_args["n"] % 2 == 0 or config.kwargs["BLOCK"] == 64]


hooked = []


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": block}, num_warps=warps, num_stages=3, pre_hook=lambda args: args["out_ptr"].zero_())
        for block, warps in ((64, 1), (128, 2), (256, 4), (512, 4), (1024, 8))
    ],
    key=["n"],
    prune_configs_by={"early_config_prune": keep_even_sizes},
)
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def tuned_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets))
    else:
        mask = offsets < n
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)


def tuned(x):
    out = torch.empty_like(x)
    tuned_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, out, x.numel())
    return out


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 64}, num_stages=3),
        triton.Config({"BLOCK": 64}, num_stages=3, maxnreg=64),
        triton.Config({"BLOCK": 64}, num_stages=3, num_ctas=2),
        triton.Config({"BLOCK": 128}, num_stages=3, pre_hook=lambda args: 1 / 0),
        triton.Config({"BLOCK": 256}, num_stages=3),
    ],
    key=["n"],
)
@triton.jit
def odd_kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, 0.0, mask=offsets < n)


def odd(x):
    odd_kernel[(1,)](x, x.numel())


def passes_twice(x):
    odd_kernel[(1,)](x, x.numel(), BLOCK=64)
    scale_kernel[(odd_kernel.best_config.kwargs["BLOCK"],)](x, x, x.numel(), 2.0, BLOCK=64)


@triton.jit
def rows_kernel(x_ptr, out_ptr, stride, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < SIZE
    total = tl.sum(tl.load(x_ptr + row * stride + columns, mask=mask, other=0.0), axis=0)
    tl.store(out_ptr + row, total)


def rows(x):
    out = x.new_empty(x.shape[0])
    rows_kernel[(x.shape[0],)](x, out, x.stride(0), SIZE=x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return out


@triton.jit
def helper(x):
    return tl.dot(x, x)


@triton.jit
def wrong_kernel(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(x_ptr + tl.arange(0, BLOCK), helper(x))


def wrong(x):
    wrong_kernel[(1,)](x, BLOCK=64)


def refuses(x):
    if x.shape[0] != 1024:
        raise ValueError("only 1024 elements")
    return scale(x)


def lengths(case: Case):
    return torch.empty(128, device="cuda"), torch.tensor([3, 17, 64], dtype=torch.int32)


X = [Tensor("size")]
ONE = ("float32",)
plain = Subject(scale, inputs=X)
on_cuda = Subject(hard_coded, inputs=X, dtypes=ONE)
benchmarking = Subject(benchmarks_itself, inputs=X, dtypes=ONE)
compiled = Subject(as_compiled_code, inputs=X, dtypes=ONE)
drawing = Subject(draws_in_a_kernel, inputs=X, dtypes=ONE)
limits = Subject(asks_for_limits, inputs=X, dtypes=ONE)
seeded = Subject(scale, inputs=random_inputs, dtypes=ONE)
varlen = Subject(per_sequence, inputs=lengths, dtypes=ONE)
gradients = Subject(Scaled.apply, inputs=X, gradients=True, dtypes=ONE)
custom = Subject(through_operator, inputs=X, dtypes=ONE)
autotuned = Subject(tuned, inputs=X, dtypes=ONE)
odd_configs = Subject(odd, inputs=X, dtypes=ONE)
conflicting = Subject(passes_twice, inputs=X, dtypes=ONE)
storm = Subject(rows, inputs=[Tensor("rows", "size")], dtypes=ONE)
broken = Subject(wrong, inputs=X, dtypes=ONE)
picky = Subject(refuses, inputs=X, dtypes=ONE)
sized = Subject(lambda x, n: scale(x[:n]), inputs=[Tensor("size"), Size("size")], dtypes=ONE)
