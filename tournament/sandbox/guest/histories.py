"""The moves that the matches of a group have seen.

A list for every match and seat is expensive to keep, and most programs look at one of them at most. So a round is kept
as it arrives, for all matches at once, until a program first looks: then the lists are made, and grow from then on.
"""

NAMES = ("mine", "theirs")


class Histories:
    """The moves that `count` matches have seen: `mine` and `theirs`.

    `rounds` has what `lists` are made from: a pair of `mine` and `theirs` (a move for each match) for every round, and
    a list of positions wherever only the matches at these positions were kept. If some rounds are `unseen`, their
    `theirs` is missing.
    """

    def __init__(self, count):
        self.count = count
        self.rounds = []
        self.unseen = False
        self.lists = {}

    def add(self, mine, theirs):
        """Add a round."""
        if len(self.lists) < len(NAMES):
            self.rounds.append((mine, theirs))
        if "mine" in self.lists:
            append(self.lists["mine"], mine)
        if "theirs" in self.lists:
            append(self.lists["theirs"], theirs)

    def of(self, name):
        """Return the lists of that name, one for each match."""
        if name not in self.lists:
            lists = [[] for _ in range(self.count)]
            for moves in self.rounds:
                if type(moves) is list:
                    lists = [lists[position] for position in moves]
                else:
                    append(lists, moves[NAMES.index(name)])
            self.lists[name] = lists
        return self.lists[name]

    def keep(self, positions):
        """Forget all matches but those at these positions, which move up."""
        self.rounds.append(positions)
        for name, lists in self.lists.items():
            self.lists[name] = [lists[position] for position in positions]


def append(lists, moves):
    """Append to every list the move that belongs to it."""
    # `append` returns None, so `any` goes through all of them without a loop in Python.
    any(map(list.append, lists, moves))
