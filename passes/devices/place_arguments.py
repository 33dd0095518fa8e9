"""Says where the arguments of a program for one device live."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects.ir.bindings import Attribute, Operation, RankedTensorType
from ...dialects.ir.functions import (
    argument_attributes,
    function_type,
    functions_of,
    set_argument_attributes,
)
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

    def run(self, module: Operation) -> None:
        # What IREE calls a device that the command line gives no name.
        device = Attribute.parse("#hal.device.promise<@__device_0>", module.context)
        for function in functions_of(module):
            if not len(function.regions[0].blocks):
                continue
            attributes = argument_attributes(function)
            types = function_type(function).inputs
            for entry, type_ in zip(attributes, types, strict=True):
                if isinstance(type_, RankedTensorType):
                    entry.setdefault(AFFINITY, device)
            set_argument_attributes(function, attributes)
