"""What calls cost, by a bundled table of prices. An unknown price is None, never 0."""

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import genai_prices

MILLION = 1_000_000


@dataclass(frozen=True)
class Usage:
    """Tokens of a call as the server counted them: `cached` are those of the prompt that it had seen before.

    None is what the server did not say.
    """

    prompt: int | None = None
    answer: int | None = None
    cached: int | None = None

    @property
    def total(self) -> int | None:
        """All tokens."""
        return None if self.prompt is None or self.answer is None else self.prompt + self.answer


@dataclass(frozen=True)
class Prices:
    """What a model costs at an address; `own` are dollars for a million tokens in and out, instead of the table's."""

    model: str
    base_url: str
    own: tuple[Decimal, Decimal] | None = None

    def cost(self, usage: Usage) -> Decimal | None:
        """Dollars; None if the price or the tokens are not known."""
        return self._cost(usage) if self.known else None

    @cached_property
    def known(self) -> bool:
        """Whether there is a price at all."""
        return self._cost(Usage(1, 1)) is not None

    def _cost(self, usage: Usage) -> Decimal | None:
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
