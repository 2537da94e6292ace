"""What a finding of the source brain is worth, measured on what nobody has tuned it to."""
