"""The base class of the headrace ops, and the mark that several of them may have."""

from .declaration import DeclaredOp

# Why a collective, or a matrix product, does not work on fp8.
WIDE_REASON = "headrace.wide_reason"


class HeadraceOp(DeclaredOp, namespace="headrace"):
    """All headrace ops are pure: no side effects, and speculatable."""
