"""US dollars in millionths, as the coin counts them."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from .errors import FarthingError

Usd: TypeAlias = str | int | float | Decimal
"""US dollars with at most six decimals."""

MICROS = 1_000_000


def parse_usd(amount: Usd) -> int:
    """Millionths of a dollar. Raises ValueError for what is no amount, or has more than six decimals."""
    micros = Decimal(str(amount)) * MICROS
    if not micros.is_finite() or micros < 0 or micros != micros.to_integral_value():
        raise ValueError(f"{amount!r} is no amount of US dollars with at most six decimals")
    return int(micros)


def format_usd(micros: int) -> str:
    """Millionths of a dollar as a decimal string without noise."""
    whole, rest = divmod(micros, MICROS)
    return f"{whole}.{rest:06d}".rstrip("0").rstrip(".")


@dataclass(frozen=True)
class Spending:
    """What a client's calls have cost."""

    spent_usd: str
    """Charged for certain, or possibly: an answer that never came counts."""
    held_usd: str
    """Signed and not charged so far; the next call of the same price uses it."""
    left_usd: str | None
    """None without a budget."""


class Budget:
    """What may be signed for. An amount is held from before its signature until it cannot be charged any more."""

    def __init__(self, max_price_usd: Usd, budget_usd: Usd | None) -> None:
        self._price_max = parse_usd(max_price_usd)
        self._total = None if budget_usd is None else parse_usd(budget_usd)
        self._spent = 0
        self._held = 0

    def check_price(self, micros: int) -> None:
        """Raises price_over_limit."""
        if micros <= self._price_max:
            return
        price, limit = format_usd(micros), format_usd(self._price_max)
        raise FarthingError(
            "price_over_limit",
            f"The price is {price} USD and max_price_usd is {limit}. Nothing was signed; raise it to allow this call.",
            facts={"price_usd": price, "max_price_usd": limit},
        )

    def hold(self, micros: int) -> None:
        """Raises budget_exceeded."""
        if self._total is not None and self._spent + self._held + micros > self._total:
            price, left = format_usd(micros), format_usd(self._total - self._spent - self._held)
            raise FarthingError(
                "budget_exceeded",
                f"The price is {price} USD and {left} of the budget of {format_usd(self._total)} USD are left. "
                "Nothing was signed; raise budget_usd to go on.",
                facts={"price_usd": price, "left_usd": left, "budget_usd": format_usd(self._total)},
            )
        self._held += micros

    def spend(self, micros: int) -> None:
        """What was held is charged."""
        self._held -= micros
        self._spent += micros

    def release(self, micros: int) -> None:
        """What was held can't be charged any more."""
        self._held -= micros

    @property
    def spending(self) -> Spending:
        left = None if self._total is None else format_usd(self._total - self._spent - self._held)
        return Spending(format_usd(self._spent), format_usd(self._held), left)
