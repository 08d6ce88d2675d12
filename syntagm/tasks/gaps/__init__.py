"""Word lists in the gaps of sentences: EW, MW and TSE."""
