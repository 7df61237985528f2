"""The rows of the lists of games, bots and runs."""

from typing import Any

from tournament import library

RUNS = """
    select
        run, game,
        (config ->> '$.repetition.rounds')::integer as rounds,
        (config ->> '$.repetition.continuation')::double as continuation,
        (config ->> '$.repetition.discount')::double as discount,
        (config ->> '$.repetition.noise')::double as noise,
        seed,
        count(distinct session) as sessions,
        arg_max(status, session) as status,
        (select count(*) from matches where matches.run = runs.run) as matches
    from runs join sessions using (run)
    group by run, game, config, seed
    order by run
"""


def games() -> list[dict[str, Any]]:
    """Return a row for each packaged game."""
    return [_game(name) for name in library.games()]


def _game(name: str) -> dict[str, Any]:
    game = library.load_game(name)
    parameters = ", ".join(f"{key}={value}" for key, value in library.parameters_of(name).items())
    return {
        "game": name,
        "seats": game.seats,
        "kind": game.kind,
        "moves": list(game.moves[0]),
        "parameters": parameters,
        "about": library.describe_game(name),
    }


def bots(entrants: library.Entrants) -> list[dict[str, Any]]:
    """Return a row for each bot."""
    return [
        {"bot": each.name, "plays": ", ".join(each.plays) or "anything", "about": each.summary}
        for each in entrants.programs
    ]
