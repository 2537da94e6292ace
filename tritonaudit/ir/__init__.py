"""What Triton's front end makes of a kernel: the type of every value, and what it rejects, release by release."""
