"""The matches that one program plays in this instance. They move in lockstep, and their moves travel as codes."""

import json
import sys

import faults
from histories import Histories
from match import Match
from view import Game, Program, Text, View

FIRST_CODE = 48
FAULTY = "!"
UNSEEN = "-"


class Raised:
    """Stands for the move of a match whose `act` raised an exception."""

    def __init__(self, error):
        self.error = error


def no_move(view):
    """Stands in for the `act` of a match whose program did not load or has broken a rule."""
    return None


class Group:
    """The matches that are still played; `host` answers requests. `game` is None before the first `start`."""

    game = None

    def start(self, setup, host):
        """Put the matches of a setup in the place of those before; none of them has made a move yet."""
        if self.game is None:
            self.learn(Game(setup["game"]))
        self.host = host
        self.texts = {}
        self.histories = Histories(len(setup["matches"]))
        self.last = ""
        self.matches = [self.match(n, *each) for n, each in enumerate(setup["matches"])]

    def learn(self, game):
        """Derive from the game how its moves are written as codes and read from codes."""
        self.game = game
        self.names = [
            {chr(FIRST_CODE + i): move for i, move in enumerate(legal)} for legal in game.moves
        ]
        self.codes = [{move: c for c, move in names.items()} for names in self.names]
        for names in self.names:
            names[FAULTY] = FAULTY
        self.kinds = [*{type(move) for codes in self.codes for move in codes}]
        self.uniform = len({*game.moves}) == len(self.kinds) == 1
        self.letters = self.uniform and all(type(m) is str and len(m) == 1 for m in self.codes[0])
        self.reading = str.maketrans(self.names[0]) if self.letters else None
        self.writing = str.maketrans(self.codes[0]) if self.letters else None
        self.legal = {*self.codes[0]}

    def match(self, number, seat, lineup, private, shared):
        """Return a match that has not started."""
        programs = [Program(self.text(digest)) for digest in lineup]
        return Match(View(self, seat, programs, private, shared, number))

    def text(self, digest):
        """Return the text of a program: one object for all matches that the program is in."""
        if digest not in self.texts:
            self.texts[digest] = Text(digest, self.host)
        return self.texts[digest]

    def arrange(self):
        """Make the lists that every round needs of the matches that are left."""
        self.acts = [match.act or no_move for match in self.matches]
        self.views = [match.view for match in self.matches]
        self.positions = {view: n for n, view in enumerate(self.views)}

    def seen(self, view, name):
        """Return the moves (`mine` or `theirs`) that the match with this view has seen, as a list that will grow."""
        if name == "theirs" and self.histories.unseen:
            self.host("unseen")
        return self.histories.of(name)[self.positions[view]]

    def play(self, lines):
        """Return the answers to lines: each line shows every match a round and asks it for a move (see `bot.wit`)."""
        answers = []
        for line in lines.split("\n"):
            self.show(line)
            made = []
            for act, view in zip(self.acts, self.views):
                try:
                    made.append(act(view))
                except BaseException as error:
                    made.append(Raised(error))
            self.last, found = self.encoded(made)
            answers.append(self.last + found)
        return "\n".join(answers)

    def show(self, line):
        """Show the matches the joint moves of a line, and what they observe if the game has a state."""
        joint, _, observations = line.partition("\t")
        if joint == UNSEEN:
            self.hide()
        elif joint:
            self.add(joint)
        if observations:
            for view, observation in zip(self.views, json.loads(observations)):
                view.observation = observation

    def add(self, joint):
        """Add a round to the histories; `joint` has the codes of all matches for each seat, from the own seat on."""
        width = len(self.matches)
        if self.uniform and self.game.seats == 2:
            moves = self.read(joint)
            self.histories.add(moves[:width], moves[width:])
            return
        columns = [joint[start : start + width] for start in range(0, len(joint), width)]
        self.histories.add(*zip(*map(self.moves, self.views, zip(*columns))))

    def hide(self):
        """Add a round to the histories in which only the own moves are shown, which are those that were last made."""
        if "theirs" in self.histories.lists:
            self.host("unseen")
        own = [self.names[view._seat][code] for view, code in zip(self.views, self.last)]
        self.histories.unseen = True
        self.histories.add(own, ())

    def moves(self, view, codes):
        """Return a round of any game as one view has it: the own move, and the other's or a tuple of the others'."""
        seats = self.game.seats
        moves = [self.names[(view._seat + turn) % seats][c] for turn, c in enumerate(codes)]
        return moves[0], moves[1] if seats == 2 else tuple(moves[1:])

    def read(self, codes):
        """Return the moves of a uniform game for their codes."""
        if self.letters:
            return codes.translate(self.reading)
        return [*map(self.names[0].__getitem__, codes)]

    def encoded(self, made):
        """Return the codes of the moves, and if there are faults, a space and the faults by position (JSON)."""
        if self.uniform and self.are_legal(made):
            return self.written(made), ""
        codes, found = "", {}
        for position, (match, move) in enumerate(zip(self.matches, made)):
            code, fault = self.judged(match, move)
            codes += code
            if fault:
                found[position] = fault
        if not found:
            return codes, ""
        self.arrange()
        return codes, " " + json.dumps(found)

    def are_legal(self, moves):
        """Whether all these are legal moves of a uniform game."""
        if not self.letters:
            kinds = self.kinds * len(moves)
            return [*map(type, moves)] == kinds and self.legal.issuperset(moves)
        try:
            # `intern` accepts nothing but exact strings, and is twice as fast as asking for the types.
            return self.legal.issuperset(map(sys.intern, moves))
        except TypeError:
            return False

    def written(self, moves):
        """Return the codes of legal moves of a uniform game."""
        if self.letters:
            return "".join(moves).translate(self.writing)
        return "".join(map(self.codes[0].__getitem__, moves))

    def judged(self, match, move):
        """Return the code of a legal move and None; or `FAULTY` and the fault, which ends the match."""
        codes = self.codes[match.view._seat]
        if match.fault:
            pass
        elif type(move) is Raised:
            match.fault = faults.raised("error", move.error, match.printed)
        elif any(type(move) is kind for kind in self.kinds) and move in codes:
            return codes[move], None
        else:
            match.fault = faults.illegal(move, codes, match.printed)
        match.act = None
        return FAULTY, match.fault

    def leave(self, positions):
        """End the matches at these positions; return for each, as a digit, what its program has read."""
        reads = "".join([str(self.matches[n].view.reads) for n in positions])
        gone = {*positions}
        # If none is left, the instance will not play again, or only after another `start`.
        if len(gone) < len(self.matches):
            self.keep([n for n in range(len(self.matches)) if n not in gone])
        return reads

    def keep(self, positions):
        """End all matches but those at these positions."""
        kept = [self.matches[position] for position in positions]
        self.last = "".join([self.last[position] for position in positions])
        for match in {*self.matches}.difference(kept):
            match.end()
        self.matches = kept
        self.histories.keep(positions)
        self.arrange()
