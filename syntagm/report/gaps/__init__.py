"""The chapter on fill runs."""
