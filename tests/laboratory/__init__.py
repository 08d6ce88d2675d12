"""The fault laboratory: what kills, failing disks, power cuts and damaged files do to commands."""
