"""All operations: importing this enters them with the generator."""

from . import (  # noqa: F401
    collectives,
    control,
    elementwise,
    movement,
    products,
    reductions,
)
