"""Never returns in its second round."""


def act(view):
    while view.mine:
        pass
    return "C"
