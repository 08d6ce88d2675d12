"""Materials: suites, formulas, word lists, languages, formats, templates, rules, and what is bundled."""
