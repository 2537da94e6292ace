"""Random operands: over many exponents, so that most of what a tensor core cuts off is cut off."""

from __future__ import annotations

from collections.abc import Callable

import torch

DTYPES = {
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
    "e4m3": torch.float8_e4m3fn,
    "e5m2": torch.float8_e5m2,
    "i8": torch.int8,
    "i32": torch.int32,
}
_EXPONENTS = {
    "f16": (-14, 15),
    "bf16": (-60, 60),
    "f32": (-60, 60),
    "f64": (-60, 60),
    "e4m3": (-6, 8),
    "e5m2": (-14, 15),
}
"""Of normal numbers whose products are finite."""
_LARGEST = {"e4m3": 448.0, "e5m2": 57344.0}
_HALF = 14
"""The greatest exponent of an accumulator in float16."""

Blocks = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


class Coins:
    """Random blocks of one case, the same on every machine."""

    def __init__(self, element: str, total: str, sizes: tuple[int, int, int], seed: int) -> None:
        self._element, self._total = element, total
        self._m, self._n, self._k = sizes
        self._generator = torch.Generator().manual_seed(seed)
        self._low, self._high = _EXPONENTS.get(element, (0, 0))
        if total == "f16":
            self._high = min(self._high, 5)

    def programs(self, rounds: int) -> Blocks:
        """The operands of all programs, of each kind as many as there are rounds."""
        kinds: list[Callable[[], Blocks]] = [self._integers] if self._element == "i8" else [
            self._normal, self._near, self._far, self._cancelling, self._large_total, self._sparse, self._tiny,
            self._special,
        ]  # fmt: skip
        made = [self._rounded(*kind()) for _ in range(rounds) for kind in kinds]
        a, b, c = (torch.stack([blocks[place].view(_bits(blocks[place])) for blocks in made]) for place in range(3))
        return a.view(DTYPES[self._element]), b.view(DTYPES[self._element]), c.view(DTYPES[self._total])

    def bytes(self, *shape: int) -> torch.Tensor:
        return torch.randint(0, 256, shape, generator=self._generator).to(torch.uint8)

    def scales(self, *shape: int) -> torch.Tensor:
        """Of type e8m0, near 1."""
        return torch.randint(120, 134, shape, generator=self._generator).to(torch.uint8)

    def _rounded(self, *blocks: torch.Tensor) -> list[torch.Tensor]:
        return [
            x if not x.is_floating_point() else _cast(x, element)
            for x, element in zip(blocks, (self._element, self._element, self._total), strict=True)
        ]

    def _integers(self) -> Blocks:
        a, b = (torch.randint(-128, 128, shape, generator=self._generator).to(torch.int8) for shape in self._factors)
        return a, b, torch.randint(-(2**20), 2**20, (self._m, self._n), generator=self._generator).to(torch.int32)

    @property
    def _factors(self) -> tuple[tuple[int, int], tuple[int, int]]:
        return (self._m, self._k), (self._k, self._n)

    def _normal(self) -> Blocks:
        a, b = (self._randn(*shape) for shape in self._factors)
        return a, b, self._randn(self._m, self._n)

    def _near(self) -> Blocks:
        return self._both(-6, 6, (-12, 12))

    def _far(self) -> Blocks:
        """Over all exponents."""
        return self._both(self._low, self._high - 1, (2 * self._low, 2 * self._high))

    def _cancelling(self) -> Blocks:
        """The accumulator takes away what the products are together, but for some of the last bits."""
        a, b = (_cast(self._randn(*shape), self._element).double() for shape in self._factors)
        signs = torch.randint(0, 2, (self._m, self._n), generator=self._generator) * 2 - 1
        return a, b, -(a @ b) * (1 + torch.exp2(-30 * self._rand(self._m, self._n)) * signs)

    def _large_total(self) -> Blocks:
        return self._both(-6, 0, (2, 28))

    def _sparse(self) -> Blocks:
        a, b, c = self._both(-7, 7, (-14, 14))
        return tuple(x * (self._rand(*x.shape) < share) for x, share in ((a, 0.25), (b, 0.5), (c, 0.5)))  # type: ignore[return-value]

    def _tiny(self) -> Blocks:
        """Operands that are subnormal, or whose products are."""
        if self._element in ("bf16", "f32"):
            return self._wide(self._m, self._k, (-76, -63)), self._wide(self._k, self._n, (-76, -60)), self._wide(
                self._m, self._n, (-148, -124)
            )  # fmt: skip
        near = (self._low - 3, self._low + 3)
        total = (2 * self._low - 24, 2 * self._low + 2) if self._total != "f16" else (-24, -10)
        return (
            self._wide(self._m, self._k, near),
            self._wide(self._k, self._n, near),
            self._wide(self._m, self._n, total),
        )

    def _special(self) -> Blocks:
        """Infinities and NaN, and products that are too large."""
        top = 127 if self._element in ("bf16", "f32") else self._high
        low = top - 70 if top > 70 else self._low
        a, b = (self._wide(*shape, (low, top)) for shape in self._factors)
        c = self._wide(self._m, self._n, (8, 15) if self._total == "f16" else (100, 127))
        chances = self._rand(self._m, self._k)
        a = torch.where(chances < 0.01, torch.inf, torch.where(chances < 0.012, torch.nan, a))
        return a, b, torch.where(self._rand(self._m, self._n) < 0.02, torch.inf, c)

    def _both(self, low: int, high: int, total: tuple[int, int]) -> Blocks:
        within = (max(low, self._low), min(high, self._high))
        most = (max(total[0], -_HALF), min(total[1], _HALF)) if self._total == "f16" else total
        a, b = (self._wide(*shape, within) for shape in self._factors)
        return a, b, self._wide(self._m, self._n, most)

    def _wide(self, rows: int, columns: int, exponents: tuple[int, int]) -> torch.Tensor:
        low, high = exponents
        powers = torch.randint(low, high + 1, (rows, columns), generator=self._generator).double()
        signs = torch.randint(0, 2, (rows, columns), generator=self._generator) * 2 - 1
        return signs * (1 + self._rand(rows, columns)) * torch.exp2(powers)

    def _randn(self, *shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=self._generator, dtype=torch.float64)

    def _rand(self, *shape: int) -> torch.Tensor:
        return torch.rand(shape, generator=self._generator, dtype=torch.float64)


def _cast(x: torch.Tensor, element: str) -> torch.Tensor:
    largest = _LARGEST.get(element)
    return (x if largest is None else x.clamp(-largest, largest).float()).to(DTYPES[element])


def _bits(x: torch.Tensor) -> torch.dtype:
    """torch stacks no 8-bit floats."""
    return torch.uint8 if x.dtype.itemsize == 1 else x.dtype
