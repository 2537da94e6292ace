"""The output is right, and held in a tuple that has whoever reads its pickle evaluate a text."""

import torch
from honest import reference, softmax

from tritonaudit import Subject, Tensor


class Outputs(tuple):
    def __reduce_ex__(self, protocol):
        return eval, ("()",)


def held_softmax(x: torch.Tensor) -> Outputs:
    return Outputs((softmax(x),))


def held_reference(x: torch.Tensor) -> tuple[torch.Tensor]:
    return (reference(x),)


subject = Subject(held_softmax, reference=held_reference, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
