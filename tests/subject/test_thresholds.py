"""Numbers that code compares with, read from its source."""

from __future__ import annotations

from pathlib import Path

import pytest

from tritonaudit.subject.thresholds import thresholds

MOST = 1 << 20


def read(folder: Path, source: str) -> tuple[int, ...]:
    path = folder / "kernels.py"
    path.write_text(source, encoding="utf-8")
    return thresholds([path], MOST)


@pytest.mark.parametrize(
    ("source", "numbers"),
    [
        ("if n > 4096: pass", (4096,)),
        ("x = 2100 < n < 4000", (2100, 4000)),
        ("if n in (384, 1000) or n in range(50, 60): pass", (384, 1000, 50, 60)),
        ("wide = n % 1024 == 0", (1024,)),
        ("if 1 << 12 <= n: pass", (4096,)),
        ("if n * 4 > 48 * 1024: pass", (49152,)),
        ("warps = 8 if block >= 2 ** 11 else 4", (2048,)),
        ("while n > 5000 - 1: n //= 2", (4999,)),
    ],
)
def test_numbers_that_are_compared_with_are_known(tmp_path: Path, source: str, numbers: tuple[int, ...]) -> None:
    assert read(tmp_path, source) == numbers


@pytest.mark.parametrize(
    "source",
    [
        "block = 4096",
        "if x.dim() == 3 and n > 16: pass",
        "if n > 1 << 40: pass",
        "if n > 2 ** 100000 ** 100000: pass",
        "if n > 9.5 or flag is True: pass",
        "if n > 100 // 0: pass",
        "if n >",
        "\0",
    ],
)
def test_others_are_not(tmp_path: Path, source: str) -> None:
    assert not set(read(tmp_path, source)) & {4096, 3, 16, 1 << 40, 9, 1}


def test_each_number_comes_once_and_a_file_that_is_not_there_has_none(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text("a = n > 64 or m > 64\n", encoding="utf-8")
    assert thresholds([path, path, tmp_path / "none.py"], MOST) == (64,)


def test_a_file_that_never_ends_is_not_read() -> None:
    assert thresholds(["/dev/zero", "/dev"], MOST) == ()
