"""Each device's tile of a constant that differs from device to device."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects import ir
from ....dialects.upstream.stablehlo import constant_elements
from ...analysis.shardings import Tiling, tile_count


def is_cut(op: ir.Operation) -> bool:
    """Whether tiles of ``op`` differ: it is a constant, and no splat."""
    if op.name != "stablehlo.constant":
        return False
    elements = constant_elements(op.results[0])
    return elements is None or not elements.is_splat


def cut_constant(constant: ir.Operation, tilings: Sequence[Tiling], devices: int) -> None:
    """Gives the users of a whole constant the tile of the device they run on.

    Before::

        %c = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>

    After, for tiles ``(0, 0, 1, 1)``::

        %c = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
        %id = stablehlo.partition_id : tensor<ui32>
        %starts = stablehlo.constant dense<[0, 0, 2, 2]> : tensor<4xui32>
        %one = stablehlo.dynamic_slice %starts, %id, sizes = [1] : ... -> tensor<1xui32>
        %start = stablehlo.reshape %one : (tensor<1xui32>) -> tensor<ui32>
        %tile = stablehlo.dynamic_slice %c, %start, sizes = [2] : ... -> tensor<2xi32>
    """
    whole = constant.results[0]
    users = ir.users_of(whole)
    element_type = ir.RankedTensorType(whole.type).element_type
    sizes = [
        n // tile_count(t)
        for n, t in zip(ir.RankedTensorType(whole.type).shape, tilings, strict=True)
    ]
    with ir.InsertionPoint.after(constant), constant.location:
        ui32 = ir.IntegerType.get_unsigned(32)
        scalar = ir.RankedTensorType.get([], ui32)
        device = _create("partition_id", scalar, [])
        starts: list[ir.Value] = []
        for size, tiling in zip(sizes, tilings, strict=True):
            numbers = [tile * size for tile in tiling or (0,) * devices]
            table = _create(
                "constant",
                ir.RankedTensorType.get([devices], ui32),
                [],
                value=ir.Attribute.parse(f"dense<{numbers}> : tensor<{devices}xui32>"),
            )
            one = ir.RankedTensorType.get([1], ui32)
            start = _create("dynamic_slice", one, [table, device], slice_sizes=_i64([1]))
            starts.append(_create("reshape", scalar, [start]))
        tile = _create(
            "dynamic_slice",
            ir.RankedTensorType.get(sizes, element_type),
            [whole, *starts],
            slice_sizes=_i64(sizes),
        )
    for user in users:
        for number, operand in enumerate(user.operands):
            if operand == whole:
                user.operands[number] = tile


def _create(
    name: str, type: ir.Type, operands: Sequence[ir.Value], **attributes: ir.Attribute
) -> ir.Value:
    op = ir.Operation.create(f"stablehlo.{name}", [type], operands, attributes=attributes)
    return op.operation.results[0]


def _i64(numbers: Sequence[int]) -> ir.Attribute:
    return ir.DenseI64ArrayAttr.get(list(numbers))
