"""The questions that rules ask of a kernel and the code around it. An answer is proven, refuted or unknown."""
