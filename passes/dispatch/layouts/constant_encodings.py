"""Packs constant weights once, in an initialiser."""

from __future__ import annotations

import itertools

from ....dialects import ir
from ....dialects.iree.encoding import encoding_of
from ....dialects.iree.encoding_ops import SET_ENCODING, encoded, set_encoding
from ....dialects.iree.flow import build_initializer, declare_global, load_global, store_global
from ....dialects.upstream.linalg import TensorBuilder

_LOAD = "util.global.load"
_PREFIX = "headrace.packed"


def is_constant_tensor(value: ir.Value) -> bool:
    """Whether a tensor is a constant that is read from memory, or a global.

    A splat is none: it is computed where it is used.
    """
    producer = ir.defining_op(value)
    if producer is None or not isinstance(value.type, ir.RankedTensorType):
        return False
    if producer.name == "arith.constant":
        elements = producer.attributes["value"]
        return not (isinstance(elements, ir.DenseElementsAttr) and elements.is_splat)
    return producer.name == _LOAD


def encode_constants(module: ir.Operation) -> None:
    """Replaces each packed constant by a global that an initialiser fills.

    Globals that the program stores to are not constant.
    """
    symbols = {
        ir.StringAttr(op.attributes["sym_name"]).value: op
        for op in ir.operations_of(module.regions[0].blocks[0])
        if "sym_name" in op.attributes
    }
    numbers = itertools.count()
    made: dict[tuple[ir.Value | str, ir.Attribute], str] = {}
    for op in ir.walk(module):
        if op.name != SET_ENCODING or len(op.operands) != 1 or _in_initializer(op):
            continue
        source = op.operands[0]
        encoding = encoding_of(op.results[0].type)
        if encoding is None or not is_constant_tensor(source) or _is_stored(source, symbols):
            continue
        key = (_identity(source), encoding)
        if key not in made:
            names = (f"{_PREFIX}.{number}" for number in numbers)
            made[key] = next(name for name in names if name not in symbols)
            _build(module, source, encoding, made[key])
        b = TensorBuilder(ir.InsertionPoint(op), op.location)
        op.results[0].replace_all_uses_with(load_global(b, made[key], op.results[0].type))
        op.erase()


def _in_initializer(op: ir.Operation) -> bool:
    return any(around.name == "util.initializer" for around in ir.ancestors(op))


def _is_stored(source: ir.Value, symbols: dict[str, ir.Operation]) -> bool:
    producer = ir.defining_op(source)
    if producer is None or producer.name != _LOAD:
        return False
    declared = symbols.get(ir.FlatSymbolRefAttr(producer.attributes["global"]).value)
    return declared is None or "is_mutable" in declared.attributes


def _identity(source: ir.Value) -> ir.Value | str:
    """The same for all loads of one global."""
    producer = ir.defining_op(source)
    if producer is not None and producer.name == _LOAD:
        return ir.FlatSymbolRefAttr(producer.attributes["global"]).value
    return source


def _build(module: ir.Operation, source: ir.Value, encoding: ir.Attribute, name: str) -> None:
    """The global, at the module's start, and its initialiser, at the end:
    after those of the globals that it reads."""
    producer = ir.defining_op(source)
    assert producer is not None
    top = module.regions[0].blocks[0]
    declare_global(
        name,
        encoded(source.type, encoding),
        loc=source.location,
        ip=ir.InsertionPoint.at_block_begin(top),
    )

    def body(b: TensorBuilder) -> None:
        store_global(b, set_encoding(b, producer.clone(ip=b.ip).results[0], encoding), name)

    build_initializer(body, loc=source.location, ip=ir.InsertionPoint(top))
