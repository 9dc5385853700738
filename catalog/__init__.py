"""What can be run and what it is for: metadata, vocabulary and search."""
