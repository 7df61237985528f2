"""All matches of the program in this instance, and the codes by which their moves travel."""

import collections
import functools
import json

import faults
from match import Match
from view import Game, Program, View

FIRST_CODE = 48
FAULTY = "!"


class Raised:
    """Stands for the move of a match whose `act` raised."""

    def __init__(self, error):
        self.error = error


def not_loaded(view):
    """Stands in for the `act` of a match whose program would not load."""
    return None


class Table:
    """The matches that are still being played; `host` answers requests."""

    def __init__(self, setup, host):
        self.game = Game(setup["game"])
        programs = [
            Program(digest, functools.partial(host, f"source {number}"))
            for number, digest in enumerate(setup["programs"])
        ]
        self.matches = [
            Match(View(self.game, seat, [programs[number] for number in lineup], private, shared))
            for seat, lineup, private, shared in setup["matches"]
        ]
        self.names = [
            {chr(FIRST_CODE + i): move for i, move in enumerate(legal)} for legal in self.game.moves
        ]
        self.codes = [{move: c for c, move in names.items()} for names in self.names]
        self.kinds = {type(move) for move in self.codes[0]}
        self.uniform = len({*self.game.moves}) == 1
        self.arrange()

    def arrange(self):
        """Line up what every round needs of the matches that are left."""
        self.mine = [match.view.mine for match in self.matches]
        self.theirs = [match.view.theirs for match in self.matches]
        self.acts = [(match.act or not_loaded, match.view) for match in self.matches]

    def drop(self, positions):
        """End the matches at these positions; say of each whether its program has looked at a tape."""
        drew = "".join("1" if self.matches[n].drew else "0" for n in positions)
        gone = {*positions}
        self.matches = [match for n, match in enumerate(self.matches) if n not in gone]
        self.arrange()
        return drew

    def line(self, joint):
        """Show every match the last joint moves, and answer with the codes of its next moves and the faults."""
        if joint:
            self.show(joint)
        made = []
        for act, view in self.acts:
            try:
                made.append(act(view))
            except BaseException as error:
                made.append(Raised(error))
        return self.encoded(made)

    def show(self, joint):
        """Add a round to every view; `joint` has a column for each seat, the own one first."""
        width = len(self.matches)
        if self.uniform and self.game.seats == 2:
            moves = [*map(self.names[0].__getitem__, joint)]
            collections.deque(map(list.append, self.mine, moves[:width]), 0)
            collections.deque(map(list.append, self.theirs, moves[width:]), 0)
            return
        columns = [joint[start : start + width] for start in range(0, len(joint), width)]
        for match, characters in zip(self.matches, zip(*columns)):
            self.show_one(match.view, characters)

    def show_one(self, view, characters):
        """Add a round to one view of any game."""
        seats = self.game.seats
        moves = [self.names[(view.seat + k) % seats][c] for k, c in enumerate(characters)]
        view.mine.append(moves[0])
        view.theirs.append(moves[1] if seats == 2 else tuple(moves[1:]))

    def encoded(self, made):
        """The codes of the moves, and behind a space the faults by position (JSON) where there are any."""
        if self.uniform and {*map(type, made)} == self.kinds:
            try:
                return "".join(map(self.codes[0].__getitem__, made))
            except KeyError:
                pass
        codes, found = [], {}
        for position, (match, move) in enumerate(zip(self.matches, made)):
            character, fault = self.judged(match, move)
            codes.append(character)
            if fault:
                found[position] = fault
        return "".join(codes) + (" " + json.dumps(found) if found else "")

    def judged(self, match, move):
        """The code of a legal move, or the fault that was made instead."""
        if match.fault:
            return FAULTY, match.fault
        if type(move) is Raised:
            return FAULTY, faults.raised("error", move.error, match.printed)
        codes = self.codes[match.view.seat]
        if type(move) in self.kinds and move in codes:
            return codes[move], None
        return FAULTY, faults.illegal(move, codes, match.printed)
