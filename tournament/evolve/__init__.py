"""Grows programs: best responses, refined step by step, and populations of them.

The engine, the record and the oracles meet here, by passing values.
"""
