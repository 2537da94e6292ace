"""Whether what is followed between launches says who made the elements of a result."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch", reason="torch holds the tensors")

from tritonaudit.capture.launch import KernelRef, Launch  # noqa: E402
from tritonaudit.suites.calling import Observed, Ran  # noqa: E402
from tritonaudit.suites.provenance import Origin, Provenance  # noqa: E402
from tritonaudit.suites.snapshots import bytes_of  # noqa: E402


def made_by(function: Callable[[torch.Tensor, Observed], torch.Tensor], device: str = "cpu") -> set[Origin]:
    """Who made the elements of what a function gives for a tensor, as far as is seen while memory is watched."""
    x, observed = torch.arange(64.0, device=device), Observed()
    provenance = Provenance(observed, [x], is_watched=True)
    with provenance:
        result = function(x, observed)
    return {Origin(int(number)) for number in provenance.origins(result).unique()}


def launched(observed: Observed, out: torch.Tensor) -> None:
    """As a GPU has it: which storages the launch writes is known, and what it has left in them."""
    address = out.untyped_storage().data_ptr()
    launch = Launch(KernelRef("kernels.py", "kernel", 1), "sm_90", "", "", (1, 1, 1), (), (), ())
    left = {address: bytes_of(out.untyped_storage()).clone()}
    observed.ran.append(Ran(launch, written={address: ("kernels.py", 1, 1)}, left=left))


def in_another_process(write: Callable[[], object]) -> None:
    child = os.fork()
    if not child:
        try:
            write()
        finally:
            os._exit(0)
    os.waitpid(child, 0)


class OfOneProcess(list[Ran]):
    """Launches on a GPU, at which no process forked since can look."""

    def __init__(self) -> None:
        self.process = os.getpid()

    def __len__(self) -> int:
        assert os.getpid() == self.process
        return super().__len__()


def test_another_process_is_not_kept_from_its_work() -> None:
    x, observed, out = torch.arange(64.0), Observed(), torch.zeros(64).share_memory_()
    observed.ran = OfOneProcess()
    with Provenance(observed, [x], is_watched=True):
        in_another_process(lambda: out.copy_(2 * x))
    assert out.equal(2 * x)


def test_what_another_process_puts_into_shared_memory_is_nobodys() -> None:
    def computed_elsewhere(x: torch.Tensor, _: Observed) -> torch.Tensor:
        out = torch.zeros(64).share_memory_()
        in_another_process(lambda: out.numpy().__setitem__(..., 2 * x.numpy()))
        return out.clone()

    assert made_by(computed_elsewhere) == {Origin.ALTERED}


def test_so_is_what_it_puts_over_what_a_kernel_has_left() -> None:
    def computed_elsewhere(x: torch.Tensor, observed: Observed) -> torch.Tensor:
        out = torch.zeros(64).share_memory_()
        launched(observed, out)
        in_another_process(lambda: out.numpy()[:32].__setitem__(..., 1 + x.numpy()[:32]))
        return out.clone()

    assert made_by(computed_elsewhere) == {Origin.ALTERED, Origin.KERNEL}


def test_so_is_what_it_puts_into_memory_that_nobody_else_has_written() -> None:
    def computed_elsewhere(x: torch.Tensor, _: Observed) -> torch.Tensor:
        out = torch.empty(64)
        out.numpy()[...] = 2 * x.numpy()
        return out.clone()

    assert made_by(computed_elsewhere) == {Origin.ALTERED}


def test_memory_that_nobody_has_written_is_empty() -> None:
    assert made_by(lambda x, _: torch.empty_like(x).clone()) == {Origin.EMPTY}


def test_memory_that_a_launch_alone_has_written_is_the_kernels() -> None:
    def by_a_launch(x: torch.Tensor, observed: Observed) -> torch.Tensor:
        out = torch.empty(64)
        out.numpy()[...] = 2 * x.numpy()  # in the kernel's place
        launched(observed, out)
        return out.clone()

    assert made_by(by_a_launch) == {Origin.KERNEL}


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16])
def test_what_is_made_of_it_elsewhere_is_nobodys_where_a_kernel_has_run_beside_it(dtype: torch.dtype) -> None:
    def moved(x: torch.Tensor, observed: Observed) -> torch.Tensor:
        out = torch.zeros(64).share_memory_()
        launched(observed, torch.empty_like(x))
        in_another_process(lambda: out.numpy().__setitem__(..., 2 * x.numpy()))
        return out.to(dtype)

    assert made_by(moved) == {Origin.ALTERED}


ON_GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU: nothing is copied to one")


@ON_GPU
@pytest.mark.parametrize("copied", [lambda out: out, torch.clone])
def test_so_is_what_is_copied_from_there_to_a_gpu(copied: Callable[[torch.Tensor], torch.Tensor]) -> None:
    def computed_elsewhere(x: torch.Tensor, observed: Observed) -> torch.Tensor:
        out, host = torch.zeros(64).share_memory_(), x.cpu()
        launched(observed, torch.empty_like(x))
        in_another_process(lambda: out.numpy().__setitem__(..., 2 * host.numpy()))
        return copied(out).to(x.device, x.dtype)

    assert made_by(computed_elsewhere, "cuda") == {Origin.ALTERED}


@ON_GPU
def test_what_a_kernel_has_left_and_the_host_has_moved_is_the_kernels() -> None:
    def moved(x: torch.Tensor, observed: Observed) -> torch.Tensor:
        out = torch.empty_like(x)
        launched(observed, out)
        return out.cpu().share_memory_().to(x.device)

    assert made_by(moved, "cuda") == {Origin.KERNEL}


def test_shared_memory_in_which_a_kernel_has_left_its_result_is_the_kernels() -> None:
    def shared(x: torch.Tensor, observed: Observed) -> torch.Tensor:
        out = torch.zeros(64).share_memory_()
        launched(observed, out)
        return out.clone()

    assert made_by(shared) == {Origin.KERNEL}


def test_constants_that_are_moved_stay_what_they_were() -> None:
    def constant(x: torch.Tensor, _: Observed) -> torch.Tensor:
        return torch.cat([torch.ones(8).share_memory_(), x])

    assert made_by(constant) == {Origin.GIVEN}


def test_memory_that_is_written_again_by_torch_is_torchs() -> None:
    def computed(x: torch.Tensor, _: Observed) -> torch.Tensor:
        out = torch.zeros(64)
        torch.mul(x, 2, out=out)
        return out.clone()

    assert made_by(computed) == {Origin.TORCH}


def through_numpy(x: torch.Tensor, observed: Observed) -> object:
    out = torch.empty(64)
    out.numpy()[:] = 1.0
    return out[0].item()


def by_a_launch(x: torch.Tensor, observed: Observed) -> object:
    out = torch.empty(64)
    launched(observed, out)
    return out[0].item()


@pytest.mark.parametrize(
    ("function", "times"),
    [
        pytest.param(lambda x, _: torch.empty(64)[7].item(), 1, id="one element"),
        pytest.param(lambda x, _: bool((torch.empty(64) == x).all()), 1, id="a comparison"),
        pytest.param(lambda x, _: torch.equal(torch.empty(64), x), 1, id="equal"),
        pytest.param(lambda x, _: torch.empty(64).double().sum().item(), 1, id="a sum of a copy"),
        pytest.param(lambda x, _: torch.empty_like(x).fill_(2.0)[0].item(), 0, id="filled"),
        pytest.param(lambda x, _: torch.empty(64).uniform_()[0].item(), 0, id="random"),
        pytest.param(lambda x, _: torch.add(x, 1, out=torch.empty(64)).sum().item(), 0, id="written by an operator"),
        pytest.param(lambda x, _: torch.cat([x, torch.empty(64)])[:64].sum().item(), 0, id="a part that is written"),
        pytest.param(lambda x, _: x.new_empty(0).sum().item(), 0, id="no element"),
        pytest.param(through_numpy, 0, id="written unseen"),
        pytest.param(by_a_launch, 0, id="written by a launch"),
    ],
)
def test_what_nobody_has_written_and_the_host_is_reported(function: Callable[..., object], times: int) -> None:
    x, observed = torch.arange(64.0), Observed()
    with (provenance := Provenance(observed, [x], is_watched=True)):
        function(x, observed)
    assert provenance.undefined == times
