"""The compile stage under several versions of Triton."""
