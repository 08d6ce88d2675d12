"""Our own suites as data files, one folder a collection."""
