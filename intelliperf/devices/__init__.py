"""The chips that are modelled: their figures with sources, and the records made of them."""
