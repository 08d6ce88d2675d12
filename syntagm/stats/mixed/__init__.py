"""Mixed-effects regression in lme4's notation, linear and logistic, fitted by maximum likelihood."""
