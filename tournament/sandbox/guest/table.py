"""All matches of the program in this instance, and the codes by which their moves travel."""

import json
import sys

import faults
from match import Match
from past import EVERY, Past
from view import Game, Program, Text, View

FIRST_CODE = 48
FAULTY = "!"
MIRRORED = "*"
UNSEEN = "-"


class Raised:
    """Stands for the move of a match whose `act` raised."""

    def __init__(self, error):
        self.error = error


def not_loaded(view):
    """Stands in for the `act` of a match whose program would not load."""
    return None


def mirrored(joint, last):
    """The line's moves, with what two matches that are one from both seats have last moved against one another."""
    start = joint.index(MIRRORED)
    return joint[:start] + "".join([b + a for a, b in zip(last[start::2], last[start + 1 :: 2])])


class Table:
    """The matches that are still being played; `host` answers requests."""

    def __init__(self, setup, host, game=None):
        self.game = Game(setup["game"]) if game is None else game
        self.host = host
        self.texts = {}
        self.names = [
            {chr(FIRST_CODE + i): move for i, move in enumerate(legal)} for legal in self.game.moves
        ]
        self.codes = [{move: c for c, move in names.items()} for names in self.names]
        for names in self.names:
            names[FAULTY] = FAULTY
        self.kinds = [*{type(move) for codes in self.codes for move in codes}]
        self.uniform = len({*self.game.moves}) == len(self.kinds) == 1
        self.letters = self.uniform and all(type(m) is str and len(m) == 1 for m in self.codes[0])
        self.reading = str.maketrans(self.names[0]) if self.letters else None
        self.writing = str.maketrans(self.codes[0]) if self.letters else None
        self.legal = {*self.codes[0]}
        self.last = FAULTY * len(setup["matches"])
        self.past = Past(len(setup["matches"]))
        self.shown = False
        self.matches = [self.match(n, *setup) for n, setup in enumerate(setup["matches"])]
        self.arrange()

    def match(self, number, seat, lineup, private, shared):
        """A match that has not started."""
        programs = [Program(self.text(digest)) for digest in lineup]
        return Match(View(self, seat, programs, private, shared, number))

    def seen(self, view, name):
        """The list of that name (see `past`) of the match with that view."""
        if name == "theirs":
            self.shown = True
            if self.past.unseen:
                self.host("unseen")
        return self.past.of(name)[self.places[view]]

    def text(self, digest):
        """The text of a program at the table: one object for all of its matches."""
        if digest not in self.texts:
            self.texts[digest] = Text(digest, self.host)
        return self.texts[digest]

    def arrange(self):
        """Line up what every round needs of the matches that are left."""
        self.acts = [match.act or not_loaded for match in self.matches]
        self.views = [match.view for match in self.matches]
        self.places = {view: n for n, view in enumerate(self.views)}
        if len(self.matches) == 1:
            [self.mine], [self.theirs] = self.past.of("mine"), self.past.of("theirs")

    def drop(self, positions):
        """End the matches at these positions; say of each at what its program has looked."""
        looked = "".join(str(self.matches[n].view.looked) for n in positions)
        gone = {*positions}
        # Where all are over, so is the table: whatever takes its place clears it away.
        if len(gone) < len(self.matches):
            self.end(gone)
        return looked

    def end(self, gone):
        """End the matches at these positions."""
        for position in gone:
            self.matches[position].end()
        left = [n for n in range(len(self.matches)) if n not in gone]
        self.matches = [self.matches[n] for n in left]
        self.last = "".join([self.last[n] for n in left])
        self.past.keep(left)
        self.arrange()

    def play(self, lines):
        """The answers to lines."""
        lone = len(self.matches) == 1 and " " not in lines and "\t" not in lines
        return "\n".join(map(self.lone if lone else self.line, lines.split("\n")))

    def lone(self, joint):
        """The same as `line`, where there is one match: what is done for many at once would take longer."""
        [match] = self.matches
        if joint == UNSEEN:
            self.hide(EVERY)
        elif joint:
            own = self.last if len(joint) < self.game.seats else ""
            mine, theirs = self.moves(match.view, own + joint)
            self.mine.append(mine)
            self.theirs.append(theirs)
        try:
            move = self.acts[0](match.view)
        except BaseException as error:
            move = Raised(error)
        self.last, fault = self.judged(match, move)
        return self.last + self.told({0: fault}) if fault else self.last

    def line(self, text):
        """Play a line (see `bot.wit`): answer with the codes of the moves, and the faults."""
        part, seen = EVERY, ""
        if "\t" in text:
            text, seen = text.split("\t")
        if " " in text:
            first, last, text = text.split(" ")
            part = slice(int(first), int(last))
        if text:
            self.show(text, part)
        if seen:
            for match, observation in zip(self.matches[part], json.loads(seen)):
                match.view.observation = observation
        made, acts, views = [], self.acts, self.views
        if part is not EVERY:
            acts, views = acts[part], views[part]
        for act, view in zip(acts, views):
            try:
                made.append(act(view))
            except BaseException as error:
                made.append(Raised(error))
        return self.encoded(made, part)

    def show(self, joint, part=EVERY):
        """Add a round to the views of a part; `joint` has a column for each seat, the own one first or left out."""
        if joint == UNSEEN:
            self.hide(part)
            return
        last = self.last if part is EVERY else self.last[part]
        width = len(last)
        if MIRRORED in joint:
            joint = mirrored(joint, last)
        if len(joint) < width * self.game.seats:
            joint = last + joint
        if self.uniform and self.game.seats == 2:
            moves = self.read(joint)
            self.past.add(part, moves[:width], moves[width:])
            return
        columns = [joint[start : start + width] for start in range(0, len(joint), width)]
        moves = map(self.moves, self.views[part], zip(*columns))
        self.past.add(part, *zip(*moves))

    def hide(self, part):
        """Add a round of which a part is shown nothing but its own moves; what is asked for here never comes back."""
        if self.shown:
            self.host("unseen")
        self.past.unseen = True
        own = zip(self.views[part], self.last[part])
        self.past.add(part, [self.names[view._seat][code] for view, code in own], ())

    def moves(self, view, characters):
        """A round of any game as one view has it: the own move, and that of the other or a tuple of the others'."""
        seats = self.game.seats
        if seats == 2:
            return self.names[view._seat][characters[0]], self.names[1 - view._seat][characters[1]]
        moves = [self.names[(view._seat + k) % seats][c] for k, c in enumerate(characters)]
        return moves[0], tuple(moves[1:])

    def read(self, codes):
        """The moves of a uniform game by their codes."""
        if self.letters:
            return codes.translate(self.reading)
        return [*map(self.names[0].__getitem__, codes)]

    def written(self, moves):
        """The codes of legal moves of a uniform game."""
        if self.letters:
            return "".join(moves).translate(self.writing)
        return "".join(map(self.codes[0].__getitem__, moves))

    def encoded(self, made, part):
        """The codes of a part's moves, and behind a space the faults by position (JSON) where there are any."""
        if self.uniform and self.are_legal(made):
            return self.noted(self.written(made), part)
        codes, found = [], {}
        for position, (match, move) in enumerate(zip(self.matches[part], made)):
            character, fault = self.judged(match, move)
            codes.append(character)
            if fault:
                found[position] = fault
        return self.noted("".join(codes), part) + self.told(found)

    def are_legal(self, moves):
        """Whether all are legal moves of a uniform game."""
        if not self.letters:
            kinds = self.kinds * len(moves)
            return [*map(type, moves)] == kinds and self.legal.issuperset(moves)
        try:
            # Refuses all that is not exactly a text, and takes half as long as to ask for types.
            return self.legal.issuperset(map(sys.intern, moves))
        except TypeError:
            return False

    def told(self, found):
        """The faults by position, behind a space, where there are any; whoever is at fault is not asked again."""
        if not found:
            return ""
        self.arrange()
        return " " + json.dumps(found)

    def noted(self, codes, part):
        """The codes, which are the last moves of the part's matches now."""
        if part is EVERY:
            self.last = codes
        else:
            self.last = self.last[: part.start] + codes + self.last[part.stop :]
        return codes

    def judged(self, match, move):
        """The code of a legal move, or the fault that is made instead, with which the match is over."""
        codes = self.codes[match.view._seat]
        if match.fault:
            pass
        elif type(move) is Raised:
            match.fault = faults.raised("error", move.error, match.printed)
        elif self.is_of_a_kind(move) and move in codes:
            return codes[move], None
        else:
            match.fault = faults.illegal(move, codes, match.printed)
        match.act = None
        return FAULTY, match.fault

    def is_of_a_kind(self, move):
        """Whether the move has exactly the type of a legal one."""
        return type(move) is self.kinds[0] or any(type(move) is kind for kind in self.kinds)
