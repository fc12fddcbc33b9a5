"""One line of a manifest: `P-1009;1200`, a parcel number and its grams."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Parcel:
    number: str
    grams: int


def parse(line: str) -> Parcel:
    """Reads one line."""
    number, grams = line.split(";")
    return Parcel(number.strip(), int(grams))
