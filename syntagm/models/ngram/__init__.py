"""Back-off n-gram models."""
