"""The entry points: one set of options behind all of them."""
