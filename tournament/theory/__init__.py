"""Theory: what can be worked out about games and agents without playing them.

Formulas and arrays go in and answers come out. Nothing here runs a bot, keeps a record or draws
at random.
"""
