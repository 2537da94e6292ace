"""The random numbers that torch makes on a GPU, so that tests with a seed see the data that they see there.

That is Philox 4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011), a counter for each
thread: which thread makes which number is as torch launches it. Imports torch: for processes of the command.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from tritonaudit.capture.device import Device

_SEED = 67280421310721
"""Of a generator that nobody has given one."""
_MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
_KEY_STEPS = 0x9E3779B9, 0xBB67AE85
_ROUNDS = 10
_WORD = (1 << 32) - 1
_BLOCK, _EACH = 256, 4
"""Threads of a block, and numbers that a thread makes at once."""
_UNIT = 2.0**-32
_MOST_AT_ONCE = 1 << 18
_FACTORIES = frozenset(("randn", "rand", "randint"))
_LIKE = {"randn_like": "randn", "rand_like": "rand", "randint_like": "randint"}
_WIDE = (torch.float64, torch.complex64, torch.complex128)

Words = Sequence[torch.Tensor]


@dataclass
class Generator:
    """A GPU's default generator: its seed, and how many numbers each thread has drawn."""

    seed: int = _SEED
    offset: int = 0

    def manual_seed(self, seed: int) -> None:
        self.seed, self.offset = seed & ((1 << 64) - 1), 0


def stand_in_random(device: Device) -> TorchFunctionMode:
    """What makes the numbers of `randn`, `rand` and `randint` on the device while it is active; seeds are heeded."""
    generator = Generator()
    for name in ("manual_seed", "manual_seed_all"):
        setattr(torch.cuda, name, lambda seed: generator.manual_seed(int(seed)))
    torch.cuda.get_rng_state = lambda *_: torch.tensor([generator.seed, generator.offset], dtype=torch.uint64)
    torch.cuda.set_rng_state = lambda state, *_: _restore(generator, state)
    torch.cuda.initial_seed = lambda: generator.seed
    warps = device.target.warps_per_multiprocessor or 0
    blocks = device.multiprocessors * max(warps * device.target.warp_size // _BLOCK, 1)
    return _OnDevice(generator, blocks)


def _restore(generator: Generator, state: torch.Tensor) -> None:
    generator.seed, generator.offset = state.tolist()


class _OnDevice(TorchFunctionMode):  # type: ignore[misc]
    def __init__(self, generator: Generator, blocks: int) -> None:
        super().__init__()
        self._generator = generator
        self._blocks = blocks

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        name = getattr(function, "__name__", "")
        is_like = name in _LIKE
        if not (is_like or (name in _FACTORIES and _is_gpu(kwargs.get("device")))) or {"out", "generator"} & {*kwargs}:
            return function(*args, **kwargs)
        draw = _LIKE.get(name, name)
        bounds = (0, 0)
        if draw == "randint":
            args, bounds = _bounds(args, kwargs, is_like)
            kwargs.setdefault("dtype", args[0].dtype if is_like else torch.int64)
        gradient = kwargs.pop("requires_grad", False)
        made = (torch.empty_like if is_like else torch.empty)(*args, **kwargs)
        if made.dtype in _WIDE or not made.is_contiguous():
            made.copy_(function(*args, *bounds[: 2 if draw == "randint" and is_like else 0], **kwargs))
        elif made.numel():
            numbers = {"randn": _normal, "rand": _uniform}.get(draw) or _integers(*bounds)
            with torch.no_grad():
                made.copy_(drawn(self._generator, made.numel(), self._blocks, numbers).to(made.dtype).view(made.shape))
            if draw == "rand":
                made.masked_fill_(made == 1, 0)
        return made.requires_grad_(gradient)


def _is_gpu(device: Any) -> bool:
    if isinstance(device, torch.device):
        return bool(device.type == "cuda")
    return str(device).startswith("cuda") if isinstance(device, str) else type(device) is int


def _bounds(args: Any, kwargs: dict[str, Any], is_like: bool) -> tuple[Any, tuple[int, int]]:
    """The arguments of what makes the tensor, and between which integers it draws."""
    head, rest = (args[:1], args[1:]) if is_like else ((), args)
    low, high = kwargs.pop("low", None), kwargs.pop("high", None)
    numbers = [int(one) for one in rest if not isinstance(one, (tuple, list))]
    sizes = tuple(one for one in rest if isinstance(one, (tuple, list)))
    if high is None:
        high = numbers.pop()
    if low is None:
        low = numbers.pop() if numbers else 0
    return (*head, *sizes), (int(low), int(high))


def drawn(generator: Generator, count: int, blocks: int, numbers: Callable[[Words], Iterator[torch.Tensor]]) -> Any:
    """So many numbers, as the threads of at most so many blocks make them of their words."""
    threads = _BLOCK * min(blocks, -(-count // _BLOCK))
    rounds = -(-count // (threads * _EACH))
    found = []
    step = max(_MOST_AT_ONCE // threads, 1)
    for first in range(0, rounds, step):
        turns = torch.arange(first, min(first + step, rounds)) + generator.offset // _EACH
        words = _words(generator.seed, turns.repeat_interleave(threads), torch.arange(threads).repeat(len(turns)))
        each = [one.view(len(turns), threads) for one in numbers(words)]
        found.append(torch.stack(each, dim=1).flatten())
    generator.offset += rounds * _EACH
    return torch.cat(found)[:count]


def _words(seed: int, counters: torch.Tensor, threads: torch.Tensor) -> Words:
    """The four words that each thread has at its counter."""
    c0, c1, c2, c3 = counters & _WORD, counters >> 32, threads & _WORD, threads >> 32
    k0, k1 = seed & _WORD, seed >> 32
    for _ in range(_ROUNDS):
        high0, low0 = _product(_MULTIPLIERS[0], c0)
        high1, low1 = _product(_MULTIPLIERS[1], c2)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = (k0 + _KEY_STEPS[0]) & _WORD, (k1 + _KEY_STEPS[1]) & _WORD
    return c0, c1, c2, c3


def _product(one: int, other: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The upper and the lower word of the product of two words."""
    lower = one * (other & 0xFFFF)
    upper = one * (other >> 16) + (lower >> 16)
    return upper >> 16, ((upper & 0xFFFF) << 16) | (lower & 0xFFFF)


def _normal(words: Words) -> Iterator[torch.Tensor]:
    """Box and Muller's transformation of each two words."""
    for one, other in (words[:2], words[2:]):
        u = one.float() * _UNIT + _UNIT / 2
        angle = other.float() * (_UNIT * 2 * math.pi) + _UNIT * math.pi
        length = (-2 * u.log()).sqrt()
        yield angle.sin() * length
        yield angle.cos() * length


def _uniform(words: Words) -> Iterator[torch.Tensor]:
    return (one.float() * _UNIT + _UNIT / 2 for one in words)


def _integers(low: int, high: int) -> Callable[[Words], Iterator[torch.Tensor]]:
    """From the one to below the other."""
    return lambda words: (one % max(high - low, 1) + low for one in words)
