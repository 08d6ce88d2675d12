"""Models that replay recorded surprisals."""
