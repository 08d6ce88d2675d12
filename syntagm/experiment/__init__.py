"""Human experiments on suites: the plan, the pages, the answers, and the run that they become."""
