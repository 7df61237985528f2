"""The games that come with the engine: one file each, found by name."""
