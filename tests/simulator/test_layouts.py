"""Which thread holds which element: as Triton itself converts its layouts to linear ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton.experimental.gluon", reason="Triton's layouts are made by Gluon")

from triton._C.libtriton import gluon_ir, ir
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import make_backend
from triton.experimental.gluon.language import BlockedLayout, NVMMADistributedLayout, SliceLayout

from tritonaudit.simulator.layouts import Axis, Layouts

pytestmark = pytest.mark.skipif(
    not hasattr(gluon_ir.GluonOpBuilder, "to_linear_layout"), reason="this Triton does not convert layouts for Python"
)

BLOCKED = [
    BlockedLayout([1, 4], [2, 16], [4, 1], [1, 0]),
    BlockedLayout([1, 4], [2, 16], [2, 2], [0, 1]),
    BlockedLayout([1, 1], [32, 1], [1, 8], [1, 0]),
    BlockedLayout([4, 4], [1, 32], [1, 8], [1, 0]),
]
SUMS_OF_PRODUCTS = [
    NVMMADistributedLayout([2, 0], [2, 2], [16, 8]),
    NVMMADistributedLayout([2, 0], [4, 1], [16, 8]),
    NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16]),
    NVMMADistributedLayout([3, 0], [4, 2], [16, 32, 16]),
    NVMMADistributedLayout([3, 0], [8, 1], [16, 64, 16]),
]


@pytest.fixture(scope="module")
def builder() -> Iterator[Any]:
    context = ir.context()
    ir.load_dialects(context)
    make_backend(GPUTarget("cuda", 90, 32)).load_dialects(context)
    yield gluon_ir.GluonOpBuilder(context)
    del context  # which lives for as long as the builder


def text(layout: Any) -> str:
    """As TTGIR says it."""
    if isinstance(layout, SliceLayout):
        return f"#ttg.slice<{{dim = {layout.dim}, parent = {text(layout.parent)}}}>"
    if isinstance(layout, BlockedLayout):
        fields = {
            "sizePerThread": layout.size_per_thread,
            "threadsPerWarp": layout.threads_per_warp,
            "warpsPerCTA": layout.warps_per_cta,
            "order": layout.order,
        }
        return f"#ttg.blocked<{{{', '.join(f'{name} = {value}' for name, value in fields.items())}}}>"
    major, minor = layout.version
    rest = f"warpsPerCTA = {layout.warps_per_cta}, instrShape = {layout.instr_shape}"
    return f"#ttg.nvidia_mma<{{versionMajor = {major}, versionMinor = {minor}, {rest}}}>"


@pytest.mark.parametrize("layout", [*BLOCKED, *SUMS_OF_PRODUCTS], ids=text)
@pytest.mark.parametrize("shape", [(32, 256), (16, 16), (64, 64), (256, 32)], ids=str)
def test_a_layout_is_the_linear_one_that_triton_makes_of_it(builder: Any, layout: Any, shape: tuple[int, int]) -> None:
    for each, size in [
        (layout, shape),
        (SliceLayout(0, layout), shape[1:]),
        (SliceLayout(1, layout), shape[:1]),
    ]:
        linear = builder.to_linear_layout(each._to_ir(builder), list(size))
        found = Layouts("").of(text(each), size)
        assert found is not None
        assert found.registers == tuple(map(tuple, linear.reg_bases))
        assert found.lanes == tuple(map(tuple, linear.lane_bases))
        assert found.warps == tuple(map(tuple, linear.warp_bases))


def test_layouts_with_more_axes(builder: Any) -> None:
    for layout, shape in [
        (BlockedLayout([1, 2, 4], [2, 4, 4], [2, 2, 1], [2, 1, 0]), (8, 16, 32)),
        (NVMMADistributedLayout([2, 0], [1, 2, 2], [1, 16, 8]), (2, 64, 64)),
    ]:
        linear = builder.to_linear_layout(layout._to_ir(builder), list(shape))
        found = Layouts("").of(text(layout), shape)
        assert found is not None
        assert found.registers == tuple(map(tuple, linear.reg_bases))


def test_an_alias_and_a_linear_layout_are_read() -> None:
    aliases = "#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>\n"
    layout = Layouts(aliases).of("#blocked", [1024])
    assert layout is not None
    assert layout.along(0) == Axis((0, 1, 9), (2, 3, 4, 5, 6), (7, 8))
    linear = "#ttg.linear<{register = [[0, 1], [8, 0]], lane = [[0, 2], [1, 0]], warp = [[2, 0], [4, 0]], block = []}>"
    layout = Layouts("").of(linear, [16, 4])
    assert layout is not None
    assert layout.along(0) == Axis((3,), (0,), (1, 2))


def test_what_is_not_understood_has_no_layout() -> None:
    assert Layouts("").of("#ttg.amd_mfma<{version = 3}>", [64, 64]) is None
    mixed = "#ttg.linear<{register = [[1, 1]], lane = [[0, 1]], warp = [], block = []}>"
    layout = Layouts("").of(mixed, [2, 2])
    assert layout is not None
    assert layout.along(1) is None
