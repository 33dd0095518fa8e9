"""Constants that are kept in resources, written into the program.

torch-mlir keeps all weights in resources. IREE cannot write those of fp8
(quirks.FP8_RESOURCE), and mistakes the type of small ones that it inlines into a
dispatch (quirks.SMALL_RESOURCE_RETYPED). Dense elements have neither reason.
"""

from __future__ import annotations

import re

from ....dialects import ir
from ....dialects.fp8 import fp8_format
from ....dialects.ops.constraints import tensor_bytes

# IREE inlines constants of up to 256 bytes; larger ones are better left where
# they are, as dense elements cost compile time.
_SMALL = 4096

# A resource starts with its alignment, in four bytes.
_BLOB = re.compile(r'"0x[0-9A-Fa-f]{8}([0-9A-Fa-f]*)"')


def inline_resources(module: ir.Operation) -> None:
    """Makes dense elements of fp8 and of small resources that have their bytes with them.

    Raises HeadraceError for such a resource that has not as many bytes as its type takes.
    """
    for op in ir.walk(module, bodies=False):
        type_ = op.results[0].type if op.name == "arith.constant" else None
        if not isinstance(type_, ir.RankedTensorType):
            continue
        if not isinstance(type_.element_type, ir.FloatType | ir.IntegerType):
            continue  # complex numbers: IREE takes them as they are
        if fp8_format(type_) is None and (tensor_bytes(type_) or 0) > _SMALL:
            continue
        value = op.attributes["value"]
        if isinstance(value, ir.DenseElementsAttr) or not str(value).startswith("dense_resource<"):
            continue
        digits = _hexadecimal(op)
        size = tensor_bytes(type_)
        if digits is not None and len(digits) != 2 * (size or 0):
            raise ir.error_at(
                op, f"the resource holds {len(digits) // 2} bytes, and {type_} takes {size}"
            )
        if digits is not None:
            op.attributes["value"] = ir.Attribute.parse(
                f'dense<"0x{digits}"> : {type_}', op.context
            )


def _hexadecimal(constant: ir.Operation) -> str | None:
    """The bytes of a constant's resource. Only a module's text has them; None if not."""
    alone = ir.Module.create(constant.location)
    alone.body.append(constant.clone())
    found = _BLOB.search(str(alone))
    return found[1] if found else None
