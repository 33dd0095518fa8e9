"""Says where the arguments of a program for one device live."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects import ir
from ...dialects.iree.flow import AFFINITY
from ..base import Pass


@dataclass(frozen=True)
class PlaceArguments(Pass):
    """Gives the tensor arguments of functions IREE's default device.

    Of what a loop carries IREE does not know the device, and copies it in each
    trip, unless it can follow it back to an argument that says where it lives.
    An argument that says so already stays.
    """

    name: ClassVar[str] = "place-arguments"

    def run(self, module: ir.Operation) -> None:
        # What IREE calls a device that the command line gives no name.
        device = ir.Attribute.parse("#hal.device.promise<@__device_0>", module.context)
        for function in ir.functions_of(module):
            if not len(function.regions[0].blocks):
                continue
            attributes = ir.argument_attributes(function)
            types = ir.function_type(function).inputs
            for entry, type_ in zip(attributes, types, strict=True):
                if isinstance(type_, ir.RankedTensorType):
                    entry.setdefault(AFFINITY, device)
            ir.set_argument_attributes(function, attributes)
