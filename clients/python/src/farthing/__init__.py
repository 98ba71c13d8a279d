"""Client of a Farthing server: search files, paid by the call (x402) or in a rented workspace."""

from .aio import AsyncFarthing, AsyncWorkspace
from .client import Farthing, Workspace
from .errors import CLIENT_CODES, FarthingError
from .exports import FailedImport, ImportSummary
from .money import Spending
from .receipts import verify_receipt
from .uploads import Progress

__all__ = [
    "CLIENT_CODES",
    "AsyncFarthing",
    "AsyncWorkspace",
    "FailedImport",
    "Farthing",
    "FarthingError",
    "ImportSummary",
    "Progress",
    "Spending",
    "Workspace",
    "verify_receipt",
]
