"""The output is of a class that computes when it is looked at."""

import torch
from honest import reference, softmax

from tritonaudit import Subject, Tensor


class Promise(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        given = [softmax(one.x) if type(one) is Promise else one for one in args]
        with torch._C.DisableTorchFunctionSubclass():
            return function(*given, **(kwargs or {}))


def promised_softmax(x: torch.Tensor) -> torch.Tensor:
    promise = torch.empty_like(x).as_subclass(Promise)
    promise.x = x
    return promise


subject = Subject(promised_softmax, reference=reference, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
