"""The kernel is launched on a stream of its own, for which the caller's stream waits, or the host."""

import torch
from honest import reference, softmax

from tritonaudit import Subject, Tensor

SIDE = torch.cuda.Stream()


def awaited(x: torch.Tensor) -> torch.Tensor:
    SIDE.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(SIDE):
        half = softmax(x[: len(x) // 2])
        done = SIDE.record_event()
        rest = softmax(x[len(x) // 2 :])
    torch.cuda.current_stream().wait_event(done)
    SIDE.synchronize()
    half.record_stream(SIDE)
    return torch.cat([half, rest])


subject = Subject(awaited, reference=reference, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
