from manifest.bags import pack
from manifest.lines import Parcel

SMALL = Parcel("P-1", 2_000)
LARGE = Parcel("P-2", 9_000)


def test_a_full_bag_is_closed():
    assert pack([SMALL, LARGE, LARGE], 12_000) == [[SMALL, LARGE], [LARGE]]
