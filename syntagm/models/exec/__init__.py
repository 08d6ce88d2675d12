"""Language models that are programs in any language."""
