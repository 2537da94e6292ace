"""The Hamming distances of all pairs of binary codes, packed 32 bits to an int32, and for each query the nearest code."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def distance_kernel(a_ptr, b_ptr, out_ptr, n, m, words, tiles, BLOCK_N: tl.constexpr, BLOCK_M: tl.constexpr):
    pid = tl.program_id(0)
    row = (pid // tiles).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    col = (pid % tiles).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    row_mask = row < n
    col_mask = col < m
    total = tl.zeros((BLOCK_N, BLOCK_M), tl.int32)
    for word in range(words):
        a = tl.load(a_ptr + row * words + word, mask=row_mask, other=0).to(tl.uint32, bitcast=True)
        b = tl.load(b_ptr + col * words + word, mask=col_mask, other=0).to(tl.uint32, bitcast=True)
        bits = a[:, None] ^ b[None, :]
        bits = bits - ((bits >> 1) & 0x55555555)
        bits = (bits & 0x33333333) + ((bits >> 2) & 0x33333333)
        bits = (bits + (bits >> 4)) & 0x0F0F0F0F
        bits = bits + (bits >> 8)
        bits = (bits + (bits >> 16)) & 0x3F
        total += bits.to(tl.int32)
    tl.store(out_ptr + row[:, None] * m + col[None, :], total, mask=row_mask[:, None] & col_mask[None, :])


@triton.jit
def nearest_kernel(distance_ptr, out_ptr, m, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, BLOCK).to(tl.int64)
    best = tl.full((BLOCK,), 9223372036854775807, tl.int64)
    for start in range(0, m, BLOCK):
        col = start + lane
        distance = tl.load(distance_ptr + row * m + col, mask=col < m, other=2147483647).to(tl.int64)
        best = tl.minimum(best, (distance << 31) | tl.minimum(col, 2147483647))
    tl.store(out_ptr + row, tl.min(best, axis=0) & 2147483647)


def hamming_distance(a, b):
    """`a` of shape (n, words) and `b` of shape (m, words), m at least 1 and below 2^31."""
    a, b = a.contiguous(), b.contiguous()
    n, words = a.shape
    m = b.shape[0]
    distance = torch.empty((n, m), dtype=torch.int32, device=a.device)
    nearest = torch.empty((n,), dtype=torch.int64, device=a.device)
    if distance.numel():
        tiles = triton.cdiv(m, 64)
        distance_kernel[(triton.cdiv(n, 16) * tiles,)](a, b, distance, n, m, words, tiles, BLOCK_N=16, BLOCK_M=64)
        nearest_kernel[(n,)](distance, nearest, m, BLOCK=256)
    return distance, nearest


def reference(a, b):
    distance = torch.zeros((a.shape[0], b.shape[0]), dtype=torch.int32, device=a.device)
    for word in range(a.shape[1]):
        differs = a[:, word, None] ^ b[None, :, word]
        for bit in range(32):
            distance += (differs >> bit) & 1
    # the first of those that are nearest
    column = torch.arange(b.shape[0], device=a.device)
    key = distance.long() * b.shape[0] + column
    return distance, key.amin(1) % b.shape[0]


hamming = Subject(hamming_distance, reference=reference,
                  inputs=[Tensor("n", "words", dtype="int32", low=0, high=2**31 - 1),
                          Tensor("m", "words", dtype="int32", low=0, high=2**31 - 1)])
