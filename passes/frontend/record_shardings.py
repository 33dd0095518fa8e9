"""record-shardings: keeps what IREE's input pipeline would drop, drops what it gets wrong."""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects import ir
from ...dialects.device_counts import COUNTS
from ..base import Pass

_ALIASING = "tf.aliasing_output"


@dataclass(frozen=True)
class RecordShardings(Pass):
    """Copies mhlo shardings and device counts to headrace attributes.

    ``mhlo.sharding`` on arguments and results becomes ``headrace.sharding``,
    ``mhlo.num_partitions`` and ``mhlo.num_replicas`` on the module become
    ``headrace.num_partitions`` and ``headrace.num_replicas``. The originals
    stay; a headrace attribute that is there already is kept. IREE's StableHLO
    input pipeline drops everything in mhlo's namespace.

    ``tf.aliasing_output`` becomes ``headrace.donated``, as ``jax.buffer_donor``
    does: it says that the argument's buffer may hold a result. IREE takes
    it for an order, and writes the result while the argument is still read, or
    to the wrong device.

    Before:
        module attributes {mhlo.num_partitions = 4 : i32} {
          func.func @main(%x: tensor<8xf32> {mhlo.sharding = "{devices=[4]<=[4]}"})
    After, besides:
        module attributes {headrace.num_partitions = 4 : i32} {
          func.func @main(%x: tensor<8xf32> {headrace.sharding = "{devices=[4]<=[4]}"})
    """

    name = "record-shardings"

    def run(self, module: ir.Operation) -> None:
        for count in COUNTS:
            old, new = f"mhlo.{count}", f"headrace.{count}"
            if old in module.attributes and new not in module.attributes:
                module.attributes[new] = module.attributes[old]
        for function in ir.functions_of(module):
            arguments = ir.argument_attributes(function)
            results = ir.result_attributes(function)
            found = False
            for attributes in (*arguments, *results):
                if _ALIASING in attributes or "jax.buffer_donor" in attributes:
                    attributes.pop(_ALIASING, None)
                    attributes[ir.DONATED] = ir.UnitAttr.get(module.context)
                    found = True
                if "mhlo.sharding" in attributes:
                    attributes.setdefault("headrace.sharding", attributes["mhlo.sharding"])
                    found = True
            if found:
                ir.set_argument_attributes(function, arguments)
                ir.set_result_attributes(function, results)
