"""Linear and logistic mixed-effects regression in lme4's notation, fitted by maximum likelihood."""
