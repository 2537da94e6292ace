"""One-hot rows; a row whose label is -1 has no one in it."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def one_hot_kernel(labels_ptr, out_ptr, rows, classes, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    label = tl.load(labels_ptr + r, mask=r < rows, other=-1)
    tl.store(out_ptr + r * classes + label, 1.0, mask=(label >= 0) & (label < classes))


def one_hot(labels, like):
    labels = labels.contiguous()
    rows, classes = labels.shape[0], like.shape[0]
    out = torch.zeros((rows, classes), device=labels.device, dtype=like.dtype)
    if out.numel() > 0:
        one_hot_kernel[(triton.cdiv(rows, 64),)](labels, out, rows, classes, BLOCK=64)
    return out


def reference(labels, like):
    return (labels[:, None] == torch.arange(like.shape[0], device=labels.device)[None, :]).to(like.dtype)


encoded = Subject(
    one_hot,
    reference=reference,
    inputs=[Tensor("rows", dtype="int64", low=-1, high="classes"), Tensor("classes")],
    dtypes=["float32"],
)
