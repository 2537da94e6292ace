"""What tritonaudit runs."""

import torch

from tritonaudit import Subject, Tensor

from .matmul import matmul

subject = Subject(matmul, reference=torch.matmul, inputs=[Tensor("m", "k"), Tensor("k", "n")], name="matmul")
