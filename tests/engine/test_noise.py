"""Noise is drawn from the match's own tape and replaces moves as often as the setting says."""

from collections import Counter

from tests.batches import batch_of
from tournament.engine.noise import shifts
from tournament.game import Repetition, Setting
from tournament.library import load_game

NOISY = Setting(load_game("rock_paper_scissors"), Repetition(1_000, noise=0.3))


def test_the_noise_of_a_match_does_not_depend_on_the_other_matches() -> None:
    alone = shifts(batch_of(["a", "b"], setting=NOISY))
    among = shifts(batch_of(["c", "a"], ["a", "b"], ["b", "b"], setting=NOISY))
    assert alone.shape == (1_000, 2)
    assert (among[:, 2:4] == alone).all()
    assert (among[:, :2] != alone).any()


def test_every_other_move_comes_as_often_as_the_noise_says() -> None:
    counts = Counter(shifts(batch_of(["a", "b"], setting=NOISY)).ravel().tolist())
    assert set(counts) == {0, 1, 2}
    assert all(0.12 < counts[shift] / 2_000 < 0.18 for shift in (1, 2))


def test_noise_is_drawn_for_the_rounds_of_a_match_only() -> None:
    setting = Setting(load_game("prisoners_dilemma"), Repetition(None, 0.8, noise=1.0))
    batch = batch_of(*[["a", "b"]] * 9, setting=setting)
    drawn = shifts(batch)
    assert len(set(batch.horizons)) > 2
    assert [int((drawn[:, 2 * n] > 0).sum()) for n in range(9)] == batch.horizons
