"""One line of a manifest: `P-1009;1200;S`, a parcel number, its grams and its size."""

from dataclasses import dataclass


def from_kilos(kilos: int) -> int:
    return kilos * 1000


# Read once, when the module is loaded.
LIMITS = {"S": from_kilos(5), "M": from_kilos(12), "L": from_kilos(31)}


@dataclass(frozen=True)
class Parcel:
    number: str
    grams: int


def parse(line: str) -> Parcel:
    """Reads one line; a parcel that is too heavy for its size is an error."""
    number, grams, size = line.split(";")
    if int(grams) > LIMITS[size]:
        raise ValueError(f"{number} is too heavy for size {size}")
    return Parcel(number.strip(), int(grams))
