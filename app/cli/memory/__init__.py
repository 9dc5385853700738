"""Commands about memory and defaults."""
