"""The user's project: how it is built, its scratch copies, its versions, and the run directory that keeps them."""
