"""The measure stage: how fast a subject is on a GPU, against what, and how far from the roof."""
