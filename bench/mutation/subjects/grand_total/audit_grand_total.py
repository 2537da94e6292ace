"""What tritonaudit runs."""

import torch

from tritonaudit import Subject, Tensor

from .grand_total import grand_total

subject = Subject(grand_total, reference=torch.sum, inputs=[Tensor("rows", "cols")], name="grand_total")
