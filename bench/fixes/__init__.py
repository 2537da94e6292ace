"""Whether what the fixes make of the fixtures compiles and gives right results, and what they make of packages."""
