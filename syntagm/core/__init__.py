"""What every room needs: errors, text for people, progress, files, settings and the registry of named things."""
