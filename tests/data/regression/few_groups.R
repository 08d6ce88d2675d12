# Degrees of freedom of Satterthwaite and of Kenward & Roger, and p of the parametric bootstrap, for the designs of
# few_groups.py, with lmerTest and pbkrtest (Debian: r-cran-lmertest r-cran-pbkrtest). From the root of the repository:
#   Rscript tests/data/regression/few_groups.R > tests/data/regression/few_groups.csv
suppressMessages({library(lmerTest); library(pbkrtest)})
folder <- "tests/data/regression/"
designs <- list(
  list("crossed", "score ~ class + size + (1 | run) + (1 | suite)", "score ~ size + (1 | run) + (1 | suite)"),
  list("sloped", "y ~ x + (x | g)", "y ~ 1 + (x | g)"))
cat("design,formula,smaller,term,estimate,se,df,p,kr_df,kr_p,chi2,bootstrap_p\n")
for (one in designs) {
  data <- read.csv(paste0(folder, "few_groups_", one[[1]], ".csv"))
  control <- lmerControl(optCtrl = list(ftol_abs = 1e-12, xtol_abs = 1e-10), calc.derivs = TRUE)
  fit <- lmer(as.formula(one[[2]]), data, control = control)
  plain <- coef(summary(fit)); roger <- coef(summary(fit, ddf = "Kenward-Roger"))
  large <- lmer(as.formula(one[[2]]), data, REML = FALSE, control = control)
  small <- lmer(as.formula(one[[3]]), data, REML = FALSE, control = control)
  set.seed(1)
  test <- suppressMessages(suppressWarnings(PBmodcomp(large, small, nsim = 2000)$test))
  for (term in rownames(plain))
    cat(one[[1]], one[[2]], one[[3]], term, sprintf("%.8f", plain[term, c(1, 2, 3, 5)]),
        sprintf("%.8f", roger[term, c(3, 5)]), sprintf("%.8f", c(test[1, 1], test["PBtest", "p.value"])), sep = ",", fill = 1000)
}
