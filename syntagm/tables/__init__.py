"""Tables for papers, one file a table, named after what it shows: CSV, Markdown and LaTeX."""
