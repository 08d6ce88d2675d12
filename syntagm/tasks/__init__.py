"""What can be asked of suites."""
