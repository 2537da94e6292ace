"""The same wrappers with numbers."""

from __future__ import annotations

from tests.host.wrappers import grid, replayed
from tritonaudit.host.host import LaunchSite, NotKnown, Raised

WRAPPER = """
    def run(x, flag=False):
        M, N = x.shape
        assert N % 16 == 0, N
        if M > 1000:
            raise ValueError("too many")
        if flag:
            N = N // 2
        if not flag:
            return None
        kernel[(M, triton.cdiv(N, 64))](x, x, N, M, x.stride(0), BLOCK=64)
"""


def test_a_launch_in_numbers() -> None:
    found = replayed(WRAPPER, x_0=7, x_1=160)
    assert isinstance(found, LaunchSite)
    assert grid(found) == ["7", "2"]
    assert str(found.arguments["n"]) == "80"


def test_sizes_that_the_host_refuses() -> None:
    uneven, many = replayed(WRAPPER, x_0=7, x_1=161), replayed(WRAPPER, x_0=2000, x_1=160)
    assert isinstance(uneven, Raised)
    assert "N % 16" in uneven.reason
    assert isinstance(many, Raised)
    assert "too many" in many.reason


def test_a_check_that_is_not_known_leaves_it_open() -> None:
    text = """
        def run(x, n):
            if not fits(n):
                raise ValueError
            kernel[(n,)](x, x, n, 1, 1)
    """
    assert isinstance(replayed(text, n=4), NotKnown)


def test_a_check_of_the_machine_has_nothing_to_do_with_sizes() -> None:
    text = """
        def run(x, n):
            if not torch.cuda.is_available():
                raise RuntimeError
            kernel[(n,)](x, x, n, 1, 1)
    """
    assert isinstance(replayed(text, n=4), LaunchSite)
