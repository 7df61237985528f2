"""Earn, above mutual defection, twice what the opponent earns above it, whoever that is.

Its four probabilities of cooperating, 8/9, 1/2, 1/3 and 0 with the usual payoffs, hold the
opponent's long-run payoff to a line. The opponent's best answer to that line is to cooperate
always, which pays the extortioner most. Whoever refuses to be extorted, as its own copy does, is
left with mutual defection.

Names: Extort-2 (A. J. Stewart and J. B. Plotkin, "Extortion and cooperation in the Prisoner's
    Dilemma", PNAS 109, 2012), a zero-determinant strategy (W. H. Press and F. J. Dyson, "Iterated
    Prisoner's Dilemma contains strategies that dominate any evolutionary opponent", PNAS 109, 2012)
Plays: prisoners_dilemma
"""

FACTOR = 2


def act(view):
    if not view.mine:
        return "C"
    reward, punishment = view.game.payoffs["C", "C"][0], view.game.payoffs["D", "D"][0]
    sucker, temptation = view.game.payoffs["C", "D"]
    loss, gain = punishment - sucker, temptation - punishment
    scale = 2 * (loss + FACTOR * gain)
    cooperate = {
        ("C", "C"): 1 - (FACTOR - 1) * (reward - punishment) / scale,
        ("C", "D"): 1 / 2,
        ("D", "C"): (FACTOR * loss + gain) / scale,
        ("D", "D"): 0,
    }
    return "C" if view.rng.random() < cooperate[view.mine[-1], view.theirs[-1]] else "D"
