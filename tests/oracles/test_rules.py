"""The description of a game for a language model."""

from tournament.game import MatrixGame, Repetition, Setting
from tournament.library import load_game
from tournament.oracles.rules import own_payoffs, payoff_table, rules


def test_the_description_says_how_the_game_is_played() -> None:
    repeated = Setting(
        load_game("prisoners_dilemma"), Repetition(None, continuation=0.9, discount=0.5, noise=0.1)
    )
    text = rules(repeated)
    for part in (
        "probability 0.9",
        "0.5 to the power r",
        "probability 0.1",
        "Parameters: ",
        "'C', 'D'",
    ):
        assert part in text
    assert "for 7 rounds" in rules(Setting(repeated.game, Repetition(7)))
    assert "at most 50 rounds" in rules(Setting(load_game("level_based_foraging")))
    assert payoff_table(Setting(load_game("level_based_foraging"))) == ""


def test_payoffs_are_described_for_the_own_seat_and_as_a_table() -> None:
    battle = Setting(load_game("battle_of_the_sexes"))
    game = battle.game
    assert isinstance(game, MatrixGame)
    for seat in (0, 1):
        for line in own_payoffs(battle, seat).splitlines():
            mine, theirs, paid = (
                line.replace("you ", "").replace("opponent ", "").replace(":", ",").split(", ")
            )
            moves = [str(move) for move in game.moves[0]]
            own, other = moves.index(mine.strip("'")), moves.index(theirs.strip("'"))
            joint = (own, other) if seat == 0 else (other, own)
            assert game.payoff(joint)[seat] == float(paid)
    goods = Setting(load_game("public_goods"))
    assert payoff_table(goods).count("\n- ") == 2**goods.game.seats or not payoff_table(goods)
    assert own_payoffs(goods, 0) == ""
