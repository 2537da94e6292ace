"""Which numbers of a launch are taken for those of the GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from tritonaudit.config import Config
from tritonaudit.engine import check_text

KERNEL = """import torch
import triton
import triton.language as tl
{head}

@triton.jit
def kernel(x_ptr, n, NUM_SMS: tl.constexpr):
    tl.store(x_ptr + tl.program_id(0), NUM_SMS, mask=tl.program_id(0) < n)


def wrapper(x{parameter}):
    {body}
"""


def found(body: str, head: str = "", parameter: str = "", path: str = "kernel.py") -> list[str]:
    text = KERNEL.format(head=head, parameter=parameter, body=body.replace("\n", "\n    "))
    config = Config(Path("/nowhere"), select=("TAB",))
    return [
        finding.message.split("`")[1] for finding in check_text(text.encode(), Path("/nowhere", path), config).findings
    ]


@pytest.mark.parametrize(
    "name", ["num_sms", "SM_COUNT", "n_sm", "multiprocessor_count", "_NUM_CUS", "compute_units_count"]
)
def test_names_of_multiprocessors(name: str) -> None:
    assert found(f"{name} = 80\nkernel[({name},)](x, 1, {name})") == [name]


@pytest.mark.parametrize("name", ["num_slots", "sum_count", "small", "num_smooth", "sm_scale", "items"])
def test_other_names(name: str) -> None:
    assert not found(f"{name} = 80\nkernel[({name},)](x, 1, {name})")


def test_what_a_name_is_computed_from() -> None:
    assert found("num_sms = 80\nprograms = num_sms * 4\ngrid = (min(programs, 9),)\nkernel[grid](x, 1, 4)") == [
        "num_sms"
    ]


def test_a_fallback_is_not_the_only_value() -> None:
    asked = "num_sms = torch.cuda.get_device_properties(0).multi_processor_count"
    assert not found(f"try:\n    {asked}\nexcept Exception:\n    num_sms = 80\nkernel[(num_sms,)](x, 1, 4)")
    assert not found("kernel[(NUM_SMS,)](x, 1, 4)", head="NUM_SMS = 80\nif torch.version.hip:\n    NUM_SMS = 304")
    assert found("kernel[(NUM_SMS,)](x, 1, 4)", head="NUM_SMS = 80") == ["NUM_SMS"]


def test_a_parameter_hides_the_name_of_the_file() -> None:
    assert not found("kernel[(NUM_SMS,)](x, 1, 4)", head="NUM_SMS = 80", parameter=", NUM_SMS")


@pytest.mark.parametrize(("call", "is_found"), [("wrapper(x)", True), ("wrapper(x, 7)", False), ("other(x)", False)])
def test_a_default_counts_where_a_call_takes_it(call: str, is_found: bool) -> None:
    head = f"\n\ndef caller(x):\n    return {call}\n"
    assert bool(found("kernel[(num_sms,)](x, 1, num_sms)", head=head, parameter=", num_sms=80")) is is_found


def test_files_of_another_maker_may_be_for_one_device() -> None:
    assert not found("num_sms = 40\nkernel[(num_sms,)](x, 1, 4)", path="_ascend/kernel.py")
