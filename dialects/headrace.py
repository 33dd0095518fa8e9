"""The headrace dialect, registered: its op classes, the collectives by what they do.

Import ops from here, so that parsed ops come back as these classes.
"""

from .ops.base import HeadraceOp
from .ops.collective import CollectiveOp, MovingCollectiveOp, ReducingCollectiveOp
from .ops.collectives import (
    COLLECTIVES,
    MOVING_COLLECTIVES,
    as_collective,
    as_moving,
    is_collective,
)
from .ops.declaration import register_operations
from .ops.device_ids import DEVICE_IDS, PartitionIdOp, ReplicaIdOp, device_id
from .ops.encoding import SetEncodingOp, UnsetEncodingOp
from .ops.matmul import MatmulOp, free_dims, matmul
from .ops.quantization import DequantizeOp, QuantizeOp, dequantize, quantize

register_operations(HeadraceOp)

__all__ = [
    "COLLECTIVES",
    "DEVICE_IDS",
    "MOVING_COLLECTIVES",
    "CollectiveOp",
    "DequantizeOp",
    "HeadraceOp",
    "MatmulOp",
    "MovingCollectiveOp",
    "PartitionIdOp",
    "QuantizeOp",
    "ReducingCollectiveOp",
    "ReplicaIdOp",
    "SetEncodingOp",
    "UnsetEncodingOp",
    "as_collective",
    "as_moving",
    "dequantize",
    "device_id",
    "free_dims",
    "is_collective",
    "matmul",
    "quantize",
]
