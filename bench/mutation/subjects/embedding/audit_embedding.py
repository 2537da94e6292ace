"""What tritonaudit runs."""

import torch.nn.functional as F

from tritonaudit import Subject, Tensor

from .embedding import embedding

subject = Subject(
    embedding,
    reference=F.embedding,
    inputs=[Tensor("count", dtype="int64", high="entries"), Tensor("entries", "dim")],
    name="embedding",
)
