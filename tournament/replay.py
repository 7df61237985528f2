"""Plays a recorded match again, from nothing but the record."""

from dataclasses import dataclass
from typing import Any

from tournament.engine.run import Contest
from tournament.errors import NotFound, ParameterError, UsageError
from tournament.game import Repetition, Setting
from tournament.library import load_game
from tournament.match import Fault, Outcome
from tournament.sandbox.image import Say, prepare
from tournament.sandbox.limits import Limits
from tournament.single import play_strictly
from tournament.store import Played


@dataclass(frozen=True)
class Replay:
    """A recorded match and what it came to now. `same_image` is whether it ran in the same sandbox image."""

    recorded: Played
    setting: Setting
    outcome: Outcome
    same_image: bool

    @property
    def identical(self) -> bool:
        """Whether moves, payoffs, horizon and faults are the same."""
        return _content(self.recorded.outcome) == _content(self.outcome)


def recorded_setting(config: dict[str, Any], game: str | None) -> Setting:
    """The setting of a recorded configuration; `game` names the file of a game that is not packaged."""
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
    """The match, played again strictly. Raises `UsageError` if its game is not to be had."""
    setting = recorded_setting(recorded.config, game)
    limits = Limits(**recorded.config["limits"])
    contest = Contest(setting, recorded.seed, recorded.programs, limits)
    [outcome] = play_strictly(contest, [recorded.outcome.fixture], say)
    same_image = recorded.manifest.get("image") == prepare(say).digest
    return Replay(recorded, setting, outcome, same_image)


def _content(outcome: Outcome) -> tuple[Any, ...]:
    faults = [_rule(fault) for fault in outcome.faults]
    return (outcome.rounds, outcome.moves, outcome.intended, outcome.payoffs, faults)


def _rule(fault: Fault) -> tuple[int, str, int]:
    return (fault.seat, fault.kind, fault.round)
