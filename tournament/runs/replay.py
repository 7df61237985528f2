"""Plays a recorded match again, using only what the record contains and the file of the game."""

from dataclasses import dataclass
from typing import Any

from tournament.engine.run import Contest
from tournament.errors import NotFound, ParameterError, UsageError
from tournament.game import Repetition, Setting
from tournament.library import load_game
from tournament.match import Fault, Outcome
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
        return _content(self.recorded.outcome) == _content(self.outcome)


def recorded_setting(config: dict[str, Any], game: str | None) -> Setting:
    """Return the setting of a recorded configuration. `game` is the file of a game that does not come with the engine.

    Raises `UsageError` if the game is not found or is not the game that was recorded.
    """
    parameters = {name: str(value) for name, value in config["parameters"].items()}
    name = game or config["game"]
    other = UsageError(f"{name} is not the game that was recorded")
    try:
        setting = Setting(load_game(name, parameters), Repetition(**config["repetition"]))
    except NotFound:
        if game:
            raise
        raise UsageError(
            f"what was recorded is of {name}, a game of your own: name its file with --game"
        ) from None
    except ParameterError:
        raise other from None
    if setting.config != {name: config[name] for name in setting.config}:
        raise other
    return setting


def replay(recorded: Played, game: str | None, say: Say) -> Replay:
    """Play the match again strictly and return both outcomes. Raises the same errors as `recorded_setting`."""
    setting = recorded_setting(recorded.config, game)
    limits = Limits(**recorded.config["limits"])
    contest = Contest(setting, recorded.seed, recorded.programs, limits)
    [outcome] = play_strictly(contest, [recorded.outcome.fixture], say)
    same_image = recorded.manifest.get("image") == prepare(say).digest
    return Replay(recorded, setting, outcome, same_image)


def _content(outcome: Outcome) -> tuple[Any, ...]:
    """The parts of an outcome that must be the same when it is played again."""
    faults = [_rule(fault) for fault in outcome.faults]
    return (outcome.rounds, outcome.moves, outcome.intended, outcome.payoffs, faults)


def _rule(fault: Fault) -> tuple[int, str, int]:
    """The seat, kind and round of a fault. Its message and output are not compared."""
    return (fault.seat, fault.kind, fault.round)
