"""Does the CPU engine compute what a GPU computes?"""
