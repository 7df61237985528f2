"""Evolves programs: an oracle writes best responses to other programs and refines them step by step.

This package connects the engine, the record and the oracles, which do not know of each other.
"""
