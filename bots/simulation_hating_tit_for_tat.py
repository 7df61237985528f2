"""Tit for tat, for as long as the history is one that it would have made itself; else defect.

A simulation at a history that is made up shows it moves of its own that it never made. So whoever
tries out what it would answer to a defection of its own learns nothing.

Names: SimulationHatingTitForTat (tetronian/pdtournament, LessWrong 2014)
Plays: prisoners_dilemma, repeated
"""


def act(view):
    wanted = ["C", *view.theirs]
    return wanted[-1] if view.mine == wanted[:-1] else "D"
