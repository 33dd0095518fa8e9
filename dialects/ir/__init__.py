"""What every floor knows of MLIR: the bindings' classes, and helpers on any op.

Used as a namespace: ``from ..dialects import ir``, then ``ir.Operation``, ``ir.walk(op)``.
Reading and writing text is in ``ir.parsing``, native passes in ``ir.native_passes``.
"""

from ..errors import *  # noqa: F403
from .bindings import *  # noqa: F403
from .functions import *  # noqa: F403
