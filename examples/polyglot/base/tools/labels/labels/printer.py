"""Sends labels to a printer."""


def submit(send, label):
    """Whether the printer took the label."""
    return send(label)
