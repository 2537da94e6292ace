"""What NVIDIA's library tells of a GPU, and nvidia-smi where that does not."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch names the GPU")

from tritonaudit.measure import clock  # noqa: E402


class Library:
    """Answers as NVIDIA's does: 0 where it can, by way of pointers."""

    def __init__(self, *refused: str) -> None:
        self._refused = refused
        self.asked: list[bytes] = []

    def nvmlDeviceGetHandleByUUID(self, unit: bytes, device: Any) -> int:
        self.asked.append(unit)
        return 6 if "unit" in self._refused else 0

    def nvmlDeviceGetClockInfo(self, device: Any, kind: int, found: Any) -> int:
        found._obj.value = 1755
        return 3 if "clock" in self._refused else 0

    def nvmlDeviceGetMaxClockInfo(self, device: Any, kind: int, found: Any) -> int:
        found._obj.value = 1980
        return 0

    def nvmlSystemGetDriverVersion(self, word: Any, size: int) -> int:
        word.value = b"580.159.03"
        return 999 if "driver" in self._refused else 0


@pytest.fixture
def reported(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """For how many cycles the GPU was kept busy; nvidia-smi answers by the numbers of another GPU."""
    cycles: list[int] = []
    monkeypatch.setattr(torch.cuda, "_sleep", cycles.append)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(clock, "_unit", lambda: "GPU-8a")
    answers = {"clocks.sm,clocks.max.sm": "1400, 1500", "driver_version": "1.0"}
    monkeypatch.setattr(clock, "_ask", answers.__getitem__)
    return cycles


def test_the_library_is_asked_first(reported: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library()
    monkeypatch.setattr(clock, "_library", lambda: library)
    assert clock.clocks() == (1755, 1980)
    assert library.asked == [b"GPU-8a"]
    assert len(reported) == 1
    assert clock.driver_version.__wrapped__() == "580.159.03"


@pytest.mark.parametrize("library", [None, Library("unit", "driver"), Library("clock", "driver")])
def test_where_it_is_not_there_or_refuses_nvidia_smi_is(
    library: Library | None, reported: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "_library", lambda: library)
    assert clock.clocks() == (1400, 1500)
    assert len(reported) == 2
    assert clock.driver_version.__wrapped__() == "1.0"


def test_what_is_no_clock_is_none() -> None:
    assert clock._clocks_in("") is clock._clocks_in("[N/A], 1980") is None


def test_a_library_that_is_not_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "_LIBRARY", "libthere-is-none.so.1")
    assert clock._library.__wrapped__() is None
