"""Views: tables and figures of runs, one file per view, with its numbers, table and chart."""
