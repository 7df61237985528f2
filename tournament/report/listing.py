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
    loaded = {name: library.load_game(name) for name in library.games()}
    return [
        {
            "game": name,
            "seats": game.seats,
            "kind": game.kind,
            "moves": list(game.moves[0]),
            "parameters": ", ".join(f"{k}={v}" for k, v in library.parameters_of(name).items()),
            "about": library.describe_game(name),
        }
        for name, game in loaded.items()
    ]


def bots(entrants: library.Entrants) -> list[dict[str, Any]]:
    """Return a row for each bot."""
    return [
        {"bot": each.name, "plays": ", ".join(each.plays) or "anything", "about": each.summary}
        for each in entrants.programs
    ]
