"""Languages: their tags (BCP 47), scripts, direction, words, case and word frequencies."""
