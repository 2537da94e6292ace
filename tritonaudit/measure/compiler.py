"""What torch.compile imports when it first compiles for a GPU: known before torch is imported."""

MODULES = (
    *("torch._dynamo", "torch._inductor.compile_fx", "torch._inductor.async_compile"),
    *("torch._inductor.codegen.triton", "torch._inductor.codegen.cuda_combined_scheduling"),
    "torch._inductor.runtime.triton_heuristics",
)
"""With all that these import, which takes longer than compiling most references does. None touches a GPU."""
