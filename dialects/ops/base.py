"""The base class of the headrace ops."""

from .declaration import DeclaredOp


class HeadraceOp(DeclaredOp, namespace="headrace"):
    """All headrace ops are pure: no side effects, and speculatable."""
