"""The GPUs that one can buy, and how fast each can be at best. Every figure has its source, or is unknown."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path

from tritonaudit.hardware.roofline import Figure, Roofline, Work
from tritonaudit.hardware.targets import Source

BANDWIDTH = "DRAM bandwidth"
MEMORY = "DRAM size"
L2 = "L2 cache"
L3 = "L3 cache"
SHARED_MEMORY = "shared memory per multiprocessor"
REGISTERS = "registers per multiprocessor"
MULTIPROCESSORS = "multiprocessors"
UNITS = {BANDWIDTH: "GB/s", MEMORY: "B", L2: "B", L3: "B", SHARED_MEMORY: "B", REGISTERS: "", MULTIPROCESSORS: ""}
"""What is known of a part besides its rates, and in which unit."""

_ALWAYS_SHOWN = (("float16", True), ("bfloat16", True), ("float32", False))
_TF32_NOTE = "products of float32 may run as TF32, which is what Triton does unless asked for another precision"


@dataclass(frozen=True)
class Rate:
    """The peak rate of one kind of arithmetic, for dense operands; a multiplication with its addition counts as two.

    `operands` is torch's name of their dtype, "float8" for all floats of 8 bits, or "tfloat32". `accumulator` is the
    dtype that sums are kept in, None where the source does not say. Without `is_matrix` it is that of plain
    instructions, outside matrix units.
    """

    operands: str
    accumulator: str | None
    is_matrix: bool
    figure: Figure


@dataclass(frozen=True)
class Part:
    """A GPU as it is sold. `devices` are the names that torch gives it; `target` is what Triton compiles for."""

    name: str
    title: str
    target: str | None = None
    devices: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    rates: tuple[Rate, ...] = ()

    def figure(self, name: str) -> Figure:
        """The figure of that name, such as `BANDWIDTH`; its value is None where no source was found."""
        return next((figure for figure in self.figures if figure.name == name), Figure(name, None, UNITS[name]))

    @property
    def cache(self) -> Figure:
        """The last cache before DRAM."""
        third = self.figure(L3)
        return self.figure(L2) if third.value is None else third

    def rate(self, dtype: str, is_matrix: bool) -> Figure:
        """The peak rate for operands of a dtype, by torch's name; of matrix products with sums of float32 if known.

        Products of float32 have the rate of TF32 where the part has it. The value is None where no source was found.
        """
        operands = _operands(dtype)
        if is_matrix and operands == "float32" and (reduced := self._fitting("tfloat32", is_matrix)):
            return replace(reduced[0].figure, note="; ".join(filter(None, (reduced[0].figure.note, _TF32_NOTE))))
        fitting = self._fitting(operands, is_matrix)
        return fitting[0].figure if fitting else Figure(rate_name(operands, None, is_matrix), None, "TFLOP/s")

    def _fitting(self, operands: str, is_matrix: bool) -> list[Rate]:
        fitting = [rate for rate in self.rates if (rate.operands, rate.is_matrix) == (operands, is_matrix)]
        return sorted(fitting, key=lambda rate: ("float32", None).index(rate.accumulator) if _is_wide(rate) else 2)

    def roofline(self, work: Work, milliseconds: float | None = None) -> Roofline:
        """What the part can do at best of some work, and how near the time that it took came to that."""
        rate = self.rate(work.dtype, work.is_matrix)
        return Roofline(work, self.figure(BANDWIDTH), rate, milliseconds, self.cache, self._faster(work, rate))

    def _faster(self, work: Work, rate: Figure) -> Figure | None:
        """The rate with less precise sums, where there is one and it is higher."""
        same = (other.figure for other in self._fitting(_operands(work.dtype), work.is_matrix))
        fastest = max(same, key=lambda figure: figure.value or 0.0, default=rate)
        return fastest if rate.value is not None and (fastest.value or 0.0) > rate.value else None

    @property
    def shown(self) -> tuple[Figure, ...]:
        """Every figure that a report shows, also those that are unknown but asked for."""
        plain = tuple(self.figure(name) for name in UNITS if name != L3 or self.figure(name).value is not None)
        missing = (self.rate(dtype, is_matrix) for dtype, is_matrix in _ALWAYS_SHOWN)
        return (*plain, *(rate.figure for rate in self.rates), *(figure for figure in missing if figure.value is None))


def _operands(dtype: str) -> str:
    return "float8" if dtype.startswith("float8_") else dtype


def _is_wide(rate: Rate) -> bool:
    return rate.accumulator in ("float32", None)


def rate_name(operands: str, accumulator: str | None, is_matrix: bool) -> str:
    """What a report calls a rate: "matrix rate, float16 into float32"."""
    return f"{'matrix' if is_matrix else 'vector'} rate, {operands}{f' into {accumulator}' if accumulator else ''}"


def known_parts(file: Path | None = None) -> Mapping[str, Part]:
    """The parts by their names, with those of the user's file, which come first and replace ours of the same name.

    Raises PartFileError for a file that cannot be used.
    """
    if file is None:
        return _ours()
    from tritonaudit.hardware.part_file import read_part_file

    return {**(theirs := read_part_file(file)), **{name: part for name, part in _ours().items() if name not in theirs}}


@cache
def _ours() -> Mapping[str, Part]:
    from tritonaudit.hardware.part_file import parse_parts

    return parse_parts(files(__package__).joinpath("parts.json").read_text("utf-8"), "parts.json")


def part_named(name: str, parts: Mapping[str, Part]) -> Part:
    """The part of that name, or that torch calls so, whatever the case; ValueError names the known ones."""
    by_name = {known.lower(): part for known, part in parts.items()}
    by_device = {device.lower(): part for part in parts.values() for device in part.devices}
    if part := by_name.get(name.lower()) or by_device.get(name.lower()):
        return part
    close = difflib.get_close_matches(name.lower(), by_name, 1, cutoff=0.6)
    hint = f"; did you mean {by_name[close[0]].name!r}?" if close else "."
    raise ValueError(f"there is no part {name!r}{hint} Known are {', '.join(parts)}.")


def part_of_device(device: str, parts: Mapping[str, Part]) -> Part:
    """The part that torch calls so; one of which nothing is known where the name is not in the table.

    Names are compared as a whole: a slice of a GPU, "… MIG 1g.10gb", is not that GPU.
    """
    known = (part for part in parts.values() if device in part.devices)
    return next(known, Part(device, f"{device}, of which nothing is known", devices=(device,)))


def target_figures(target: str) -> tuple[Figure, ...]:
    """What all parts of a target have in common: shared memory and registers of a multiprocessor."""
    from tritonaudit.hardware.targets import gpu_target

    gpu = gpu_target(target)
    found: tuple[tuple[str, int | None, Source | None], ...] = (
        (SHARED_MEMORY, gpu.shared_per_multiprocessor, gpu.sources.get("shared_per_multiprocessor")),
        (REGISTERS, gpu.registers_per_multiprocessor, gpu.sources.get("registers_per_multiprocessor")),
    )
    return tuple(
        Figure(name, float(value), UNITS[name], source, note=f"that of every {target}")
        for name, value, source in found
        if value is not None and source is not None
    )
