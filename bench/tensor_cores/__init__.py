"""Matrix products of random numbers on a GPU and in the CPU engine, bit by bit."""
