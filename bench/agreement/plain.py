"""Which subjects' accesses the profiler can check, and which of them."""

from __future__ import annotations

from bench.agreement.facts import LOAD, STORE

PLAIN = {
    **dict.fromkeys(
        (
            "copy_fp32",
            "copy_fp16",
            "copy_bf16",
            "copy_fp32_small_block",
            "copy_fp32_odd_address",
            "copy_fp16_odd_address",
            "copy_fp32_every_other",
            "copy_fp32_stride_1",
            "add_fp32",
            "add_fp16",
            "transpose_fp32",
            "transpose_fp16",
            "scale_rows_1024",
            "scale_rows_1000",
            "scale_rows_1001",
            "scale_rows_1001_of_1024",
            "softmax_1024_fp16",
            "softmax_1000_fp32",
            "cumulative_sum_fp32",
            "sort_fp32",
        ),
        (LOAD, STORE),
    ),
    **dict.fromkeys(
        (
            "histogram_int32",
            "row_sum_fp32",
            "column_sum_fp32",
            "argmax_fp32",
            "welford_fp32",
            "quantise_fp16_to_int8",
        ),
        (LOAD,),
    ),
    "cast_fp16_to_fp8": (STORE,),
}
"""Whose loads, or stores, move each element of the arguments, or of the results, exactly once, by lanes that lie side
by side or a stride apart. Left out is what `cp.async` copies, what many programs read, what data scatters, a single
number, and what each lane has more than 16 adjacent bytes of (`gather_fp32`'s indices, the loads of
`cast_fp16_to_fp8`): there, lanes leave gaps between them, of which the compile stage says nothing.
"""
