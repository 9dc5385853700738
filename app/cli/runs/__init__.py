"""Commands that start, watch, show and change runs."""
