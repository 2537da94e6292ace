"""A process that compiles every subject of the agreement bench as Triton itself does, for tools that read its cache.

    python -m bench.peers.triton_cache TARGET FOLDER

It needs no GPU: tensors lie on the CPU, and nothing is launched. The folder gets one for each subject, with the binary
and the metadata beside it as Triton's own cache has them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from bench.agreement.gpu import kernels_launched
from bench.agreement.launches import only_case, subjects
from tritonaudit.capture.device import device_for
from tritonaudit.capture.driver import stand_in_driver
from tritonaudit.capture.standin import Host, stand_in_tensors, tensors_on
from tritonaudit.subject.inputs import run_subject


def compile_all(target: str, folder: Path) -> None:
    """Compile every subject, each into a folder of its name."""
    device = device_for(target)
    stand_in_driver(device)
    stand_in_tensors(device)
    for name, subject in subjects().items():
        with tensors_on(Host.CPU), kernels_launched() as kernels:
            run_subject(subject, only_case(subject))
        [kernel] = kernels
        own = folder / name
        own.mkdir(parents=True)
        (own / f"{kernel.metadata.name}.cubin").write_bytes(kernel.asm["cubin"])
        metadata = {key: getattr(kernel.metadata, key) for key in ("name", "shared", "num_warps")}
        (own / f"{kernel.metadata.name}.json").write_text(json.dumps({**metadata, "warp_size": 32}), encoding="utf-8")


if __name__ == "__main__":
    compile_all(sys.argv[1], Path(sys.argv[2]))
