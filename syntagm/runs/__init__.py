"""Run directories: the engine that writes them, the store that reads them."""
