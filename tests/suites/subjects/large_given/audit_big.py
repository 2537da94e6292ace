"""Rows that a function gives."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject


@triton.jit
def scale_kernel(x_ptr, out_ptr, columns, IS_WIDE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    if IS_WIDE:
        row = row.to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + lanes, mask=lanes < columns)
    tl.store(out_ptr + row * columns + lanes, x * 2, mask=lanes < columns)


def launch(x, is_wide):
    x = x.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        scale_kernel[(x.shape[0],)](x, out, x.shape[1], IS_WIDE=is_wide, BLOCK=triton.next_power_of_2(x.shape[1]))
    return out


def wide(x):
    return launch(x, True)


def narrow(x):
    return launch(x, False)


def flagged(x, flag):
    return narrow(x)


def doubled(x):
    return 2 * x


def of_the_case(case):
    return torch.randn(100, 384)


def by_size(size):
    return torch.randn(size, 384)


def in_memory(size):
    return torch.randn(size, 384, device="cpu").cuda()


def by_flag(case):
    return torch.randn(case["rows"], 384), case["flag"]


def by_generator(size):
    generator = torch.Generator().manual_seed(0)
    return torch.randn(size, 384, generator=generator)


wide_of_the_case = Subject(wide, doubled, of_the_case, dtypes=["float32"])
narrow_of_the_case = Subject(narrow, doubled, of_the_case, dtypes=["float32"])
wide_by_size = Subject(wide, doubled, by_size, dtypes=["float32"])
narrow_by_size = Subject(narrow, doubled, by_size, dtypes=["float32"])
narrow_by_generator = Subject(narrow, doubled, by_generator, dtypes=["float32"])
narrow_by_flag = Subject(
    flagged, lambda x, flag: 2 * x, by_flag, sizes={"rows": [100, 1, 7], "flag": [0, 1]}, dtypes=["float32"]
)
narrow_in_memory = Subject(narrow, doubled, in_memory, dtypes=["float32"])
narrow_named = Subject(narrow, doubled, by_size, dtypes=["float32"], sizes={"size": [64, 128]})
narrow_named_freely = Subject(narrow, doubled, by_size, dtypes=["float32"], sizes={"size": [64, 100]})


@triton.jit
def picked_kernel(x_ptr, picks_ptr, out_ptr, columns, IS_WIDE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    if IS_WIDE:
        row = row.to(tl.int64)
    pick = tl.load(picks_ptr + row)
    if pick > 0:
        lanes = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + lanes, mask=lanes < columns, other=0.0)
        tl.store(out_ptr + row, tl.sum(tl.where(lanes == pick, x, 0.0), axis=0))


def launch_picked(x, picks, is_wide):
    x, picks = x.contiguous(), picks.contiguous()
    out = torch.zeros(x.shape[0], device=x.device)
    if x.numel():
        block = triton.next_power_of_2(x.shape[1])
        picked_kernel[(x.shape[0],)](x, picks, out, x.shape[1], IS_WIDE=is_wide, BLOCK=block)
    return out


def picked_wide(x, picks):
    return launch_picked(x, picks, True)


def picked_narrow(x, picks):
    return launch_picked(x, picks, False)


def picked(x, picks):
    picks = picks[:, None]
    return torch.where(picks > 0, x.gather(1, picks), 0.0)[:, 0]


def rows_and_picks(case):
    return torch.randn(100, 384), torch.randint(0, 384, (100,))


wide_by_picks = Subject(picked_wide, picked, rows_and_picks, dtypes=["float32"])
narrow_by_picks = Subject(picked_narrow, picked, rows_and_picks, dtypes=["float32"])


@triton.jit
def looked_up_kernel(table_ptr, rows_ptr, order_ptr, out_ptr, columns, IS_WIDE: tl.constexpr, BLOCK: tl.constexpr):
    place = tl.program_id(0)
    row = tl.load(rows_ptr + place)
    if IS_WIDE:
        row = row.to(tl.int64)
    before = tl.load(rows_ptr + place - 1, mask=place > 0, other=-1)
    if row != before:
        lanes = tl.arange(0, BLOCK)
        line = tl.load(table_ptr + row * columns + lanes, mask=lanes < columns, other=0.0)
        tl.store(out_ptr + tl.load(order_ptr + place) * columns + lanes, line, mask=lanes < columns)


def launch_looked_up(table, rows, is_wide):
    ordered, order = torch.sort(rows, stable=True)
    columns = table.shape[1]
    out = torch.zeros((len(rows), columns), device=table.device)
    block = triton.next_power_of_2(columns)
    looked_up_kernel[(len(rows),)](table, ordered, order, out, columns, IS_WIDE=is_wide, BLOCK=block)
    return out


def looked_up_wide(table, rows):
    return launch_looked_up(table.contiguous(), rows, True)


def looked_up_narrow(table, rows):
    return launch_looked_up(table.contiguous(), rows, False)


def looked_up(table, rows):
    first = [place for place, row in enumerate(rows.tolist()) if row not in rows[:place].tolist()]
    kept = torch.zeros(len(rows), dtype=torch.bool)
    kept[first] = True
    return torch.where(kept.to(table.device)[:, None], table[rows.long()], 0.0)


def table_and_rows(case):
    generator = torch.Generator().manual_seed(case.seed)
    table = torch.randn((case["rows"], 64), generator=generator)
    return table, torch.randint(0, case["rows"], (24,), generator=generator, dtype=torch.int32)


named = {"rows": [20, 1, 7, 100]}
wide_by_rows = Subject(looked_up_wide, looked_up, table_and_rows, dtypes=["float32"], sizes=named)
narrow_by_rows = Subject(looked_up_narrow, looked_up, table_and_rows, dtypes=["float32"], sizes=named)
