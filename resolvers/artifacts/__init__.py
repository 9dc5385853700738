"""Use cases of artifacts and uploads, and which files can no longer be read."""
