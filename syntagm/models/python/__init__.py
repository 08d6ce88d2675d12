"""Language models that are classes in a Python file."""
