"""A result is kept until its input is written to, as a timing loop never does."""

import weakref

import torch
from honest import reference, softmax

from tritonaudit import Subject, Tensor

kept = {}


def kept_softmax(x: torch.Tensor) -> torch.Tensor:
    known = kept.get(id(x))
    if known is None or known[0]() is not x or known[1] != x._version:
        known = kept[id(x)] = (weakref.ref(x), x._version, softmax(x))
    return known[2]


subject = Subject(kept_softmax, reference=reference, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
