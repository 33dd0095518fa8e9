"""Builders for the ops of IREE's flow and util dialects that headrace makes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..ir.bindings import (
    ArrayAttr,
    Attribute,
    Block,
    Context,
    DenseI32ArrayAttr,
    FlatSymbolRefAttr,
    FunctionType,
    IndexType,
    InsertionPoint,
    IntegerAttr,
    IntegerType,
    Location,
    Operation,
    RankedTensorType,
    StringAttr,
    Type,
    TypeAttr,
    Value,
)
from ..upstream.linalg import TensorBuilder
from ..upstream.tensor import dynamic_sizes

AFFINITY = "iree.abi.affinity"

# In the order of the numbers that the flow dialect gives them.
ELEMENTS = (
    *("si8", "ui8", "si16", "ui16", "si32", "ui32", "si64", "ui64"),
    *("f16", "f32", "f64", "bf16"),
)
REDUCTIONS = ("none", "sum", "product", "minimum", "maximum", "average")


def device_affinity(device: int, context: Context) -> Attribute:
    """The promise of a device called ``dev<i>``; iree-compile is told what it
    is by ``--iree-hal-target-device=dev<i>=...``."""
    return Attribute.parse(f"#hal.device.promise<@dev{device}>", context)


def transfer(b: TensorBuilder, value: Value, device: int) -> Value:
    """``value`` on a device; no copy is made where it already is there."""
    return transfer_to(b, value, device_affinity(device, b.loc.context))


def transfer_to(b: TensorBuilder, value: Value, target: Attribute) -> Value:
    """The same, for an affinity."""
    operands = [value, *dynamic_sizes(b, value)]
    return b.op("flow.tensor.transfer", operands, value.type, {"target": target})


def allocate(
    b: TensorBuilder, type_: Type, sizes: Sequence[Value], device: Attribute | None = None
) -> Value:
    """``flow.tensor.alloca``: a tensor of undefined contents, ``sizes`` its dynamic ones.

    It has a side effect, so that two equal ones stay two. Without ``device``
    it is where its user is.
    """
    attributes = {} if device is None else {"stream.affinity": device}
    return b.op("flow.tensor.alloca", [*sizes], type_, attributes)


def channel_type(context: Context) -> Type:
    return Type.parse("!flow.channel", context)


def load_global(b: TensorBuilder, name: str, type_: Type) -> Value:
    """``util.global.load``."""
    symbol = FlatSymbolRefAttr.get(name, b.loc.context)
    return b.op("util.global.load", [], type_, {"global": symbol})


def declare_global(name: str, type_: Type, *, loc: Location, ip: InsertionPoint) -> None:
    """A private ``util.global`` without initial value."""
    with loc.context:
        attributes: dict[str, Attribute] = {
            "sym_name": StringAttr.get(name),
            "sym_visibility": StringAttr.get("private"),
            "type": TypeAttr.get(type_),
        }
    Operation.create("util.global", attributes=attributes, loc=loc, ip=ip)


def declare_constant(
    name: str, values: Attribute, device: Attribute, *, loc: Location, ip: InsertionPoint
) -> None:
    """A private ``util.global`` on a device, of typed elements that stay as they are."""
    with loc.context:
        attributes: dict[str, Attribute] = {
            "initial_value": values,
            "stream.affinity": device,
            "sym_name": StringAttr.get(name),
            "sym_visibility": StringAttr.get("private"),
            "type": TypeAttr.get(values.type),
        }
    Operation.create("util.global", attributes=attributes, loc=loc, ip=ip)


def store_global(b: TensorBuilder, value: Value, name: str) -> None:
    """``util.global.store``."""
    attributes: dict[str, Attribute] = {"global": FlatSymbolRefAttr.get(name, b.loc.context)}
    Operation.create(
        "util.global.store", operands=[value], attributes=attributes, loc=b.loc, ip=b.ip
    )


def build_initializer(
    body: Callable[[TensorBuilder], None], *, loc: Location, ip: InsertionPoint
) -> None:
    """A ``util.initializer``, run once when the program is loaded."""
    with loc.context:
        type_ = TypeAttr.get(FunctionType.get([], []))
    op = Operation.create(
        "util.initializer", attributes={"function_type": type_}, regions=1, loc=loc, ip=ip
    )
    inside = InsertionPoint(Block.create_at_start(op.regions[0], [], []))
    body(TensorBuilder(inside, loc))
    Operation.create("util.return", loc=loc, ip=inside)


def default_channel(b: TensorBuilder) -> Value:
    """The channel of all ranks that take part in the program."""
    return b.op("flow.channel.default", [], channel_type(b.loc.context))


def split_channel(b: TensorBuilder, channel: Value, color: Value, key: Value) -> Value:
    """The channel of the ranks with this rank's color, in the order of their keys."""
    return b.op("flow.channel.split", [channel, color, key], channel.type)


def channel_rank(b: TensorBuilder, channel: Value) -> Value:
    """This device's rank in a channel, as an index."""
    return b.op("flow.channel.rank", [channel], IndexType.get(b.loc.context))


def collective(
    b: TensorBuilder,
    kind: str,
    source: Value,
    result: RankedTensorType,
    channel: Value,
    *,
    element: str,
    reduction: str | None = None,
    ranks: tuple[Value, Value] | None = None,
) -> Value:
    """``flow.collective.<kind>`` into a new tensor, static shapes only.

    ``element`` is one of ELEMENTS, ``reduction`` one of REDUCTIONS where the
    kind reduces, ``ranks`` the ranks to send to and receive from (-1: none)
    of a ``send_recv``.
    """
    target = allocate(b, result, [])
    i32 = IntegerType.get_signless(32, b.loc.context)
    index = IndexType.get(b.loc.context)
    with b.loc.context:
        attributes: dict[str, Attribute] = {
            "element_type": IntegerAttr.get(i32, ELEMENTS.index(element)),
            "tied_operands": ArrayAttr.get([IntegerAttr.get(index, 0)]),
        }
    if reduction is not None:
        attributes["reduction_op"] = IntegerAttr.get(i32, REDUCTIONS.index(reduction))
    operands = [target, source, channel, *(ranks or ())]
    return b.op(f"flow.collective.{kind}", operands, result, attributes)


def dispatch_region(op: Operation) -> None:
    """Puts a pure op, whose results are static tensors, into a region of its own."""
    loc = op.location
    with loc.context:
        segments = DenseI32ArrayAttr.get([0, 0])  # result dims, workload
    # The second region, for the workgroup count, stays empty.
    region = Operation.create(
        "flow.dispatch.region",
        results=[result.type for result in op.results],
        attributes={"operandSegmentSizes": segments},
        regions=2,
        loc=loc,
        ip=InsertionPoint(op),
    )
    block = Block.create_at_start(region.regions[0], [], [])
    for old, new in zip(op.results, region.results, strict=True):
        old.replace_all_uses_with(new)
    op.detach_from_parent()
    block.append(op)
    Operation.create("flow.return", operands=list(op.results), loc=loc, ip=InsertionPoint(block))
