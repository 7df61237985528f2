"""The arrays of moves have in them what every match would have if it were played by itself."""

import json
from zlib import crc32

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.batches import batch_of
from tournament.engine.batch import Batch
from tournament.engine.group import Group
from tournament.engine.matches import Matches
from tournament.engine.noise import shifts
from tournament.game import Repetition, Setting, StateGame, code, index
from tournament.library import load_game

PAIRS = load_game("prisoners_dilemma")
TRIPLES = load_game("public_goods", {"seats": 3, "endowment": 1})

Faulty = frozenset[tuple[int, int]]
"""The programs that break a rule, each with the round in which it does."""


def answer(program: int, round_number: int, seen: str, faulty: Faulty) -> str:
    """The code that a program answers, which depends on what it was last shown; "!" for a fault."""
    if (program, round_number) in faulty:
        return "!"
    return str(crc32(repr((program, round_number, seen)).encode()) % 2)


def in_lockstep(batch: Batch, faulty: Faulty) -> tuple[list[str], dict[int, int]]:
    """The moves by player and the rounds of the faults, when all matches are played together."""
    matches = Matches(batch, None)
    groups = [Group(batch, program, players) for program, players in batch.players.items()]
    while groups:
        for group in groups:
            line = matches.line(group, matches.round)
            width = len(group.players)
            seen = [line[n::width] for n in range(width)] if line else [""] * width
            codes = "".join(answer(group.program, matches.round, s, faulty) for s in seen)
            faults = {n: ["error", ""] for n, move in enumerate(codes) if move == "!"}
            matches.add(group.players, codes, faults)
        matches.end_round()
        left = [np.delete(group.players, matches.over(group)).tolist() for group in groups]
        groups = [
            Group(batch, group.program, players)
            for group, players in zip(groups, left, strict=True)
            if players
        ]
    faults = {player: fault.round for player, fault in matches.faults.items()}
    return matches.columns(matches.made), faults


def one_by_one(batch: Batch, faulty: Faulty) -> tuple[list[str], dict[int, int]]:
    """The same, when each match is played by itself."""
    columns: list[str] = []
    faults: dict[int, int] = {}
    noise = shifts(batch) if batch.repetition.noise else None
    for match, (lineup, _) in enumerate(batch.matches):
        made: list[str] = []
        shown = ""
        for number in range(batch.horizons[match]):
            seen = [shown[seat:] + shown[:seat] for seat in range(batch.seats)]
            joint = "".join(
                answer(program, number, seen[seat], faulty) for seat, program in enumerate(lineup)
            )
            start = match * batch.seats
            faults |= {start + seat: number for seat, move in enumerate(joint) if move == "!"}
            if "!" in joint:
                break
            made.append(joint)
            by = noise[number, start:].tolist() if noise is not None else [0] * batch.seats
            shown = "".join(code((index(m) + by[seat]) % 2) for seat, m in enumerate(joint))
        columns += ["".join(joint[seat] for joint in made) for seat in range(batch.seats)]
    return columns, faults


@given(st.data())
def test_lockstep_makes_the_moves_of_playing_match_by_match(data: st.DataObject) -> None:
    game = data.draw(st.sampled_from([PAIRS, TRIPLES]))
    names = st.sampled_from("abcd")
    lineups = data.draw(st.lists(st.tuples(*[names] * game.seats), min_size=1, max_size=6))
    noise = data.draw(st.sampled_from([0.0, 0.3]))
    rounds = data.draw(st.none() | st.integers(1, 12))
    repetition = Repetition(rounds, None if rounds else 0.8, noise=noise)
    batch = batch_of(*lineups, setting=Setting(game, repetition))
    faulty = data.draw(st.frozensets(st.tuples(st.integers(0, 3), st.integers(0, 12)), max_size=3))
    assert in_lockstep(batch, faulty) == one_by_one(batch, faulty)


def test_a_fault_in_a_match_that_is_over_is_not_recorded() -> None:
    matches = Matches(batch_of("ab"), None)
    players = np.arange(2)
    matches.add(players, "0!", {1: ["error", "the first"]})
    assert matches.end_round()
    matches.add(players, "!!", {0: ["error", "too late"], 1: ["error", "too late"]})
    assert {player: fault.message for player, fault in matches.faults.items()} == {1: "the first"}


def test_a_line_of_a_game_with_a_state_ends_with_what_is_observed() -> None:
    game = load_game("coin_game")
    assert isinstance(game, StateGame)
    batch = batch_of("ab", setting=Setting(game))
    line = Matches(batch, game).line(Group(batch, 0, [0]), 0)
    joint, _, observations = line.partition("\t")
    assert joint == ""
    assert len(json.loads(observations)) == 1
