"""Noise is drawn from the match's own tape, whenever moves are made."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from tests.batches import batch_of
from tournament.engine.noise import Noise
from tournament.game import Repetition, Setting
from tournament.library import load_game

NOISY = Setting(load_game("rock_paper_scissors"), Repetition(1_000, noise=0.3))
BATCH = batch_of(["a", "b"], setting=NOISY)


def disturbed(places: Sequence[int], move: str = "0") -> list[str]:
    """What comes of a move in each place (round and seat), when they are asked for in this order."""
    noise = Noise(BATCH)
    made = {place: noise.disturbed(place % 2, place // 2, move) for place in places}
    return [made[place] for place in sorted(made)]


@given(st.permutations(range(40)))
def test_what_comes_of_a_move_does_not_depend_on_when_it_is_made(order: list[int]) -> None:
    assert disturbed(order) == disturbed(range(40))


def test_a_move_comes_out_as_any_other_as_often_as_the_noise_says() -> None:
    for move in "012":
        came = disturbed(range(2_000), move)
        others = sorted({*"012"} - {move})
        assert 0.27 < 1 - came.count(move) / len(came) < 0.33
        assert all(0.12 < came.count(other) / len(came) < 0.18 for other in others)
