"""Checks signed disposal receipts."""

from __future__ import annotations

import base64
import json
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from .answers import JsonWebKeySet
from .errors import FarthingError

TYPE = "farthing-disposal+jwt"


def verify_receipt(receipt: str, keys: JsonWebKeySet, workspace: str | None = None) -> dict[str, Any]:
    """The claims of a receipt (compact JWS), once one of the keys proves its signature.

    `keys`: what the server has at /.well-known/jwks.json. Raises receipt_invalid, also for another workspace's receipt.
    """
    try:
        head, body, signature = receipt.split(".")
        header = json.loads(_decoded(head))
        if header.get("alg") not in ("EdDSA", "Ed25519"):
            raise ValueError("it is signed in another way")
        key = next(key for key in keys["keys"] if key.get("kid") == header.get("kid") and key.get("crv") == "Ed25519")
        public = Ed25519PublicKey.from_public_bytes(_decoded(key["x"]))
        public.verify(_decoded(signature), f"{head}.{body}".encode("ascii"))
        if header.get("typ") != TYPE:
            raise ValueError("it is signed, but no disposal receipt")
        claims: dict[str, Any] = json.loads(_decoded(body))
    except (InvalidSignature, StopIteration, ValueError, KeyError, AttributeError, TypeError) as cause:
        reason = str(cause) if type(cause) is ValueError else "its signature is proved by none of the keys"
        raise FarthingError("receipt_invalid", f"The receipt is not valid: {reason}.") from cause
    if workspace is not None and claims.get("workspace") != workspace:
        raise FarthingError("receipt_invalid", f"The receipt is for {claims.get('workspace')}, not {workspace}.")
    return claims


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
