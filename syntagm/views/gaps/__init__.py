"""Numbers of runs that filled gaps."""
