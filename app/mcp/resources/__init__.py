"""Resources that agents read by address, and the files that explain the server to them."""
