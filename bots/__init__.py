"""The bots that come with the engine: one file each, read as text and never imported by it."""
