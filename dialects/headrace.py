"""The headrace dialect: all its op classes and their builders, registered.

Import ops from here, so that parsed ops come back as these classes.
"""

from .ops.base import HeadraceOp
from .ops.collectives import (
    AllGatherOp,
    AllReduceOp,
    AllToAllOp,
    CollectiveOp,
    CollectivePermuteOp,
    ReduceScatterOp,
    groups_of,
)
from .ops.declaration import register_operations
from .ops.device_ids import PartitionIdOp, ReplicaIdOp, device_id
from .ops.encoding import SetEncodingOp, UnsetEncodingOp
from .ops.matmul import MatmulOp, free_dims, matmul
from .ops.quantization import DequantizeOp, QuantizeOp, dequantize, quantize

register_operations(HeadraceOp)

__all__ = [
    "AllGatherOp",
    "AllReduceOp",
    "AllToAllOp",
    "CollectiveOp",
    "CollectivePermuteOp",
    "DequantizeOp",
    "HeadraceOp",
    "MatmulOp",
    "PartitionIdOp",
    "QuantizeOp",
    "ReduceScatterOp",
    "ReplicaIdOp",
    "SetEncodingOp",
    "UnsetEncodingOp",
    "dequantize",
    "device_id",
    "free_dims",
    "groups_of",
    "matmul",
    "quantize",
]
