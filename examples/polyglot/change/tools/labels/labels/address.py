"""The address block of a label."""

WIDTH = 32


def block(lines):
    """The lines of an address as the printer wants them."""
    return "\n".join(shorten(line) for line in lines)


def shorten(line):
    """A line that does not fit ends in a dot, so that the driver sees that it goes on."""
    if len(line) < WIDTH:
        return line
    return f"{line[:WIDTH]}."
