"""Sends calls, pays for paid ones, and repeats unanswered ones; nothing is charged twice."""

from __future__ import annotations

import random
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from .errors import FarthingError, problem_error
from .flow import Flow, Pause, Reply, Send, Upload, Work
from .payment import Authorization, Wallet

if TYPE_CHECKING:
    from x402.schemas import PaymentRequired

PAUSE_FIRST_S = 0.1
PAUSE_MAX_S = 5.0
AUTHORIZATIONS_MAX = 3
"""Authorizations per call: the price may change, and one may expire while the server is away."""
CURED_BY_A_FRESH_ONE = {"authorization_expired", "amount_mismatch", "wrong_recipient", "wrong_asset"}
"""Refusals that a fresh authorization may cure; none of them is charged."""


@dataclass(frozen=True)
class Call:
    """One request of the interface."""

    method: Literal["GET", "POST", "DELETE"]
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | Upload | None = None
    price: Literal["fixed", "by body"] | None = None
    """Set on paid calls. `fixed`: calls of this kind have one price until the server says otherwise."""
    idempotency_key: str | None = None
    timeout: float = 90.0
    into: Path | None = None
    """The file that a success's body is written to."""


class Calls:
    def __init__(self, base_url: str, wallet: Wallet, attempts_max: int) -> None:
        self.base_url = base_url
        self.wallet = wallet
        self._attempts_max = attempts_max
        self._quotes: dict[str, PaymentRequired] = {}

    def send(self, call: Call) -> Flow[Reply]:
        """Raises FarthingError for every answer over 299, and when none came."""
        return (yield from (self._free(call) if call.price is None else self._paid(call)))

    def _free(self, call: Call) -> Flow[Reply]:
        reply = yield from self._insist(call, call.headers, call.body)
        if reply is None:
            raise self._unreachable()
        if reply.status > 299:
            raise problem_error(reply.status, reply.json())
        return reply

    def _paid(self, call: Call) -> Flow[Reply]:
        wallet = self.wallet
        key = call.idempotency_key or secrets.token_hex(32)
        offer: dict[str, str] = yield Work(wallet.offer)
        required = yield from self._quote(call, offer)
        signed = 0
        while True:
            signed += 1
            if offer and wallet.is_short(required):
                offer = {}
                required = yield from self._quote(call, offer)
            authorization: Authorization = yield Work(partial(wallet.take, required))
            headers = {**call.headers, **offer, **authorization.headers, "Idempotency-Key": key}
            try:
                reply = yield from self._insist(call, headers, call.body)
            except BaseException:
                wallet.spent(authorization)
                raise
            if reply is None:
                wallet.spent(authorization)
                raise _lost(key)
            if reply.status < 300:
                charged = "payment-response" in reply.headers
                (wallet.spent if charged else wallet.give_back)(authorization)
                return reply
            if reply.status != 402:
                # During a settlement the charge is unknown.
                (wallet.spent if reply.status >= 500 else wallet.give_back)(authorization)
                raise problem_error(reply.status, reply.json(), key)
            required = yield Work(partial(wallet.required, reply.headers))
            self._quotes[_kind_of(call, offer)] = required
            self._refused(reply, authorization, signed, bool(offer))

    def _refused(self, reply: Reply, authorization: Authorization, signed: int, offered: bool) -> None:
        """A 402 to a payment. Raises payment_refused, unless a fresh authorization may do better."""
        body = reply.json()
        reason = body.get("error") if isinstance(body, dict) else None
        used = reason == "authorization_already_used"
        (self.wallet.spent if used else self.wallet.give_back)(authorization)
        is_short = authorization.is_prepaid and reason == "insufficient_funds"
        if is_short:
            self.wallet.was_short(authorization)
        curable = authorization.reused if used else offered and is_short or reason in CURED_BY_A_FRESH_ONE
        if curable and signed < AUTHORIZATIONS_MAX:
            return
        hint = " There is not enough prepaid money for it: prepay adds some." if is_short else ""
        raise FarthingError(
            "payment_refused",
            f"The server did not take the payment: {reason}.{hint}",
            status=402,
            facts={"reason": reason},
        )

    def _quote(self, call: Call, offer: Mapping[str, str]) -> Flow[PaymentRequired]:
        """The terms of the 402, remembered for calls with a fixed price, which then take one round trip."""
        kind = _kind_of(call, offer)
        if call.price == "fixed" and kind in self._quotes:
            return self._quotes[kind]
        body = call.body if call.price == "by body" else None
        reply = yield from self._insist(call, {**(call.headers if body else {}), **offer}, body)
        if reply is None:
            raise self._unreachable()
        if reply.status != 402:
            raise problem_error(reply.status, reply.json())
        required: PaymentRequired = yield Work(partial(self.wallet.required, reply.headers))
        self._quotes[kind] = required
        return required

    def _insist(self, call: Call, headers: Mapping[str, str], body: bytes | Upload | None) -> Flow[Reply | None]:
        """Repeats a request until it is answered, and after temporary refusals; None when no attempt was answered."""
        reply: Reply | None = None
        for attempt in range(self._attempts_max):
            if attempt > 0:
                yield Pause(_pause_after(reply, attempt))
            reply = yield Send(call.method, call.path, headers, body, call.timeout, call.into)
            if reply is not None and not _is_momentary(reply):
                break
        return reply

    def _unreachable(self) -> FarthingError:
        return FarthingError("server_unreachable", f"No answer came from {self.base_url}: is the server running?")


def _kind_of(call: Call, offer: Mapping[str, str]) -> str:
    """Key of calls with the same terms: the path without ids and query, and the wallet whose prepaid money is to pay."""
    path = re.sub(r"/(?:item|ws|job)_[^/]+", "/:id", call.path.split("?")[0])
    return f"{offer.get('X-Prepaid-Wallet', '')} {call.method} {path}"


def _is_momentary(reply: Reply) -> bool:
    """A temporary refusal, uncharged: the same authorization may be sent again. A 5xx without a code may be a proxy's."""
    if reply.status in (429, 503):
        return True
    body = reply.json() if reply.status >= 500 else None
    return reply.status >= 500 and not (isinstance(body, dict) and isinstance(body.get("code"), str))


def _pause_after(reply: Reply | None, attempt: int) -> float:
    told = reply.headers.get("retry-after", "0") if reply else "0"
    growing: float = min(PAUSE_FIRST_S * 2 ** (attempt - 1), PAUSE_MAX_S)
    return max(float(told) if told.isdecimal() else 0.0, growing * random.uniform(0.5, 1))


def _lost(key: str) -> FarthingError:
    return FarthingError(
        "answer_lost",
        "No answer came, and the call may have been charged. Repeat it with idempotency_key: "
        "it is then charged once at most.",
        facts={"idempotency_key": key},
    )
