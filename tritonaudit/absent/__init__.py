"""Stand-ins for what a user's modules import and what is not there. For processes in which user code runs."""
