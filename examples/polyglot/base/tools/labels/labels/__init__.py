"""Label files, and the printers that take them."""
