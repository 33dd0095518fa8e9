"""All operations: importing this enters them with the generator."""

from . import (  # noqa: F401
    operations_collectives,
    operations_control,
    operations_elementwise,
    operations_movement,
    operations_products,
    operations_reductions,
)
