"""Signs what a 402 asks for, within a budget."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import httpx

from .errors import FarthingError
from .money import MICROS, Budget

if TYPE_CHECKING:
    from eth_account.signers.local import LocalAccount
    from x402 import x402ClientSync
    from x402.http import x402HTTPClientSync
    from x402.schemas import PaymentRequired, PaymentRequirements

Account: TypeAlias = "LocalAccount | str"
"""An account of eth_account, or its private key in hexadecimal."""

SECONDS_LEFT_MIN = 60
"""Servers want some seconds left to settle in; a slow upload needs more."""


PREPAID_CONTRACT = "0x103dcc325b24ae26ae68a69340dede4239b050d7"
"""The contract of prepaid money, which no chain has."""

REFUND_PATH = "/agent/v1/prepaid/refund"
"""What has prepaid money back."""


@dataclass(frozen=True)
class Authorization:
    """A signed payment. Its holder can charge it once, until it expires."""

    headers: Mapping[str, str]
    micros: int
    terms: str
    """What it pays for, and on which terms: another call on the same terms may use it."""
    valid_before: float
    reused: bool = False
    """It was signed for an earlier call, which was not charged."""
    is_prepaid: bool = False
    """Of money that was paid before: the budget had it then."""


class Wallet:
    """Signs within the budget, and keeps what was signed and not charged for the next call on the same terms."""

    def __init__(self, account: Account | None, budget: Budget, *, prepaid: bool = False) -> None:
        self._account = account
        self.budget = budget
        self._spends_prepaid = prepaid and account is not None
        self._short: int | None = None
        """The least that there was not enough prepaid money for, since some was added."""
        self._has_prepaid = False
        self._signer: tuple[x402ClientSync, x402HTTPClientSync] | None = None
        self._free: defaultdict[str, list[Authorization]] = defaultdict(list)

    def required(self, headers: httpx.Headers) -> PaymentRequired:
        """Reads a 402's header. Loads the protocol's package, which takes a second at first."""
        _, http = self._ready()
        try:
            required = http.get_payment_required_response(headers.get)
        except Exception as cause:
            raise FarthingError("payment_unsupported", "The 402 of the server cannot be read.", status=402) from cause
        return required  # type: ignore[return-value]  # without a body it is never one of v1

    def offer(self) -> dict[str, str]:
        """The header that asks to pay with prepaid money. Empty unless the client is to spend it."""
        if not self._spends_prepaid:
            return {}
        from eth_account import Account as Accounts

        account = self._account
        signer = Accounts.from_key(account) if isinstance(account, str) else account
        return {"X-Prepaid-Wallet": signer.address} if signer else {}

    def is_short(self, required: PaymentRequired) -> bool:
        """Prepaid money is asked for, and there is not enough: the call is to be paid on the chain."""
        prepaid = _prepaid(required)
        if prepaid is None:
            return False
        if self._short is not None and prepaid[1] >= self._short:
            return True
        return required.error == "prepaid_insufficient" and not self._has_prepaid

    def was_short(self, authorization: Authorization) -> None:
        """The server has not so much prepaid money of this wallet: it is not spent for as much again."""
        self._short = min(authorization.micros, self._short or authorization.micros)

    def was_added(self) -> None:
        """Prepaid money was added."""
        self._has_prepaid = True
        self._short = None

    def take(self, required: PaymentRequired) -> Authorization:
        """Raises payment_unsupported, price_over_limit, budget_exceeded: nothing was signed then."""
        client, http = self._ready()
        prepaid = _prepaid(required)
        offer, micros = prepaid or _cheapest(required)
        is_prepaid = prepaid is not None
        url = required.resource.url if required.resource else ""
        terms = f"{offer.model_dump_json()} {url}"
        # A refund costs nothing.
        if not (is_prepaid and url.endswith(REFUND_PATH)):
            self.budget.check_price(micros)
        self._forget_ended()
        free = self._free[terms]
        for known in free:
            if known.valid_before - time.time() >= SECONDS_LEFT_MIN:
                free.remove(known)
                return replace(known, reused=True)
        if not is_prepaid:
            self.budget.hold(micros)
        try:
            payload = client.create_payment_payload(required.model_copy(update={"accepts": [offer]}))
            signed: Mapping[str, Any] = payload.payload.get("authorization", {})
            ends = float(signed.get("validBefore", time.time() + offer.max_timeout_seconds))
            header = http.encode_payment_signature_header(payload)
            return Authorization(header, micros, terms, ends, is_prepaid=is_prepaid)
        except BaseException:
            if not is_prepaid:
                self.budget.release(micros)
            raise

    def give_back(self, authorization: Authorization) -> None:
        """The call was not charged: its authorization is as good as new."""
        self._free[authorization.terms].append(authorization)

    def spent(self, authorization: Authorization) -> None:
        """The call was charged, or may have been."""
        if not authorization.is_prepaid:
            self.budget.spend(authorization.micros)

    def _ready(self) -> tuple[x402ClientSync, x402HTTPClientSync]:
        if self._account is None:
            raise FarthingError("wallet_missing", "This call is paid: give the client an account.")
        if self._signer is None:
            # A second to import, and no use to who has a workspace's token alone.
            from eth_account import Account as Accounts
            from x402 import x402ClientSync
            from x402.http import x402HTTPClientSync
            from x402.mechanisms.evm import EthAccountSigner
            from x402.mechanisms.evm.exact import ExactEvmScheme

            account = self._account
            signer = EthAccountSigner(Accounts.from_key(account) if isinstance(account, str) else account)
            client = x402ClientSync().register("eip155:*", ExactEvmScheme(signer))
            # The budget limits what is paid, by call and in all: no second limit of the library's own.
            client.set_spend_controls(False)
            self._signer = client, x402HTTPClientSync(client)
        return self._signer

    def _forget_ended(self) -> None:
        """What has ended can't be charged any more."""
        now = time.time()
        for terms, free in list(self._free.items()):
            for known in [each for each in free if each.valid_before <= now]:
                free.remove(known)
                if not known.is_prepaid:
                    self.budget.release(known.micros)
            if not free:
                del self._free[terms]


def _prepaid(required: PaymentRequired) -> tuple[PaymentRequirements, int] | None:
    """The offer, where prepaid money alone is taken."""
    if len(required.accepts) != 1:
        return None
    offer = required.accepts[0]
    is_it = offer.scheme == "exact" and offer.asset.lower() == PREPAID_CONTRACT and offer.amount.isdecimal()
    return (offer, int(offer.amount)) if is_it else None


def _cheapest(required: PaymentRequired) -> tuple[PaymentRequirements, int]:
    """The cheapest offer in a dollar coin that the protocol's package knows."""
    from x402.mechanisms.evm.default_assets import find_default_asset

    offers: list[tuple[PaymentRequirements, int]] = []
    for offer in required.accepts:
        known = find_default_asset(offer.asset, offer.network) if offer.scheme == "exact" else None
        if known is not None and offer.amount.isdecimal():
            scale = 10 ** int(known["decimals"])
            # Rounded up, so that a limit is never passed by rounding.
            offers.append((offer, -(-int(offer.amount) * MICROS // scale)))
    if not offers:
        raise FarthingError(
            "payment_unsupported",
            'The server offers no "exact" payment in a dollar coin that this client knows. Nothing was signed.',
            status=402,
        )
    return min(offers, key=lambda each: each[1])
