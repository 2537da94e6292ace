"""What the installed Triton complains about is explained, in whichever words this version has for it."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="torch names the types of the tensors")
pytest.importorskip("triton", reason="triton compiles the kernels")

import torch
from triton.backends.compiler import GPUTarget

from tests.compile import rejected
from tests.compile.programs import VERSION, Pointer, source_of
from tritonaudit.capture.front_end import build
from tritonaudit.capture.launch import SourceError
from tritonaudit.compile.explanations import explain
from tritonaudit.hardware.targets import gpu_target

SILENT = pytest.mark.skipif(VERSION < (3, 4), reason="the front end of this Triton says nothing")
CRASHES = pytest.mark.skipif(VERSION < (3, 4), reason="the front end of this Triton crashes")


def complaint(kernel: str, target: str = "sm_80") -> str:
    """What the front end says against the kernel."""
    function = getattr(rejected, kernel)
    given = {"src": Pointer(torch.float16), "dst": Pointer(torch.float32), "n": 7, "BLOCK": 64}
    arguments = {name: value for name, value in given.items() if name in function.arg_names}
    source, options = source_of(function, target, **arguments)
    found = gpu_target(target)
    error = build(source, GPUTarget(found.backend, found.arch, found.warp_size), target, dict(options)).outcome
    assert isinstance(error, SourceError), "it compiles"
    return error.message


@pytest.mark.parametrize(
    ("kernel", "remedy"),
    [
        ("odd_range", "round the size up"),
        ("odd_shape", "round the size up"),
        ("runtime_range", "annotate the parameter with `tl.constexpr`"),
        ("huge_block", "use a smaller tile"),
        ("shapes_that_differ", "add the missing axis"),
        ("dot_of_two_types", "cast one of them"),
        ("dot_too_small", "use a larger tile"),
        ("carried_type", "give it that type at the start"),
        ("branch_types", "cast in one of the branches"),
        ("plain_global", "tl.constexpr(value)"),
        ("half_exponential", "cast its operand first"),
        ("loop_with_break", "masks"),
        pytest.param("stored_item", "masks", marks=SILENT),
        pytest.param("truth_of_a_block", "use `tl.where` or a mask", marks=CRASHES),
        ("invented_name", "see which versions have it"),
        ("host_function", "decorate a function with `@triton.jit`"),
    ],
)
def test_a_complaint_is_explained(kernel: str, remedy: str) -> None:
    message = complaint(kernel)
    explanation = explain(message)
    assert explanation is not None, message
    assert remedy in explanation.remedy, message
    assert not explanation.is_hardware
    assert not explanation.prunes


def test_a_type_that_the_hardware_lacks() -> None:
    message = complaint("eight_bits")
    explanation = explain(message)
    assert explanation is not None, message
    assert explanation.is_hardware


def test_a_failed_assertion_is_passed_over_by_an_autotuner() -> None:
    message = complaint("failed_assertion")
    explanation = explain(message)
    assert explanation is not None, message
    assert explanation.prunes
    assert "the tile is too small" in message


def test_what_is_not_known_is_not_explained() -> None:
    assert explain("something else") is None
