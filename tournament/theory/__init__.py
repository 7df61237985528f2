"""Theory: results about games and agents that can be computed without playing.

The functions take plain data, such as formulas or states of a game, and return their results.
Nothing in this package runs a bot, keeps a record or draws random numbers.
"""
