"""Language models: one folder a family, which declares it in `family.py`."""
