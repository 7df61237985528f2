"""Play the best reply to how often the opponent has played each of its moves.

It starts as if each had been seen once. In zero-sum games, in games of common interest and in all
games of two by two moves the frequencies of two copies converge to equilibrium; elsewhere they may
go round for ever.

Names: fictitious play (G. W. Brown, "Iterative solution of games by fictitious play", 1951;
    J. Robinson, "An iterative method of solving a game", Annals of Mathematics 54, 1951)
Plays: repeated, battle_of_the_sexes, chicken, climbing, coordination, matching_pennies, penalty,
    rock_paper_scissors, stag_hunt
"""


def act(view):
    def worth(move):
        return sum(
            paid[view.seat] * (1 + view.theirs.count(joint[1 - view.seat]))
            for joint, paid in view.game.payoffs.items()
            if joint[view.seat] == move
        )

    return max(view.legal, key=worth)
