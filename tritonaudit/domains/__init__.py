"""What is known of the values of a kernel: types, sums of indices, bounds, masks and what padded lanes hold."""
