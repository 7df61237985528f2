"""Raises in its third round."""


def act(view):
    return "C" if len(view.mine) < 2 else {}["missing"]
