"""Plain HTTP: the page, sign-in, uploads, downloads, bodies and ranges."""
