"""Commands about tokens and logins."""
