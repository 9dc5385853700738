"""What Packline remembers: tables, transitions, queries, blobs, on SQLite and PostgreSQL."""
