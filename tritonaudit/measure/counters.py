"""What the profiler counts, as facts and reports call it."""

from __future__ import annotations

SECTORS, IDEAL, SAMPLES = "sectors of global memory", "sectors that its bytes fill", "stalled warps sampled"
"""What is counted line by line; of these sectors L2 is asked, each of 32 bytes. Samples are also of the launch."""
READ, WRITTEN, L2, OCCUPANCY, SPILLS = "DRAM read", "DRAM written", "L2 traffic", "warps that are active", "spills"
THROUGHPUT, INSTRUCTIONS = "DRAM throughput", "instructions executed"
