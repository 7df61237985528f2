"""Plays a recorded match again, using only what the record contains and the file of the game."""

from dataclasses import dataclass
from typing import Any

from tournament.engine.run import Contest
from tournament.errors import NotFound, ParameterError, UsageError
from tournament.game import Repetition, Setting
from tournament.library import load_game
from tournament.match import Outcome
from tournament.runs.single import play_strictly
from tournament.sandbox.image import Say, prepare
from tournament.sandbox.limits import Limits
from tournament.store import Played


@dataclass(frozen=True)
class Replay:
    """A recorded match and its new outcome. `same_image` says whether both were played in the same sandbox image."""

    recorded: Played
    setting: Setting
    outcome: Outcome
    same_image: bool

    @property
    def identical(self) -> bool:
        """Whether the moves, payoffs, horizon and faults are the same in both outcomes."""
        return self.recorded.outcome.content == self.outcome.content


def recorded_setting(config: dict[str, Any], game: str | None) -> Setting:
    """Return the setting of a recorded configuration. `game` is the file of a game that does not come with the engine.

    Raises `UsageError` if the game is not found or is not the game that was recorded.
    """
    parameters = {name: str(value) for name, value in config["parameters"].items()}
    name = game or config["game"]
    other = UsageError(f"{name} is not the game that was recorded, or its rules have changed since")
    try:
        setting = Setting(load_game(name, parameters), Repetition(**config["repetition"]))
    except NotFound:
        if game:
            raise
        problem = f"the recorded game {name} does not come with the engine"
        raise UsageError(f"{problem}: name its file with --game") from None
    except ParameterError:
        raise other from None
    if setting.config != {name: config[name] for name in setting.config}:
        raise other
    return setting


def replay(recorded: Played, game: str | None, report: Say) -> Replay:
    """Play the match again strictly and return both outcomes. Raises the same errors as `recorded_setting`."""
    setting = recorded_setting(recorded.config, game)
    limits = Limits(**recorded.config["limits"])
    contest = Contest(setting, recorded.seed, recorded.programs, limits)
    [outcome] = play_strictly(contest, [recorded.outcome.fixture], report)
    same_image = recorded.manifest.get("image") == prepare(report).digest
    return Replay(recorded, setting, outcome, same_image)
