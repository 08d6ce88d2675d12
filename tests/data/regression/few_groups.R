# Satterthwaite's degrees of freedom, Kenward & Roger's t and F tests, and p of the parametric bootstrap, for the designs
# of few_groups.py, with lmerTest and pbkrtest (Debian: r-cran-lmertest r-cran-pbkrtest). From the root of the repository:
#   Rscript tests/data/regression/few_groups.R > tests/data/regression/few_groups.csv
suppressMessages({library(lmerTest); library(pbkrtest)})
folder <- "tests/data/regression/"
designs <- list(
  list("crossed", "score ~ class + size + (1 | run) + (1 | suite)", "score ~ size + (1 | run) + (1 | suite)"),
  list("sloped", "y ~ x + (x | g)", "y ~ 1 + (x | g)"),
  list("classes", "score ~ class * size + (size | suite) + (1 | run)", "score ~ size + (size | suite) + (1 | run)"),
  list("singular", "y ~ f + (1 | g) + (1 | h)", "y ~ 1 + (1 | g) + (1 | h)"))
cat("design,formula,smaller,term,estimate,se,df,p,kr_se,kr_df,kr_p,chi2,bootstrap_p,f,f_df,f_denominator,f_p\n")
for (one in designs) {
  data <- read.csv(paste0(folder, "few_groups_", one[[1]], ".csv"))
  control <- lmerControl(optCtrl = list(ftol_abs = 1e-12, xtol_abs = 1e-10), calc.derivs = TRUE)
  fit <- suppressMessages(lmer(as.formula(one[[2]]), data, control = control))
  restricted <- suppressMessages(lmer(as.formula(one[[3]]), data, control = control))
  plain <- coef(summary(fit)); roger <- coef(summary(fit, ddf = "Kenward-Roger"))
  whole <- KRmodcomp(fit, restricted)$test["Ftest", ]
  large <- suppressMessages(lmer(as.formula(one[[2]]), data, REML = FALSE, control = control))
  small <- suppressMessages(lmer(as.formula(one[[3]]), data, REML = FALSE, control = control))
  set.seed(1)
  test <- suppressMessages(suppressWarnings(PBmodcomp(large, small, nsim = 2000)$test))
  for (term in rownames(plain))
    cat(one[[1]], one[[2]], one[[3]], term, sprintf("%.8f", plain[term, c(1, 2, 3, 5)]),
        sprintf("%.8f", roger[term, c(2, 3, 5)]), sprintf("%.8f", c(test[1, 1], test["PBtest", "p.value"])),
        sprintf("%.8f", c(whole$stat, whole$ndf, whole$ddf, whole$p.value)), sep = ",", fill = 1000)
}
