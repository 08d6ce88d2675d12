"""Language models that are programs of their own: a line of JSON each way."""
