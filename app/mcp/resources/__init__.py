"""What agents read by address, and the files that teach them."""
