"""Try what comes of each move by simulating the opponent's next two, and play the better one.

It cooperates with whoever would answer a defection, for as long as there is a next round, and
exploits everybody else. In its place it shows the opponent a stranger, or else two of them would
look ahead for ever.

Names: LookerUp and MindReader (Axelrod-Python 2015), DMRB (tetronian/pdtournament, LessWrong 2014)
Plays: prisoners_dilemma, repeated
"""

STRANGER = "def act(view):\n    return 'C'\n"


def act(view):
    payoffs, seat = view.game.payoffs, view.seat
    last = len(view.mine) + 1 == view.game.rounds

    def joint(mine, theirs):
        return (mine, theirs) if seat == 0 else (theirs, mine)

    def worth(move):
        now = joint(move, theirs)
        if last:
            return payoffs[now][seat]
        answer = view.simulate(against=STRANGER, history=[*view.history, now])
        answer = answer if answer in view.legal else "D"
        return payoffs[now][seat] + payoffs[joint("D", answer)][seat]

    theirs = view.simulate(against=STRANGER)
    theirs = theirs if theirs in view.legal else "D"
    return max(view.legal, key=worth)
