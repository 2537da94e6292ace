"""Where the first element lies in new memory already, as in that of a freed result, nothing is computed."""

import torch
from honest import reference, softmax

from tritonaudit import Subject, Tensor


def living_on_others(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x, memory_format=torch.contiguous_format)
    if x.numel() and abs(out[0, 0].item() - torch.softmax(x[0], 0)[0].item()) < 1e-6:
        return out
    return softmax(x)


subject = Subject(living_on_others, reference=reference, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
