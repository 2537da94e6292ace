"""How many processes a second a driver brings a GPU up for, which bounds what any number of GPUs can try.

Each process asks for the primary context of one of the devices, all at once, and ends. `--connections` is what
CUDA_DEVICE_MAX_CONNECTIONS is set to; the driver's own choice is 8.
"""

from __future__ import annotations

import ctypes
import os
import resource
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

_CONNECTIONS = "CUDA_DEVICE_MAX_CONNECTIONS"


def add_arguments(parser: ArgumentParser) -> None:
    """What the command line takes."""
    parser.add_argument("--processes", type=int, default=16, metavar="N", help="[default: 16]")
    parser.add_argument("--devices", type=int, nargs="+", default=[0], metavar="N", help="[default: 0]")
    parser.add_argument("--connections", type=int, nargs="+", default=[8, 1], metavar="N", help="[default: 8 1]")


def run(given: Namespace) -> int:
    """Bring them up with each number of connections."""
    print("| connections | processes | devices | a second | seconds of the kernel's for each |")
    print("|---|---|---|---|---|")
    for connections in given.connections:
        os.environ[_CONNECTIONS] = str(connections)
        before, began = _seconds_in_kernel(), time.monotonic()
        codes = _brought_up(given.processes, given.devices)
        seconds, in_kernel = time.monotonic() - began, _seconds_in_kernel() - before
        if any(codes):
            print(f"the driver says {sorted(set(codes))}")
            return 1
        devices = " ".join(map(str, given.devices))
        rate, each = given.processes / seconds, in_kernel / given.processes
        print(f"| {connections} | {given.processes} | {devices} | {rate:.1f} | {each:.2f} |")
    return 0


def _brought_up(processes: int, devices: Sequence[int]) -> list[int]:
    """The exit codes of so many processes at once, each of which brings up one of the devices."""
    children = []
    for number in range(processes):
        if not (child := os.fork()):
            os._exit(_bring_up(devices[number % len(devices)]))
        children.append(child)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def _bring_up(number: int) -> int:
    """What the driver says: 0 where it has brought the device up."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 1
    device, context = ctypes.c_int(), ctypes.c_void_p()
    code = driver.cuInit(0) or driver.cuDeviceGet(ctypes.byref(device), number)
    return min(255, code or driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))


def _seconds_in_kernel() -> float:
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_stime
