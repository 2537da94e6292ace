"""Nothing is wrong with it."""

from honest import reference, softmax

from tritonaudit import Subject, Tensor

subject = Subject(softmax, reference=reference, inputs=[Tensor("rows", "cols")])
