"""A run's events from any position, and the flags that wake their readers."""
