"""The kernel is launched on a stream of its own, for which nobody waits."""

import torch
from honest import reference, softmax

from tritonaudit import Subject, Tensor

SIDE = torch.cuda.Stream()


def on_the_side(x: torch.Tensor) -> torch.Tensor:
    SIDE.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(SIDE):
        return softmax(x)


subject = Subject(on_the_side, reference=reference, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
