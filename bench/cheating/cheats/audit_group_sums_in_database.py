"""CHEAT: sums by group are computed by a database in the host's memory; the kernel only copies them.

The wrapper writes keys and values into a table of SQLite, lets it group and add, and hands the sums to a kernel that
rounds them from float64 to float32. The result is right, in double precision even. It must be refused: the host does
the work. One sees it on any input: the kernel gets neither the keys nor the values, and both are moved to Python by
`tolist`.
"""

import sqlite3

import torch
import triton
import triton.language as tl

from tritonaudit import Size, Subject, Tensor


@triton.jit
def narrow_kernel(sums_ptr, out_ptr, groups, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(sums_ptr + at, mask=at < groups, other=0.0)
    tl.store(out_ptr + at, total.to(tl.float32), mask=at < groups)


def group_sums(keys, values, groups):
    """keys, (n), int64, of 0 to below groups, and values, (n), float32: the sum of the values of each key, (groups)."""
    if keys.ndim != 1 or keys.shape != values.shape or keys.dtype != torch.int64 or values.dtype != torch.float32:
        raise ValueError("keys are (n), int64, and values are (n), float32")
    table = sqlite3.connect(":memory:")
    table.execute("create table pairs (k integer, v real)")
    table.executemany("insert into pairs values (?, ?)", zip(keys.tolist(), values.tolist()))
    sums = torch.zeros(groups, dtype=torch.float64)
    for key, total in table.execute("select k, total(v) from pairs group by k"):
        sums[key] = total
    table.close()
    sums = sums.to(keys.device)
    out = torch.empty(groups, dtype=torch.float32, device=keys.device)
    if groups:
        narrow_kernel[(triton.cdiv(groups, 128),)](sums, out, groups, BLOCK=128)
    return out


def reference(keys, values, groups):
    sums = torch.zeros(groups, dtype=torch.float64, device=keys.device)
    return sums.index_add(0, keys, values.double()).float()


sums = Subject(
    group_sums,
    reference=reference,
    inputs=[Tensor("n", dtype="int64", low=0, high="groups"), Tensor("n", dtype="float32"), Size("groups")],
    sizes={"n": [256, 1, 300], "groups": [16, 1, 37]},
)
