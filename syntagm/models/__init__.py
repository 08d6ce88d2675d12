"""Language models: one folder per family, declared in its `family.py`."""
