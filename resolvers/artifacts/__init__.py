"""Use cases of artifacts and uploads, and checks for files that can no longer be read."""
