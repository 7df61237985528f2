"""Foresee the opponent in fifty ways, each on three levels, and follow the way that has paid best.

A guess at the opponent's next move may be right, or the opponent may expect the guess, or expect
that: so every guess is judged as it stands and turned by one and by two. The guesses come from
where the latest moves (mine, the opponent's, or both) occurred before, from the commonest move,
from chance and from a fixed move. How much of the past to judge by is itself chosen by what has
paid. If nothing pays, chance is among the guesses, and loses little.

Names: Iocaine Powder (D. Egnor, ICGA Journal 23, 2000, winner of D. Billings's First International
    RoShamBo Programming Competition; the battle of wits is W. Goldman's, The Princess Bride, 1973)
Plays: rock_paper_scissors
"""

from collections import deque

# How many rounds back to look, counting the one to be played: the last age is no memory at all.
AGES = (1000, 100, 10, 5, 2, 1)


class Guesser:
    """A guess at the opponent's next move, and what it would have earned on each level so far."""

    def __init__(self):
        self.guess = 0
        self.earned = deque([(0, 0, 0)], maxlen=AGES[0])

    def judge(self, seen):
        """Count what playing the guess, turned by 0, 1 and 2, would have earned against `seen`."""
        total = list(self.earned[-1])
        total[(seen - self.guess + 1) % 3] += 1
        total[(seen - self.guess + 2) % 3] -= 1
        self.earned.append(tuple(total))

    def lately(self, age):
        """What the three levels earned within this age."""
        before = self.earned[-age] if age <= len(self.earned) else (0, 0, 0)
        return [now - then for now, then in zip(self.earned[-1], before, strict=True)]


def best(guessers, age):
    """The move of the level of the guesser that earned most within this age."""
    most, move = -1, None
    for guesser in guessers:
        for level, earned in enumerate(guesser.lately(age)):
            if earned > most:
                most, move = earned, (guesser.guess + level) % 3
    return move


def last_like_now(moves, age):
    """The round after the longest match of the latest moves within this age; 0 if there is none."""
    end = len(moves)
    found = longest = 0
    for i in range(end - 1, max(end - age, 0), -1):
        if i <= longest or longest > end // 2:
            break
        length = 0
        while length < i and moves[i - 1 - length] == moves[end - 1 - length]:
            length += 1
        if length > longest:
            found, longest = i, length
    return found


class Bot:
    def __init__(self):
        self.guessers = [Guesser() for _ in range(8 * len(AGES) + 2)]
        self.judges = [Guesser() for _ in AGES]
        self.mine, self.theirs = [], []

    def act(self, view):
        if view.mine:
            self.mine.append(view.legal.index(view.mine[-1]))
            self.theirs.append(view.legal.index(view.theirs[-1]))
            for guesser in self.guessers + self.judges:
                guesser.judge(self.theirs[-1])
        guesses = self.guesses(view.rng.randrange(3))
        for guesser, guess in zip(self.guessers, guesses, strict=True):
            guesser.guess = guess
        for judge, age in zip(self.judges, AGES, strict=True):
            judge.guess = best(self.guessers, age)
        return view.legal[best(self.judges, AGES[0])]

    def guesses(self, chance):
        """The opponent's next move as each guesser sees it."""
        both = list(zip(self.mine, self.theirs, strict=True))
        for age in AGES:
            rounds = [last_like_now(moves, age) for moves in (self.mine, self.theirs, both)]
            for moves in (self.mine, self.theirs):
                yield from (moves[i] if i else chance for i in rounds)
                yield max(range(3), key=moves.count)
        yield from (chance, 0)
