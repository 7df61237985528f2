"""Settings of oracles. An option goes before an environment variable, which goes before a line of a `.env` file.

The variables are called TOURNAMENT_... in capitals. `OPENAI_API_KEY` and `OPENAI_BASE_URL` work too, as in other
programs. Keys are secrets and must never be shown, so `Settings.scrub` removes them from texts that are shown.
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import AliasChoices, BeforeValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from tournament.errors import UsageError

OPENAI = "https://api.openai.com/v1"
PREFIX = "TOURNAMENT_"
"""Prefix of the environment variables of this program."""
NO_KEY = "none"
"""The text that is sent as the key if none is set, for servers that need no key."""

_KEY_LIKE = re.compile(r"\bsk-[\w*.\-]{6,}|(?<=Bearer )[^\s\"',]{6,}")


def checked_address(address: str) -> str:
    """Return the address of a server without a slash at its end.

    Raises `ValueError` if it is not an HTTP address, or if it contains a user name, a password, a query or a fragment.
    """
    try:
        parts = urlsplit(address.strip())
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise ValueError("is not an address such as http://127.0.0.1:8080/v1")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise ValueError("must be an address alone: set a key with OPENAI_API_KEY")
    return address.strip().rstrip("/")


def checked_key(value: Any) -> str | None:
    """Return a key without surrounding space. Raises `ValueError` for characters that a header cannot contain.

    Without this check, sending the key would fail, and the error could show the key.
    """
    if value is None:
        return None
    text = (value.get_secret_value() if isinstance(value, SecretStr) else str(value)).strip()
    if not (text.isascii() and text.isprintable()):
        raise ValueError("is not a key: it has characters that a key cannot have")
    return text or None


Address = Annotated[str, BeforeValidator(checked_address)]
Key = Annotated[SecretStr | None, BeforeValidator(checked_key)]
Count = Annotated[int, Field(gt=0)]
Whole = Annotated[int, Field(ge=0)]
Money = Annotated[Decimal, Field(ge=0)]
Seconds = Annotated[float, Field(gt=0)]


class Settings(BaseSettings):
    """How models are asked. `Settings.load` reads the settings; every field is also an environment variable."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_file=".env",
        env_file_encoding="utf-8",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        populate_by_name=True,
    )

    api_key: Key = Field(
        None, validation_alias=AliasChoices("TOURNAMENT_API_KEY", "OPENAI_API_KEY")
    )
    base_url: Address | None = Field(
        None, validation_alias=AliasChoices("TOURNAMENT_BASE_URL", "OPENAI_BASE_URL")
    )
    oracle: str | None = None
    """The oracles to ask if none is named, in the form that `spec.py` explains."""
    model: str | None = None
    """The model to ask if none is named: `openai/NAME`, or only a name together with `base_url`."""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    """The sampling temperature. If it is not set, the server decides."""
    max_tokens: Count = 8192
    """Most tokens that a model may answer with, including its reasoning."""

    concurrency: Count | None = None
    """Most calls at once. If it is not set, the limit starts at 20 and rises up to 100 while the server accepts it."""
    requests_per_minute: Count | None = None
    tokens_per_minute: Count | None = None
    time_limit: Seconds = 300.0
    """Seconds for one request and its answer."""
    retries: Whole = 5
    """How often a call is tried again after a pause."""
    longest_wait: Seconds = 120.0
    """Most seconds to wait at the request of the server. A call that would have to wait longer fails."""

    budget_money: Money | None = None
    """Most dollars that all calls of a run may cost."""
    budget_tokens: Whole | None = None
    budget_calls: Whole | None = None
    price_in: Money | None = None
    """Dollars for a million prompt tokens, if the table of prices lacks the model or is wrong about it."""
    price_out: Money | None = None
    """Dollars for a million answer tokens."""

    prompts: Path | None = None
    """A folder of prompt templates, which replace those of the engine that have the same names."""

    @classmethod
    def load(cls, **options: Any) -> Self:
        """Return the settings. An option that is None is taken from the environment instead.

        Raises `UsageError` for an invalid value, with a message in one line that does not show the value.
        """
        try:
            return cls(**{name: value for name, value in options.items() if value is not None})
        except ValidationError as error:
            problems = [_message(problem, options) for problem in error.errors()]
            raise UsageError("; ".join(problems)) from None

    def without_key(self, text: str) -> str:
        """Return the text with the key replaced by `***`."""
        key = self.api_key.get_secret_value() if self.api_key else NO_KEY
        return text if key == NO_KEY else text.replace(key, "***")

    def scrub(self, text: str) -> str:
        """Return the text with the key, and everything that looks like a key, replaced by `***`."""
        return _KEY_LIKE.sub("***", self.without_key(text))


def _message(problem: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """Return what is wrong with a setting, with the option or variables that set it but without its value."""
    name = str(problem["loc"][0]).lower().removeprefix(PREFIX.lower())
    alias = Settings.model_fields[name].validation_alias
    variables = alias.choices if isinstance(alias, AliasChoices) else [f"{PREFIX}{name.upper()}"]
    option = f"--{name.replace('_', '-')}" if options.get(name) is not None else ""
    own = problem.get("ctx", {}).get("error")
    text = own or problem["msg"].replace("Input should", "must").partition(",")[0]
    return f"{option or ' or '.join(map(str, variables))} {text}"
