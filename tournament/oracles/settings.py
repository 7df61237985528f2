"""Settings of oracles, from options, the environment and a `.env` file: the first that says something is heard.

Ours are called TOURNAMENT_..., in capitals; `OPENAI_API_KEY` and `OPENAI_BASE_URL` are honoured as everywhere. Keys
are secrets: they are shown nowhere, and `Scrubber` takes them out of what is.
"""

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from tournament.errors import UsageError

OPENAI = "https://api.openai.com/v1"
PREFIX = "TOURNAMENT_"
"""Of the environment variables that are ours."""
NO_KEY = "none"
"""What is sent as a key to servers that want none."""

_KEY_LIKE = re.compile(r"\bsk-[\w*.\-]{6,}|(?<=Bearer )[^\s\"',]{6,}")

Count = Annotated[int, Field(gt=0)]
Whole = Annotated[int, Field(ge=0)]
Money = Annotated[Decimal, Field(ge=0)]
Seconds = Annotated[float, Field(gt=0)]


class Settings(BaseSettings):
    """How models are asked. `Settings.load` reads it; every field is also an environment variable."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_file=".env",
        env_file_encoding="utf-8",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        populate_by_name=True,
    )

    api_key: SecretStr | None = Field(
        None, validation_alias=AliasChoices("TOURNAMENT_API_KEY", "OPENAI_API_KEY")
    )
    base_url: str | None = Field(
        None, validation_alias=AliasChoices("TOURNAMENT_BASE_URL", "OPENAI_BASE_URL")
    )
    oracle: str | None = None
    """What to ask where nothing is said: see `spec.py`."""
    model: str | None = None
    """`openai/NAME`, or a bare name with `base_url`."""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    """Left to the server where it is not set."""
    max_tokens: Count = 8192
    """The most that a model may answer, its reasoning included."""

    concurrency: Count | None = None
    """The most calls at once; by itself it starts at 20 and goes up to 100 while the server bears it."""
    requests_per_minute: Count | None = None
    tokens_per_minute: Count | None = None
    time_limit: Seconds = 300.0
    """For one request."""
    retries: Whole = 5
    longest_wait: Seconds = 120.0
    """The most to wait because the server says so; a call that would have to wait longer is given up."""

    budget_money: Money | None = None
    """Dollars."""
    budget_tokens: Whole | None = None
    budget_calls: Whole | None = None
    price_in: Money | None = None
    """Dollars for a million tokens of a prompt, where the table does not know the model or knows it wrongly."""
    price_out: Money | None = None

    prompts: Path | None = None
    """A folder of templates that go before the engine's own."""

    @field_validator("api_key", mode="before")
    @classmethod
    def _one_line(cls, value: Any) -> Any:
        """A key is sent as a header, where other characters would fail, and might be shown by whatever fails."""
        if value is None:
            return None
        text = value.get_secret_value() if isinstance(value, SecretStr) else str(value)
        if not (text.strip().isascii() and text.strip().isprintable()):
            raise ValueError("is not a key: it has characters that a key cannot have")
        return text.strip() or None

    @field_validator("base_url")
    @classmethod
    def _plain_address(cls, value: str | None) -> str | None:
        return None if value is None else checked_address(value)

    @classmethod
    def load(cls, **options: Any) -> Self:
        """The settings, with options that are None left to the environment.

        Raises `UsageError` for a value that is no such thing, in one line that does not show the value.
        """
        try:
            return cls(**{name: value for name, value in options.items() if value is not None})
        except ValidationError as error:
            raise UsageError(
                "; ".join(_told(problem, options) for problem in error.errors())
            ) from None

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must never be shown."""
        return () if self.api_key is None else (self.api_key.get_secret_value(),)


def _told(problem: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """What is wrong with a setting, under the name by which it was given, and without its value."""
    name = str(problem["loc"][0]).lower().removeprefix(PREFIX.lower())
    given = f"--{name.replace('_', '-')}" if options.get(name) is not None else _variables(name)
    own = problem.get("ctx", {}).get("error")
    return f"{given} {own or problem['msg'].replace('Input should', 'must').partition(',')[0]}"


def _variables(name: str) -> str:
    """The environment variables that a setting is taken from."""
    choices = Settings.model_fields[name].validation_alias
    names = choices.choices if isinstance(choices, AliasChoices) else [f"{PREFIX}{name.upper()}"]
    return " or ".join(map(str, names))


def checked_address(address: str) -> str:
    """The address of a server, without a slash at its end. Raises `ValueError` if it is not one."""
    try:
        parts = urlsplit(address.strip())
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise ValueError("is not an address such as http://127.0.0.1:8080/v1")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise ValueError("must be a bare address: a key belongs into OPENAI_API_KEY")
    return address.strip().rstrip("/")


class Scrubber:
    """Takes secrets out of texts: those it is given, and whatever looks like a key."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets = sorted({s for s in secrets if s and s != NO_KEY}, key=len, reverse=True)

    def exactly(self, text: str) -> str:
        """The text without the secrets."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    def __call__(self, text: str) -> str:
        """The text without the secrets and without what looks like one."""
        return _KEY_LIKE.sub("***", self.exactly(text))

    def __repr__(self) -> str:
        return "Scrubber()"
