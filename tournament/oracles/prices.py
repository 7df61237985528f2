"""The cost of calls, computed from a bundled table of prices. An unknown price is None and never 0."""

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import genai_prices

MILLION = 1_000_000


@dataclass(frozen=True)
class Usage:
    """The tokens of a call as the server counted them. None means that the server did not report a number.

    `cached` is the number of prompt tokens that the server had in its cache.
    """

    prompt: int | None = None
    answer: int | None = None
    cached: int | None = None

    @property
    def total(self) -> int | None:
        """The tokens of prompt and answer together, or None if one of the two is unknown."""
        return None if self.prompt is None or self.answer is None else self.prompt + self.answer


@dataclass(frozen=True)
class Prices:
    """The prices of a model at an address.

    `own` replaces the prices of the table: dollars for a million prompt tokens and for a million answer tokens.
    """

    model: str
    base_url: str
    own: tuple[Decimal, Decimal] | None = None

    @cached_property
    def known(self) -> bool:
        """Whether the price of the model is known."""
        return self.cost(Usage(1, 1)) is not None

    def cost(self, usage: Usage) -> Decimal | None:
        """Return the cost in dollars, or None if the price or the tokens are unknown."""
        if usage.prompt is None or usage.answer is None:
            return None
        if self.own is not None:
            return (self.own[0] * usage.prompt + self.own[1] * usage.answer) / MILLION
        counted = genai_prices.Usage(
            input_tokens=usage.prompt,
            output_tokens=usage.answer,
            cache_read_tokens=min(usage.cached or 0, usage.prompt),
        )
        try:
            found = genai_prices.calc_price(counted, self.model, provider_api_url=self.base_url)
        except (LookupError, ValueError):
            return None
        return found.total_price
