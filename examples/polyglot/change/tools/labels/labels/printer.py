"""Sends labels to a printer."""


def submit(send, label, tries):
    """Whether the printer took the label within so many tries."""
    if not label:
        return False
    while tries:
        if send(label):
            return True
        tries -= 1
    return False
