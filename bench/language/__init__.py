"""What the source stage says of the language, beside what the compiler says."""
