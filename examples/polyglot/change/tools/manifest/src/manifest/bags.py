"""Bags: parcels that travel together."""

from manifest.lines import Parcel


def pack(parcels: list[Parcel], limit: int) -> list[list[Parcel]]:
    """Fills one bag after the other, in the order of the manifest."""
    bags: list[list[Parcel]] = [[]]
    for parcel in parcels:
        if weight(bags[-1]) + parcel.grams > limit and bags[-1]:
            bags.append([])
        bags[-1].append(parcel)
    return bags


def weight(bag: list[Parcel]) -> int:
    """The grams of one bag."""
    return sum(parcel.grams for parcel in bag)


def spare(bag: list[Parcel], limit: int) -> int:
    """The grams that a bag could still take."""
    return limit - weight(bag)


def trips(bags: int, per_van: int) -> int:
    """How often the van has to come."""
    count = 0
    while bags > 0:
        bags -= per_van
        count += 1
    return count
