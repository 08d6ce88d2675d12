"""From results to estimates."""
