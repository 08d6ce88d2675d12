"""The reproduction of Huang et al. 2024 (SAP)."""
