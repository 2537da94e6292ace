"""The arithmetic of the CPU engine: what one operation of the IR makes of tensors, in a GPU's types and roundings."""
