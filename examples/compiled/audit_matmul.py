"""What tritonaudit runs: the wrapper, what PyTorch does in its place, and its inputs."""

import torch
from matmul import matmul

from tritonaudit import Subject, Tensor

product = Subject(
    matmul,
    reference=torch.matmul,
    inputs=[Tensor("m", "k"), Tensor("k", "n")],
    sizes={"m": [1024], "n": [1024], "k": [1024]},
    dtypes=["float16"],
)
