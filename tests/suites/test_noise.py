"""By how much tensors are off."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from tritonaudit.suites.noise import Noise, Shared, perturb  # noqa: E402


def test_perturbed_tensors_move_by_a_rounding() -> None:
    tensors = [torch.ones(10_000), torch.ones(10_000, dtype=torch.float64), torch.arange(3), torch.ones(4).half()]
    single, double, integers, half = perturb(tensors, Noise(0))
    assert {single.dtype, double.dtype, half.dtype} == {torch.float64}
    assert (single - 1).std().item() == pytest.approx(2**-24, rel=0.05)
    assert (double - 1).std().item() == pytest.approx(2**-53, rel=0.5)
    assert integers.tolist() == [0, 1, 2]
    assert torch.equal(single, perturb(tensors, Noise(0))[0])
    assert not torch.equal(single, perturb(tensors, Noise(2))[0])


def test_perturbations_come_in_pairs_of_opposite_direction() -> None:
    ones = torch.ones(100)
    (there,), (back,) = perturb([ones], Noise(4)), perturb([ones], Noise(5))
    assert torch.allclose(there - 1, 1 - back, rtol=1e-6, atol=0)


def test_perturbed_complex_numbers() -> None:
    (moved,) = perturb([torch.tensor([1 + 1j, 0j])], Noise(0))
    assert moved.dtype == torch.complex128
    assert moved[1] == 0
    assert 0 < abs(moved[0] - (1 + 1j)) < 1e-6


def test_numbers_of_8_bits_are_off_by_what_tensor_cores_keep() -> None:
    (moved,) = perturb([torch.ones(10_000).to(torch.float8_e5m2)], Noise(0))
    assert (moved - 1).std().item() == pytest.approx(2**-14, rel=0.05)


def test_what_is_shared_is_off_by_the_same() -> None:
    ones = torch.ones(20, 30)
    (rows,), (columns,) = perturb([ones], Noise(0, Shared.ROWS)), perturb([ones], Noise(0, Shared.COLUMNS))
    assert torch.equal(rows, rows[:1].expand(20, 30))
    assert len(rows[0].unique()) == 30
    assert torch.equal(columns, columns[:, :1].expand(20, 30))
    assert len(columns[:, 0].unique()) == 20


def test_noise_of_one_tensor_leaves_the_others() -> None:
    one, other = perturb([torch.ones(9), torch.ones(9)], Noise(0, only=1))
    assert torch.equal(one, torch.ones(9, dtype=torch.float64))
    assert not torch.equal(other, one)


def test_equal_numbers_are_off_by_the_same_in_whichever_tensor() -> None:
    few, many = torch.tensor([1.5, 2.0, 1.5, 0.0, -0.0]), torch.arange(10_000) + 1.5
    moved, beside = perturb([few, many], Noise(0, Shared.EQUALS))
    assert moved[0] == moved[2] == beside[0] != 1.5
    assert moved[3:].tolist() == [0, 0]
    assert (beside / many - 1).std().item() == pytest.approx(2**-24, rel=0.05)
    assert not torch.equal(moved, perturb([few], Noise(2, Shared.EQUALS))[0])


def test_rows_of_one_number_are_off_by_what_does_not_cancel() -> None:
    (moved,) = perturb([torch.ones(2, 30)], Noise(0, Shared.EQUALS))
    assert len(moved.unique()) > 30
