import pytest

from manifest.lines import LIMITS, Parcel, parse


def test_a_line_is_a_parcel():
    assert parse(" P-1009;1200;S") == Parcel("P-1009", 1200)


def test_heavy_parcels_need_a_large_size():
    with pytest.raises(ValueError):
        parse("P-1010;9000;S")


def test_sizes_have_limits():
    assert LIMITS == {"S": 5_000, "M": 12_000, "L": 31_000}
