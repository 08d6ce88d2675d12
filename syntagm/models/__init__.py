"""Language models: one folder per family, which declares itself in `family.py`."""
