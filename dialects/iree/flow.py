"""Builders for the ops of IREE's flow and util dialects that headrace makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from .. import ir
from ..upstream.linalg import TensorBuilder
from ..upstream.tensor import dynamic_sizes
from .dispatch import RETURN, create_region

AFFINITY = "iree.abi.affinity"

# In the order of the numbers that the flow dialect gives them.
ELEMENTS = (
    *("si8", "ui8", "si16", "ui16", "si32", "ui32", "si64", "ui64"),
    *("f16", "f32", "f64", "bf16"),
)
REDUCTIONS = ("none", "sum", "product", "minimum", "maximum", "average")


def device_affinity(device: int, context: ir.Context) -> ir.Attribute:
    """The promise of a device called ``dev<i>``; iree-compile is told what it
    is by ``--iree-hal-target-device=dev<i>=...``."""
    return ir.Attribute.parse(f"#hal.device.promise<@dev{device}>", context)


def transfer(b: TensorBuilder, value: ir.Value, device: int) -> ir.Value:
    """``value`` on a device; no copy is made where it already is there."""
    return transfer_to(b, value, device_affinity(device, b.loc.context))


def transfer_to(b: TensorBuilder, value: ir.Value, target: ir.Attribute) -> ir.Value:
    """The same, for an affinity."""
    operands = [value, *dynamic_sizes(b, value)]
    return b.op("flow.tensor.transfer", operands, value.type, {"target": target})


def allocate(
    b: TensorBuilder, type_: ir.Type, sizes: Sequence[ir.Value], device: ir.Attribute | None = None
) -> ir.Value:
    """``flow.tensor.alloca``: a tensor of undefined contents, ``sizes`` its dynamic ones.

    It has a side effect, so that two equal ones stay two. Without ``device``
    it is where its user is.
    """
    attributes = {} if device is None else {"stream.affinity": device}
    return b.op("flow.tensor.alloca", [*sizes], type_, attributes)


def channel_type(context: ir.Context) -> ir.Type:
    return ir.Type.parse("!flow.channel", context)


def load_global(b: TensorBuilder, name: str, type_: ir.Type) -> ir.Value:
    """``util.global.load``."""
    symbol = ir.FlatSymbolRefAttr.get(name, b.loc.context)
    return b.op("util.global.load", [], type_, {"global": symbol})


def declare_global(
    name: str,
    type_: ir.Type,
    attributes: Mapping[str, ir.Attribute] | None = None,
    *,
    loc: ir.Location,
    ip: ir.InsertionPoint,
) -> None:
    """A private ``util.global``, without initial value unless ``attributes`` have one."""
    with loc.context:
        found: dict[str, ir.Attribute] = {
            "sym_name": ir.StringAttr.get(name),
            "sym_visibility": ir.StringAttr.get("private"),
            "type": ir.TypeAttr.get(type_),
            **(attributes or {}),
        }
    ir.Operation.create("util.global", attributes=found, loc=loc, ip=ip)


def declare_constant(
    name: str,
    values: ir.Attribute,
    device: ir.Attribute,
    *,
    loc: ir.Location,
    ip: ir.InsertionPoint,
) -> None:
    """A private ``util.global`` on a device, of typed elements that stay as they are."""
    attributes = {"initial_value": values, "stream.affinity": device}
    declare_global(name, values.type, attributes, loc=loc, ip=ip)


def store_global(b: TensorBuilder, value: ir.Value, name: str) -> None:
    """``util.global.store``."""
    attributes: dict[str, ir.Attribute] = {"global": ir.FlatSymbolRefAttr.get(name, b.loc.context)}
    ir.Operation.create(
        "util.global.store", operands=[value], attributes=attributes, loc=b.loc, ip=b.ip
    )


def build_initializer(
    body: Callable[[TensorBuilder], None], *, loc: ir.Location, ip: ir.InsertionPoint
) -> None:
    """A ``util.initializer``, run once when the program is loaded."""
    with loc.context:
        type_ = ir.TypeAttr.get(ir.FunctionType.get([], []))
    op = ir.Operation.create(
        "util.initializer", attributes={"function_type": type_}, regions=1, loc=loc, ip=ip
    )
    inside = ir.InsertionPoint(ir.Block.create_at_start(op.regions[0], [], []))
    body(TensorBuilder(inside, loc))
    ir.Operation.create("util.return", loc=loc, ip=inside)


def default_channel(b: TensorBuilder) -> ir.Value:
    """The channel of all ranks that take part in the program."""
    return b.op("flow.channel.default", [], channel_type(b.loc.context))


def split_channel(b: TensorBuilder, channel: ir.Value, color: ir.Value, key: ir.Value) -> ir.Value:
    """The channel of the ranks with this rank's color, in the order of their keys."""
    return b.op("flow.channel.split", [channel, color, key], channel.type)


def channel_rank(b: TensorBuilder, channel: ir.Value) -> ir.Value:
    """This device's rank in a channel, as an index."""
    return b.op("flow.channel.rank", [channel], ir.IndexType.get(b.loc.context))


def collective(
    b: TensorBuilder,
    kind: str,
    source: ir.Value,
    result: ir.RankedTensorType,
    channel: ir.Value,
    *,
    element: str,
    reduction: str | None = None,
    ranks: tuple[ir.Value, ir.Value] | None = None,
) -> ir.Value:
    """``flow.collective.<kind>`` into a new tensor, static shapes only.

    ``element`` is one of ELEMENTS, ``reduction`` one of REDUCTIONS where the
    kind reduces, ``ranks`` the ranks to send to and receive from (-1: none)
    of a ``send_recv``.
    """
    target = allocate(b, result, [])
    i32 = ir.IntegerType.get_signless(32, b.loc.context)
    index = ir.IndexType.get(b.loc.context)
    with b.loc.context:
        attributes: dict[str, ir.Attribute] = {
            "element_type": ir.IntegerAttr.get(i32, ELEMENTS.index(element)),
            "tied_operands": ir.ArrayAttr.get([ir.IntegerAttr.get(index, 0)]),
        }
    if reduction is not None:
        attributes["reduction_op"] = ir.IntegerAttr.get(i32, REDUCTIONS.index(reduction))
    operands = [target, source, channel, *(ranks or ())]
    return b.op(f"flow.collective.{kind}", operands, result, attributes)


def dispatch_region(op: ir.Operation) -> None:
    """Puts a pure op, whose results are static tensors, into a region of its own."""
    loc, types = op.location, [result.type for result in op.results]
    region = create_region(types, loc=loc, ip=ir.InsertionPoint(op))
    block = ir.Block.create_at_start(region.regions[0], [], [])
    for old, new in zip(op.results, region.results, strict=True):
        old.replace_all_uses_with(new)
    op.detach_from_parent()
    block.append(op)
    ir.Operation.create(RETURN, operands=list(op.results), loc=loc, ip=ir.InsertionPoint(block))
