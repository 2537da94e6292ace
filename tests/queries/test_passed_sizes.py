"""What launches pass for a parameter that is a size of a tensor."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flows
from tritonaudit.domains.facts import KernelFlow
from tritonaudit.kernel.launch import Origin
from tritonaudit.queries.passed_sizes import may_be_one, rounded_beside, sizes_passed

KERNEL = """\
@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, 1)


def run(x, n, m):
    {lines}
    {call}
"""
MATRIX = "M, N = x.shape"


def flow(given: str, *lines: str, call: str = "kernel[(1,)](x, {})") -> KernelFlow:
    shown = "\n    ".join(lines or ("pass",))
    (found,) = flows(KERNEL.format(lines=shown, call=call.format(given)))
    return found


def launched_by_another(given: str, *lines: str) -> KernelFlow:
    """The same launch, in a function of its own that is handed what it passes."""
    return flow(given, *lines, call="launched(x, {})\n\n\ndef launched(x, n, block):\n    kernel[(1,)](x, n, block)")


@pytest.mark.parametrize(
    ("given", "rounded"),
    [
        ("n, triton.next_power_of_2(n)", True),
        ("n, min(128, triton.next_power_of_2(n))", True),
        ("n, block", True),
        ("M, triton.next_power_of_2(x.shape[0])", True),
        ("n, triton.next_power_of_2(m)", False),
        ("n, triton.next_power_of_2(n - 1)", False),
        ("64, triton.next_power_of_2(64)", False),
        ("n, 64", False),
    ],
)
def test_what_a_launch_rounds_up_for_another_parameter_is_known(given: str, rounded: bool) -> None:
    for made in (flow, launched_by_another):
        found = rounded_beside(made(given, MATRIX, "block = triton.next_power_of_2(n)"), "n")
        assert (found is not None) is rounded


@pytest.mark.parametrize(
    ("given", "origins"),
    [
        ("0, M", [Origin.SIZE]),
        ("0, N", [Origin.LAST_SIZE]),
        ("0, x.size(0)", [Origin.SIZE]),
        ("0, x.numel()", []),
        ("0, len(m)", [Origin.SIZE]),
        ("0, triton.cdiv(M, 4)", [Origin.SIZE]),
        ("0, min(M, 128)", [Origin.SIZE]),
        ("0, max(M, 16)", []),
        ("0, triton.next_power_of_2(M)", []),
        ("0, n", []),
        ("0, 96", []),
    ],
)
def test_a_size_of_a_tensor_is_one_however_it_gets_to_the_launch(given: str, origins: list[Origin]) -> None:
    for made in (flow, launched_by_another):
        assert [one.origin for one in sizes_passed(made(given, MATRIX), "BLOCK")] == origins


@pytest.mark.parametrize(
    ("given", "lines", "expected"),
    [
        ("M", (MATRIX,), True),
        ("x.stride(0)", (), True),
        ("x.stride(-1)", ("x = x.contiguous()",), True),
        ("x.numel()", (), True),
        ("M * N", (MATRIX,), True),
        ("M", (MATRIX, "assert M > 1"), False),
        ("M + 1", (MATRIX,), False),
        ("2 * M", (MATRIX,), False),
        ("n", (), False),
        ("64", (), False),
    ],
)
def test_sizes_and_strides_may_be_one(given: str, lines: tuple[str, ...], expected: bool) -> None:
    for made in (flow, launched_by_another):
        assert may_be_one(made(f"{given}, 64", *lines), "n") is expected
