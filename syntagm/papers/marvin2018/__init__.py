"""The reproduction of Marvin and Linzen 2018."""
