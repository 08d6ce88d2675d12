"""Programs that keep the repository: none of them is part of the package."""
