"""The chapter on runs over gaps."""
