"""The rules of the memory as pure functions: standard library only, no clock, no randomness, no I/O.

Everything above may import from here; nothing here imports from anywhere else in the project.
"""
