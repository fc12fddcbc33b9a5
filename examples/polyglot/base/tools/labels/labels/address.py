"""The address block of a label."""

WIDTH = 32


def block(lines):
    """The lines of an address as the printer wants them."""
    return "\n".join(line[:WIDTH] for line in lines)
