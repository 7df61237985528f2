"""Coin game: whoever takes a coin gains, and if it was the other's coin, the other loses more.

Two players walk on a 3 by 3 grid whose edges are joined. There are always two coins, one for each
player. Both move at once, "up" (to row 0), "down", "left" (to column 0) or "right", and may be in
the same cell. For every coin that is stepped on:

        whoever steps on it        +1
        its owner, if the other player steps on it (both may)   -2

It then comes up again in a free cell: one without a player or the other coin, all equally likely.
With `anywhere`, it may come up in any cell, and lies where it is until somebody steps on it.
Players start in any cells, coins in free ones.

A seat observes {"size", "step", "me": [row, column], "other", "my_coin", "other_coin": the same}.

Taking just one's own coins is best for both together, and taking all of them for each: the prisoner's
dilemma, spread over steps. A. Lerer and A. Peysakhovich, "Maintaining cooperation in complex social
dilemmas using deep reinforcement learning", arXiv:1707.01068, 2017, with one coin at a time. With
two and 10 steps, between programs: S. Sistla and M. Kleiman-Weiner, "Evaluating LLMs in open-source
games", arXiv:2512.00371, NeurIPS 2025, whose coins come up anywhere.
"""

from typing import NamedTuple

from tournament.game import Joint, Payoffs, StateGame, check_whole
from tournament.seeds import Tape

NAME = "coin_game"
WAYS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
MOVES = tuple(WAYS)
GAIN, HARM = 1.0, 2.0

Cell = tuple[int, int]


class State(NamedTuple):
    """Where the players are and where the coin of each lies, by seat."""

    players: tuple[Cell, Cell]
    coins: tuple[Cell, Cell]
    step: int = 0


def game(*, size: int = 3, horizon: int = 10, anywhere: bool = False) -> StateGame:
    """The game for so many steps on a grid of that size. Raises `ParameterError`."""
    check_whole(NAME, "size", size, 3, 20)
    check_whole(NAME, "horizon", horizon, 1, 10_000)
    cells = [(row, column) for row in range(size) for column in range(size)]

    def start(tape: Tape) -> State:
        players = tape.choice(cells), tape.choice(cells)
        first = drop(tape, players)
        return State(players, (first, drop(tape, (*players, first))))

    def drop(tape: Tape, taken: tuple[Cell, ...]) -> Cell:
        """A cell for a coin."""
        return tape.choice([cell for cell in cells if anywhere or cell not in taken])

    def step(state: State, joint: Joint, tape: Tape) -> tuple[State, Payoffs]:
        one, two = (_moved(p, m, size) for p, m in zip(state.players, joint, strict=True))
        paid = [0.0, 0.0]
        coins = list(state.coins)
        for owner, coin in enumerate(state.coins):
            for seat, player in enumerate((one, two)):
                if player == coin:
                    paid[seat] += GAIN
                    paid[owner] -= HARM * (seat != owner)
        for owner, coin in enumerate(state.coins):
            if coin in (one, two):
                coins[owner] = drop(tape, (one, two, coins[1 - owner]))
        return State((one, two), (coins[0], coins[1]), state.step + 1), (paid[0], paid[1])

    return StateGame(
        name=NAME,
        moves=(MOVES, MOVES),
        start=start,
        observe=lambda state, seat: {
            "size": size,
            "step": state.step,
            "me": [*state.players[seat]],
            "other": [*state.players[1 - seat]],
            "my_coin": [*state.coins[seat]],
            "other_coin": [*state.coins[1 - seat]],
        },
        step=step,
        over=lambda state: state.step >= horizon,
        most_rounds=horizon,
        worst=(-HARM, -HARM),
        parameters={"size": size, "horizon": horizon, "anywhere": anywhere},
    )


def _moved(player: Cell, move: int, size: int) -> Cell:
    """Where a step leads, around the edge if need be."""
    row, column = WAYS[MOVES[move]]
    return (player[0] + row) % size, (player[1] + column) % size
