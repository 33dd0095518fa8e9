"""The headrace dialect, registered: its op classes, the collectives by what they do.

Import ops from here, so that parsed ops come back as these classes.
"""

from .ops.base import HeadraceOp as HeadraceOp
from .ops.collective import (
    CollectiveOp as CollectiveOp,
    MovingCollectiveOp as MovingCollectiveOp,
    ReducingCollectiveOp as ReducingCollectiveOp,
)
from .ops.collectives import (
    COLLECTIVES as COLLECTIVES,
    MOVING_COLLECTIVES as MOVING_COLLECTIVES,
    as_collective as as_collective,
    as_moving as as_moving,
    is_collective as is_collective,
)
from .ops.declaration import register_operations
from .ops.device_ids import (
    DEVICE_IDS as DEVICE_IDS,
    PartitionIdOp as PartitionIdOp,
    ReplicaIdOp as ReplicaIdOp,
    device_id as device_id,
)
from .ops.encoding import SetEncodingOp as SetEncodingOp, UnsetEncodingOp as UnsetEncodingOp
from .ops.matmul import MatmulOp as MatmulOp, free_dims as free_dims, matmul as matmul
from .ops.quantization import (
    DequantizeOp as DequantizeOp,
    QuantizeOp as QuantizeOp,
    dequantize as dequantize,
    quantize as quantize,
)

register_operations(HeadraceOp)
