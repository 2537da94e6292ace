"""What tritonaudit runs."""

import torch

from tritonaudit import Subject, Tensor

from .dropout import dropout

_WORD = 0xFFFFFFFF


def _product(a: torch.Tensor, constant: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The high and the low word of a 32-bit number times a constant, in int64 without overflow."""
    low = (a & 0xFFFF) * constant
    high = (a >> 16) * constant + (low >> 16)
    return high >> 16, ((high & 0xFFFF) << 16) | (low & 0xFFFF)


def uniform(seed: int, counters: torch.Tensor) -> torch.Tensor:
    """Philox-4x32-10 (Salmon et al., SC 2011): its first word for each counter, as a float32 below 1."""
    words = [counters, *(torch.zeros_like(counters) for _ in range(3))]
    keys = [seed & _WORD, seed >> 32 & _WORD]
    for _ in range(10):
        high_0, low_0 = _product(words[0], 0xD2511F53)
        high_2, low_2 = _product(words[2], 0xCD9E8D57)
        words = [high_2 ^ words[1] ^ keys[0], low_2, high_0 ^ words[3] ^ keys[1], low_0]
        keys = [(keys[0] + 0x9E3779B9) & _WORD, (keys[1] + 0xBB67AE85) & _WORD]
    signed = torch.where(words[0] >= 1 << 31, words[0] - (1 << 32), words[0])
    positive = torch.where(signed < 0, -signed - 1, signed)
    return positive.float() * 4.6566127342e-10


def reference(x: torch.Tensor, p: float, seed: int) -> torch.Tensor:
    counters = torch.arange(x.numel(), device=x.device).reshape(x.shape)
    return torch.where(uniform(seed, counters) >= p, x / (1 - p), torch.zeros_like(x))


subject = Subject(dropout, reference=reference, inputs=[Tensor("rows", "cols"), 0.25, 1234], name="dropout")
