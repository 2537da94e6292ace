"""Greedy suppression of overlapping boxes: a kernel makes rows of overlap bits, and a single program walks the boxes
by falling score.

It looks suspicious: torch's argsort orders the boxes, and one program of one warp decides about all of them. It is
fair: the order is an index list that the wrapper may build (the reference builds the same), all overlaps and all
decisions are the kernels', and the overlap test multiplies integers instead of dividing, so no box stands on the edge.
"""
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, boxes, scores):
        """`boxes` are whole numbers: left, top, width, height, each taken modulo 1024."""
        count = boxes.shape[0]
        boxes = boxes.long() % 1024
        order = torch.argsort(scores, descending=True, stable=True)
        sides = boxes[order]
        low, high = sides[:, :2], sides[:, :2] + sides[:, 2:]
        both = torch.minimum(high[:, None], high[None]) - torch.maximum(low[:, None], low[None])
        both = both.clamp(min=0).prod(dim=-1)
        area = sides[:, 2:].prod(dim=-1)
        clash = 2 * both > area[:, None] + area[None] - both
        kept = torch.ones(count, dtype=torch.bool, device=boxes.device)
        for i in range(count):
            later = torch.arange(count, device=boxes.device) > i
            kept &= ~(clash[i] & later & kept[i])
        out = torch.zeros(count, dtype=torch.uint8, device=boxes.device)
        out[order] = kept.to(torch.uint8)
        return out


@triton.jit
def side(box_ptr, box, place, mask):
    value = tl.load(box_ptr + box * 4 + place, mask=mask, other=0).to(tl.int64) % 1024
    return tl.where(value < 0, value + 1024, value)


@triton.jit
def clash_kernel(box_ptr, order_ptr, clash_ptr, count, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = j < count
    ours = tl.load(order_ptr + i)
    others = tl.load(order_ptr + j, mask=mask, other=0)
    both = tl.full((BLOCK,), 1, tl.int64)
    area = tl.full((BLOCK,), 1, tl.int64)
    other_area = tl.full((BLOCK,), 1, tl.int64)
    for axis in tl.static_range(2):
        low = side(box_ptr, ours, axis, True)
        size = side(box_ptr, ours, axis + 2, True)
        other_low = side(box_ptr, others, axis, mask)
        other_size = side(box_ptr, others, axis + 2, mask)
        shared = tl.minimum(low + size, other_low + other_size) - tl.maximum(low, other_low)
        both = both * tl.maximum(shared, 0)
        area = area * size
        other_area = other_area * other_size
    clash = (2 * both > area + other_area - both) & (j > i)
    tl.store(clash_ptr + i * count + j, clash.to(tl.uint8), mask=mask)


@triton.jit
def walk_kernel(clash_ptr, order_ptr, out_ptr, count, BLOCK: tl.constexpr):
    all_boxes = tl.arange(0, BLOCK)
    mask = all_boxes < count
    gone = tl.zeros((BLOCK,), tl.int32)
    for i in range(0, count):
        lost = tl.sum(tl.where(all_boxes == i, gone, 0), axis=0)
        clash = tl.load(clash_ptr + i * count + all_boxes, mask=mask, other=0).to(tl.int32)
        gone = gone | tl.where(lost == 0, clash, 0)
    order = tl.load(order_ptr + all_boxes, mask=mask, other=0)
    tl.store(out_ptr + order, (1 - gone).to(tl.uint8), mask=mask)


class ModelNew(nn.Module):
    def forward(self, boxes, scores):
        boxes = boxes.contiguous()
        count = boxes.shape[0]
        out = torch.empty(count, dtype=torch.uint8, device=boxes.device)
        if count:
            order = torch.argsort(scores, descending=True, stable=True)
            clash = torch.empty((count, count), dtype=torch.uint8, device=boxes.device)
            clash_kernel[(count, triton.cdiv(count, 128))](boxes, order, clash, count, BLOCK=128)
            walk_kernel[(1,)](clash, order, out, count, BLOCK=triton.next_power_of_2(count), num_warps=1)
        return out


def get_inputs():
    return [torch.randint(0, 60, (45, 4)) + torch.tensor([0, 0, 20, 20]), torch.rand(45)]


def get_init_inputs():
    return []
