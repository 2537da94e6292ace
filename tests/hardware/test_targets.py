"""The figures of targets: complete, sourced, and in agreement with each other."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from tritonaudit.hardware.targets import DEFAULT_TARGETS, GpuTarget, gpu_target, known_targets, unsupported

FIGURES = [f.name for f in fields(GpuTarget) if f.name not in {"name", "backend", "arch", "sources"}]


@pytest.mark.parametrize("name", known_targets())
def test_every_figure_has_a_source(name: str) -> None:
    target = gpu_target(name)
    given = {figure for figure in FIGURES if getattr(target, figure)}
    assert given <= set(target.sources)
    assert all(source.document and source.place and source.quote for source in target.sources.values())


@pytest.mark.parametrize("name", known_targets())
def test_figures_agree(name: str) -> None:
    """A block's shared memory is the multiprocessor's less what is reserved, which NVIDIA's guide says of each."""
    target = gpu_target(name)
    assert target.shared_per_block is not None
    assert target.shared_per_multiprocessor is not None
    assert target.shared_reserved_per_block is not None
    assert target.registers_per_multiprocessor is not None
    assert target.partitions is not None
    assert target.shared_per_block + target.shared_reserved_per_block == target.shared_per_multiprocessor
    assert target.registers_per_multiprocessor % (target.partitions * target.warp_size) == 0


@pytest.mark.parametrize(
    ("name", "shared", "warps", "blocks"),
    [
        ("sm_75", 64, 32, 16),
        ("sm_80", 163, 64, 32),
        ("sm_86", 99, 48, 16),
        ("sm_90", 227, 64, 32),
        ("gfx950", 160, 32, 16),
    ],
)
def test_figures_as_the_manuals_tell_them(name: str, shared: int, warps: int, blocks: int) -> None:
    target = gpu_target(name)
    assert target.shared_per_block == shared * 1024
    assert (target.warps_per_multiprocessor, target.blocks_per_multiprocessor) == (warps, blocks)


def test_figures_agree_with_the_occupancy_header_that_triton_ships() -> None:
    """cuda_occupancy.h stands in Triton's wheels: its switch over compute capabilities tells the blocks."""
    triton = pytest.importorskip("triton")
    header = Path(triton.__file__).parent / "backends" / "nvidia" / "include" / "cuda_occupancy.h"
    if not header.exists() or "case 12:" not in header.read_text():
        pytest.skip("this version of Triton ships no header that knows all targets")
    text = header.read_text()
    granularity = text[text.index("cudaOccRegAllocationGranularity(") :].split("return CUDA_OCC_SUCCESS")[0]
    assert {gpu_target(name).register_unit for name in known_targets() if name.startswith("sm_")} == {256}
    assert granularity.count("value = ") == granularity.count("value = 256") == 1


def test_the_default_targets_are_known() -> None:
    assert set(DEFAULT_TARGETS) <= set(known_targets())


@pytest.mark.parametrize(("wrong", "meant"), [("sm90", "sm_90"), ("SM_100", "sm_100"), ("gfx943", "gfx942")])
def test_an_unknown_target_is_reported_with_the_one_that_was_meant(wrong: str, meant: str) -> None:
    with pytest.raises(ValueError, match=f"there is no target '{wrong}'; did you mean '{meant}'\\? Known are sm_75, "):
        gpu_target(wrong)


def test_a_target_like_no_other_gets_no_guess() -> None:
    with pytest.raises(ValueError, match="there is no target 'tpu'\\. Known are"):
        gpu_target("tpu")


@pytest.mark.parametrize(
    ("target", "version", "supported"),
    [
        ("sm_100", "3.2.0", False),
        ("sm_100", "3.3.1", True),
        ("sm_103", "3.3.1", False),
        ("sm_103", "3.6.0", True),
        ("sm_120", "3.2.0", False),
        ("sm_90", "3.2.0", True),
        ("gfx942", "3.2.0", True),
    ],
)
def test_which_version_compiles_for_which_target(target: str, version: str, supported: bool) -> None:
    reason = unsupported(target, version)
    assert (reason is None) == supported
    assert supported or f"Triton {version} cannot compile for {target}: " in (reason or "")
