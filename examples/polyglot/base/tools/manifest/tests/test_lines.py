from manifest.lines import Parcel, parse


def test_a_line_is_a_parcel():
    assert parse(" P-1009;1200") == Parcel("P-1009", 1200)
