from manifest.bags import pack, trips
from manifest.lines import Parcel

SMALL = Parcel("P-1", 2_000)
LARGE = Parcel("P-2", 9_000)


def test_a_full_bag_is_closed():
    assert pack([SMALL, LARGE, LARGE], 12_000) == [[SMALL, LARGE], [LARGE]]


def test_the_van_comes_until_all_bags_are_gone():
    assert trips(5, 2) == 3
    assert trips(0, 2) == 0
