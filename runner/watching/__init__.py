"""Streams a run's events from any position, and wakes their readers by flags."""
