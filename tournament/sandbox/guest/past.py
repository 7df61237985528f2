"""What the matches of a table have seen so far.

A list for every match and seat is dear to keep, and most programs look at one of them at most. So a round is kept as
it comes, for all matches at once, until a program first looks: then the lists are made, and grow from then on.
"""

EVERY = slice(None)
"""The part of a table that is all of its matches."""
NAMES = ("mine", "theirs")


class Past:
    """The moves that `width` matches have seen, `mine` and `theirs`.

    `events` are rounds of a part of them, and where some were dropped, the positions of those that were left. If there
    are rounds `unseen`, the others' moves are missing.
    """

    def __init__(self, width):
        self.width = width
        self.unseen = False
        self.events = []
        self.lists = {}

    def add(self, part, mine, theirs):
        """A round of a part of the matches."""
        if len(self.lists) < len(NAMES):
            self.events.append((part, mine, theirs))
        if "mine" in self.lists:
            append(self.lists["mine"], part, mine)
        if "theirs" in self.lists:
            append(self.lists["theirs"], part, theirs)

    def of(self, name):
        """The lists of that name, one for each match."""
        if name not in self.lists:
            lists = [[] for _ in range(self.width)]
            for event in self.events:
                if type(event) is list:
                    lists = [lists[position] for position in event]
                else:
                    append(lists, event[0], event[1 + NAMES.index(name)])
            self.lists[name] = lists
        return self.lists[name]

    def keep(self, positions):
        """Forget all matches but those at these positions, which move up."""
        self.events.append(positions)
        for name, lists in self.lists.items():
            self.lists[name] = [lists[position] for position in positions]


def append(lists, part, moves):
    """Append to every list of a part the move that is for it."""
    # Appending returns nothing that is true, so that this goes on to the last.
    any(map(list.append, lists if part is EVERY else lists[part], moves))
