"""Commands about artifacts."""
