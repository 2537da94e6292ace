"""Settings of torch that hold for all of a process: what computes there, and how fast. Imports torch."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

_DENORMAL = 1e-40
_GETTERS: Mapping[str, Callable[[], Any]] = {
    "torch.is_grad_enabled()": torch.is_grad_enabled,
    "torch.get_default_dtype()": torch.get_default_dtype,
    "torch.get_num_threads()": torch.get_num_threads,
    "torch.set_flush_denormal()": lambda: float(torch.full((), _DENORMAL).mul(1.0)) == 0.0,
    "torch.backends.cudnn.enabled": lambda: torch.backends.cudnn.enabled,
    "torch.backends.cuda.flash_sdp_enabled()": torch.backends.cuda.flash_sdp_enabled,
    "torch.backends.cuda.mem_efficient_sdp_enabled()": torch.backends.cuda.mem_efficient_sdp_enabled,
    "torch.backends.cuda.math_sdp_enabled()": torch.backends.cuda.math_sdp_enabled,
    "torch.backends.cuda.cudnn_sdp_enabled()": torch.backends.cuda.cudnn_sdp_enabled,
}
"""Those that nobody sets for the sake of a kernel of his own: precision and determinism are not among them."""

Settings = Mapping[str, Any]


def settings() -> Settings:
    """What they are now."""
    return {name: get() for name, get in _GETTERS.items()}


def surroundings() -> tuple[Any, ...]:
    """What else of a process code may change that others then run in: how precisely torch computes among it."""
    cuda, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    return (
        dict(os.environ),
        os.getcwd(),
        list(sys.path),
        torch.get_float32_matmul_precision(),
        (cuda.allow_tf32, cuda.allow_fp16_reduced_precision_reduction, cuda.allow_bf16_reduced_precision_reduction),
        (cudnn.allow_tf32, cudnn.benchmark, cudnn.deterministic),
        torch.are_deterministic_algorithms_enabled(),
        torch.is_autocast_enabled(),
        torch.get_default_device(),
    )


def changed(before: Settings) -> Iterator[str]:
    """The names of those that are others now."""
    now = settings()
    yield from (name for name, value in before.items() if now[name] != value)
