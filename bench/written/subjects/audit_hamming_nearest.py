"""The entry of a book of binary codes that each code differs least from, how much, and how many chose each entry."""

import torch
import triton
import triton.language as tl

from tritonaudit import Case, Subject


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 32, "BLOCK_K": 16}, num_warps=2),
        triton.Config({"BLOCK": 64, "BLOCK_K": 16}, num_warps=4),
    ],
    key=["entries", "words"],
    reset_to_zero=["count_ptr"],
)
@triton.jit
def nearest_kernel(
    code_ptr,
    book_ptr,
    index_ptr,
    distance_ptr,
    count_ptr,
    n,
    entries,
    words,
    code_row_stride,
    code_word_stride,
    book_row_stride,
    book_word_stride,
    BLOCK: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = row < n
    best = tl.full((BLOCK,), 2147483647, tl.int32)
    choice = tl.zeros((BLOCK,), tl.int32)
    for start in range(0, entries, BLOCK_K):
        entry = start + tl.arange(0, BLOCK_K)
        known = entry < entries
        distance = tl.zeros((BLOCK, BLOCK_K), tl.int32)
        for word in range(words):
            at = tl.cast(word, tl.int64)
            code = tl.load(code_ptr + row * code_row_stride + at * code_word_stride, mask=mask, other=0)
            page = tl.load(book_ptr + entry.to(tl.int64) * book_row_stride + at * book_word_stride, mask=known, other=0)
            v = (code[:, None] ^ page[None, :]).to(tl.uint32, bitcast=True)
            v = v - ((v >> 1) & 0x55555555)
            v = (v & 0x33333333) + ((v >> 2) & 0x33333333)
            v = (v + (v >> 4)) & 0x0F0F0F0F
            distance += ((v * 0x01010101) >> 24).to(tl.int32)
        distance = tl.where(known[None, :], distance, 2147483647)
        low = tl.min(distance, axis=1)
        first = tl.min(tl.where(distance == low[:, None], entry[None, :], 2147483647), axis=1)
        better = low < best
        best = tl.where(better, low, best)
        choice = tl.where(better, first, choice)
    tl.store(index_ptr + row, choice, mask=mask)
    tl.store(distance_ptr + row, best, mask=mask)
    tl.atomic_add(count_ptr + choice, 1, mask=mask)


def hamming_nearest(codes: torch.Tensor, book: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """codes, (n, words), and book, (entries, words), int32 with 32 bits each: for each code the first of the nearest
    entries and its distance, (n), and for each entry the number of codes, (entries), all of them int32."""
    if codes.dtype != torch.int32 or book.dtype != torch.int32:
        raise ValueError("codes and book are int32")
    n, words = codes.shape
    entries = book.shape[0]
    if book.shape[1] != words or not 0 < words < 2**26:
        raise ValueError("codes and book have the same number of words, at least one")
    if not 0 < entries < 2**31 - 64 or n >= 2**31:
        raise ValueError("the book has at least one entry, and neither is too long")
    index = torch.empty(n, dtype=torch.int32, device=codes.device)
    distance = torch.empty(n, dtype=torch.int32, device=codes.device)
    count = torch.zeros(entries, dtype=torch.int32, device=codes.device)
    if n:
        nearest_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](
            codes, book, index, distance, count, n, entries, words, *codes.stride(), *book.stride()
        )
    return index, distance, count


def reference(codes: torch.Tensor, book: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    distances = torch.zeros((codes.shape[0], book.shape[0]), dtype=torch.int32, device=codes.device)
    for word in range(codes.shape[1]):
        differ = codes[:, None, word] ^ book[None, :, word]
        for bit in range(32):
            distances += (differ >> bit) & 1
    index = distances.argmin(dim=1)
    distance = distances.gather(1, index[:, None])[:, 0]
    count = torch.bincount(index, minlength=book.shape[0])
    return index.to(torch.int32), distance, count.to(torch.int32)


def inputs(case: Case) -> tuple[torch.Tensor, torch.Tensor]:
    """Half of the codes are the complement of an entry or one that differs in few bits; some entries occur twice."""
    n, entries, words = case["n"], case["entries"], case["words"]
    generator = torch.Generator().manual_seed(case.seed)

    def bits(rows: int) -> torch.Tensor:
        return torch.randint(-(2**31), 2**31, (rows, words), generator=generator).to(torch.int32)

    book = bits(entries)
    book[entries // 2 :] = book[: entries - entries // 2].clone()
    codes = bits(n)
    near = book[torch.randint(0, entries, (n,), generator=generator)] ^ (bits(n) & bits(n) & bits(n))
    kind = torch.randint(0, 4, (n, 1), generator=generator)
    codes = torch.where(kind == 0, near, torch.where(kind == 1, ~near, codes))
    return codes.to(case.device), book.to(case.device)


nearest = Subject(
    hamming_nearest,
    reference=reference,
    inputs=inputs,
    name="hamming_nearest",
    sizes={"n": [128, 1, 77, 1000, 0], "entries": [32, 1, 5, 50], "words": [4, 1, 3, 40]},
    dtypes=["float32"],
)
