"""The day's manifest: which parcels go into which bag."""
