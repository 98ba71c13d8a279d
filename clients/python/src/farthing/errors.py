"""What can go wrong in a call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CLIENT_CODES: Mapping[str, str] = {
    "price_over_limit": "A call costs more than max_price_usd. Nothing was signed.",
    "budget_exceeded": "The budget does not allow the call. Nothing was signed.",
    "payment_unsupported": "No offered way to pay can be used here. Nothing was signed.",
    "payment_refused": "The server did not take the payment.",
    "wallet_missing": "A paid call needs an account.",
    "answer_lost": "No answer came; the call may have been charged.",
    "server_unreachable": "No answer came to a call that costs nothing.",
    "answer_unexpected": "The answer is not one of this interface.",
    "ingest_timeout": "The file is accepted but was not searchable in time.",
    "source_unreadable": "An export is none, damaged or incomplete.",
    "receipt_invalid": "The disposal receipt is not proved by the server's keys.",
}
"""What only a client can find out; every other code is the server's own."""


class FarthingError(Exception):
    """Every failure of a call. Match on `code`: one of the server's, or one of `CLIENT_CODES`."""

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        status: int | None = None,
        request_id: str | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
        """What was wrong and what to do."""
        self.status = status
        """HTTP status, when the server answered."""
        self.request_id = request_id
        self.facts: Mapping[str, Any] = facts or {}
        """Further members of the server's problem document, or the figures of a refusal."""


def problem_error(status: int, body: object, key: str | None = None) -> FarthingError:
    """A problem document as an error. `key`: the call's idempotency key, part of the facts while the charge is unknown."""
    problem = body if isinstance(body, dict) else {}
    code, detail = problem.get("code"), problem.get("detail")
    if not isinstance(code, str) or not isinstance(detail, str):
        return FarthingError("answer_unexpected", f"The server answered {status} without saying why.", status=status)
    told = {"code", "detail", "type", "title", "status", "charged", "request_id"}
    facts = {name: value for name, value in problem.items() if name not in told}
    if "charged" in problem and problem["charged"] is None and key is not None:
        facts["idempotency_key"] = key
    request_id = problem.get("request_id")
    return FarthingError(
        code,
        detail,
        status=status,
        request_id=request_id if isinstance(request_id, str) else None,
        facts=facts,
    )
