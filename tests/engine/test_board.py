"""A board gives back what was put on it."""

from hypothesis import given
from hypothesis import strategies as st

from tournament.engine.board import Board

PLACES = 6


@given(st.data())
def test_moves_that_are_put_down_side_by_side_come_back_one_by_one(data: st.DataObject) -> None:
    board = Board(PLACES)
    expected = [""] * PLACES
    for _ in range(data.draw(st.integers(0, 20))):
        place = data.draw(st.integers(0, PLACES - 1))
        number = len(expected[place])
        last = place
        while last < PLACES and len(expected[last]) == number:
            last += 1
        codes = st.text("01", min_size=last - place, max_size=last - place)
        made = data.draw(st.lists(codes, max_size=3))
        board.put(number, place, made)
        for column, moves in enumerate(zip(*made, strict=True), place):
            expected[column] += "".join(moves)
    assert board.columns(map(len, expected)) == expected


def test_what_is_not_done_is_not_given_back_and_is_put_down_anew() -> None:
    board = Board(2)
    board.put(0, 0, ["01", "23", "45"])
    assert board.columns([1, 2]) == ["0", "13"]
    board.put(1, 0, ["6"])
    assert board.columns([2, 3]) == ["06", "135"]
