"""Repeat the opponent's last move, but forgive a defection now and then.

The probability of forgiving is the most that does not invite exploitation; with the usual payoffs
it is 1/3. In populations that evolve under noise it takes over from tit for tat, which prepares
the ground for it.

Names: Generous Tit For Tat (M. A. Nowak and K. Sigmund, "Tit for tat in heterogeneous
    populations", Nature 355, 1992; P. Molander 1985), GTFT
Plays: prisoners_dilemma
"""


def act(view):
    if not view.theirs or view.theirs[-1] == "C":
        return "C"
    reward, punishment = view.game.payoffs["C", "C"][0], view.game.payoffs["D", "D"][0]
    sucker, temptation = view.game.payoffs["C", "D"]
    generosity = min(
        1 - (temptation - reward) / (reward - sucker),
        (reward - punishment) / (temptation - punishment),
    )
    return "C" if view.rng.random() < generosity else "D"
