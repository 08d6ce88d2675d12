"""Reading and writing files: atomic writes, locks, strict readers, the CSV format."""
