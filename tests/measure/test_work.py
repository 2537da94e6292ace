"""The work of a case: operations and bytes, counted by hand here."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="work is counted on torch's tensors")
F: Any = torch.nn.functional

from tritonaudit.measure.work import GIVEN, count  # noqa: E402
from tritonaudit.subject.model import Case, Layout, Subject, Tensor  # noqa: E402


def launched(*_: Any, **__: Any) -> Any:
    raise RuntimeError("a kernel is launched")


def of(reference: Any, inputs: list[Any], case: Case, **keywords: Any) -> Any:
    return count(Subject(launched, reference=reference, inputs=inputs, **keywords), case)


def test_an_elementwise_operation_has_bytes_alone() -> None:
    work = of(torch.add, [Tensor("n"), Tensor("n")], Case({"n": 1000}))
    assert (work.flops, work.bytes, work.written) == (0, 12000, 4000)
    assert (work.dtype, work.is_matrix) == ("float32", False)


def test_a_product_of_matrices() -> None:
    work = of(torch.matmul, [Tensor("m", "k"), Tensor("k", "n")], Case({"m": 64, "k": 32, "n": 16}, "float16"))
    assert work.flops == 2 * 64 * 32 * 16
    assert work.bytes == 2 * (64 * 32 + 32 * 16 + 64 * 16)
    assert (work.dtype, work.is_matrix) == ("float16", True)
    assert work.flops_source.startswith("counted by torch.utils.flop_counter")


def test_a_product_that_the_reference_widens_may_be_of_the_inputs_dtype() -> None:
    def reference(a: Any, b: Any) -> Any:
        return (a.float() @ b.float()).to(a.dtype)

    inputs = [Tensor(64, 32), Tensor(32, 16)]
    assert of(reference, inputs, Case(dtype="bfloat16")).dtype == "bfloat16"
    assert of(reference, [Tensor(64, 32, dtype="float8_e4m3fn"), Tensor(32, 16)], Case()).dtype == "float8_e4m3fn"


@pytest.mark.parametrize(("is_causal", "flops"), [(False, 4 * 6 * 128 * 128 * 64), (True, 2 * 6 * 128 * 128 * 64)])
def test_causal_attention_is_half(is_causal: bool, flops: int) -> None:
    def reference(q: Any, k: Any, v: Any) -> Any:
        return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)

    work = of(reference, [Tensor(2, 3, "s", 64)] * 3, Case({"s": 128}, "float16"))
    assert (work.flops, work.bytes) == (flops, 4 * 2 * 6 * 128 * 64)
    assert work.flops_source.endswith("half") is is_causal


def test_the_backward_pass_of_causal_attention_is_left_to_the_subject() -> None:
    def reference(q: Any) -> Any:
        return F.scaled_dot_product_attention(q, q, q, is_causal=True)

    work = of(reference, [Tensor(2, 3, 16, 64)], Case(), gradients=True)
    assert work.flops is None
    assert "give `flops`" in work.flops_source
    assert work.bytes == 4 * 4 * 6 * 16 * 64


def test_the_backward_pass_reads_and_writes_gradients() -> None:
    """Read: the input and the result's gradient; written: the result and the input's gradient."""
    work = of(lambda x: F.softmax(x, -1), [Tensor("rows", "cols")], Case({"rows": 10, "cols": 100}), gradients=True)
    assert (work.bytes, work.written) == (4 * 4000, 2 * 4000)


def test_of_a_table_only_what_is_looked_up() -> None:
    inputs = [Tensor("tokens", dtype="int64", high="vocab"), Tensor("vocab", "hidden")]
    work = of(F.embedding, inputs, Case({"tokens": 10, "vocab": 1000, "hidden": 64}))
    assert work.bytes == 80 + 10 * 64 * 4 + 10 * 64 * 4


@pytest.mark.parametrize(
    ("reference", "elements"),
    [
        (lambda x: x[:, :10].clone(), 100 + 100),
        (lambda x: x[0] + x[1], 200 + 100),
        (lambda x: torch.softmax(x, 0) + x + x, 1000 + 1000),
        (lambda x: torch.zeros_like(x), 1000),
        (lambda x: x.t(), 0),
    ],
)
def test_each_byte_that_is_used_counts_once(reference: Any, elements: int) -> None:
    assert of(reference, [Tensor(10, 100)], Case()).bytes == 4 * elements


def test_an_expanded_tensor_is_as_large_as_its_memory() -> None:
    work = of(torch.add, [Tensor("n", 100), Tensor("n", 100)], Case({"n": 10}, layout=Layout.EXPANDED))
    assert work.bytes == 4 * (100 + 100 + 1000)


def test_what_is_changed_in_place_is_read_and_written() -> None:
    work = of(lambda x: x.add_(1), [Tensor(10, 100)], Case(), mutates=[0])
    assert (work.bytes, work.written) == (8000, 4000)


def test_what_is_only_overwritten_is_not_read() -> None:
    work = of(lambda x, out: out.copy_(x), [Tensor(10, 100), Tensor(10, 100)], Case(), mutates=[1])
    assert (work.bytes, work.written) == (8000, 4000)


def test_parameters_of_a_module_are_read_too() -> None:
    work = of(torch.nn.Linear(32, 16), [Tensor("m", 32)], Case({"m": 64}))
    assert work.bytes == 4 * (64 * 32 + 32 * 16 + 16 + 64 * 16)


def test_a_reference_that_reads_values_is_run_on_real_tensors() -> None:
    work = of(lambda x: x * float(x.sum()), [Tensor(10, 100)], Case(device="cpu"))
    assert work.bytes == 8000


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU to run it on")
def test_where_it_cannot_be_run_nothing_is_known() -> None:
    work = of(lambda x: x * float(x.sum()), [Tensor(10, 100)], Case())
    assert (work.flops, work.bytes, work.written) == (None, None, None)
    assert work.bytes_source.startswith("on tensors without data the reference raised")


def test_a_table_of_8_gigabytes_takes_no_memory_to_count() -> None:
    assert of(torch.add, [Tensor("n"), Tensor("n")], Case({"n": 1 << 31})).bytes == 3 * 4 * (1 << 31)


def test_what_the_subject_gives_goes_before_what_is_counted() -> None:
    given = {"flops": lambda case: 5 * case["n"], "bytes": lambda case: 7.0}
    work = of(torch.add, [Tensor("n"), Tensor("n")], Case({"n": 1000}, "float16"), **given)
    assert (work.flops, work.flops_source, work.bytes, work.bytes_source) == (5000, GIVEN, 7, GIVEN)
    assert (work.dtype, work.is_matrix, work.written) == ("float32", False, None)


@pytest.mark.parametrize("flops", [lambda case: -1, lambda case: float("nan"), lambda case: case["m"]])
def test_what_the_subject_gives_is_a_number(flops: Any) -> None:
    work = of(torch.add, [Tensor("n"), Tensor("n")], Case({"n": 10}), flops=flops)
    assert (work.flops, work.bytes) == (None, 120)
    assert work.flops_source.startswith("the subject's `flops` ")


def test_without_a_reference_the_wrapper_shows_what_is_returned() -> None:
    subject = Subject(lambda x: torch.empty_like(x), inputs=[Tensor(10, 100)])
    work = count(subject, Case())
    assert (work.flops, work.bytes, work.written) == (None, 8000, 4000)
    assert work.flops_source == "there is no reference to count them in"
