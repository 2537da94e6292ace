"""Fixed kernels of the fixtures in which something else is wrong that no fix removes."""

OTHER_DEFECTS: dict[tuple[str, str], str] = {
    ("TAC102", "histogram_kernel"): "other ranges in it are no power of two",
    ("TAC102", "gelu_kernel"): "another of its configs has three warps",
    ("TAC103", "like_kernel"): "another shape in it is chosen by a branch",
    ("TAC105", "activation_kernel"): "other names in it are written otherwise, not renamed: `tl.isnan`, `tl.relu`",
    ("TAC105", "imported_kernel"): "other names in it are like none: `tlmath.squareroot`",
    ("TAC106", "matmul_kernel"): "block pointers, which Triton 3.9 has no more, are not rewritten",
    ("TAC106", "activation_kernel"): "it calls a name whose import is of what is gone",
    ("TAC112", "half_kernel"): "other operands in it do not go together",
    ("TAC202", "scale_kernel"): "another config names what is no parameter",
    ("TAM101", "bias_gelu_kernel"): "the bias in it has no mask beside it to take",
}
