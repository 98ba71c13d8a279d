"""Client of a Farthing server: search files, paid by the call (x402) or in a rented workspace."""

from .aio import AsyncFarthing, AsyncWorkspace
from .client import Farthing, Workspace
from .errors import CLIENT_CODES, FarthingError
from .money import Spending
from .receipts import verify_receipt
from .uploads import Progress

__all__ = [
    "CLIENT_CODES",
    "AsyncFarthing",
    "AsyncWorkspace",
    "Farthing",
    "FarthingError",
    "Progress",
    "Spending",
    "Workspace",
    "verify_receipt",
]
