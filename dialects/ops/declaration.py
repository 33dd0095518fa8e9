"""Declares a dialect in Python, in the class syntax of upstream's ``dialects.ext``.

The wheel ships ``ext`` but not the IRDL bindings it imports, so this module
stands in: the same classes, registered with the binding layer by hand and
verified by us. When IREE bundles IRDL it can go.

    class ToyOp(DeclaredOp, namespace="toy"):
        pass

    class ScaleOp(ToyOp, name="scale"):
        input: Operand[WideTensor]
        factor: Operand[WideTensor] | None
        mode: StringAttr = attribute(default_factory=lambda: StringAttr.get("mul"))
        result: Result[WideTensor]

    register_operations(ToyOp)

Ops may share fields in a base class without a name of its own: they come after those
of the op, of their kind.

Every attribute has to be there in the IR (IRDL cannot make one optional), so
a default is filled in by the builder and always printed.
"""

import inspect
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self, Union, cast, get_args, get_origin

from .. import ir

Operand = ir.Value
Result = ir.OpResult


class TypeConstraint(ir.Type):
    """A named set of types, used as ``Operand[C]``; never instantiated."""

    description: ClassVar[str] = "any type"

    @staticmethod
    def accepts(type: ir.Type) -> bool:
        return True


KINDS = ("operand", "attribute", "result")
ATTRIBUTE_KINDS = {
    "BoolAttr": "a boolean",
    "DenseI64ArrayAttr": "an array of i64",
    "DenseIntElementsAttr": "an integer tensor",
    "IntegerAttr": "an integer",
    "StringAttr": "a string",
}


@dataclass(frozen=True)
class Field:
    """One operand, attribute or result of an op class."""

    name: str
    kind: str  # one of KINDS
    optional: bool
    constraint: type[Any]
    default: Callable[[], ir.Attribute] | None = None

    @property
    def description(self) -> str:
        if issubclass(self.constraint, TypeConstraint):
            return self.constraint.description
        return ATTRIBUTE_KINDS.get(self.constraint.__name__, self.constraint.__name__)


@dataclass(frozen=True)
class _AttributeSpecifier:
    default_factory: Callable[[], ir.Attribute] | None


def attribute(*, default_factory: Callable[[], ir.Attribute] | None = None) -> Any:
    """Specifier of an attribute field; the default is made under a context."""
    return _AttributeSpecifier(default_factory)


class DeclaredOp(ir.OpView):
    """Base of every declared op: fields, accessors, builder, verifier."""

    namespace: ClassVar[str] = ""
    OPERATION_NAME: ClassVar[str] = ""
    operations: ClassVar[dict[str, type["DeclaredOp"]]] = {}
    declared: ClassVar[tuple[Field, ...]] = ()
    fields_by_kind: ClassVar[dict[str, tuple[Field, ...]]] = {}
    # Whether ``operandSegmentSizes`` tells which operands are there.
    segmented: ClassVar[bool] = False
    _ODS_REGIONS = (0, True)  # pyright: ignore[reportIncompatibleVariableOverride]

    def __init_subclass__(cls, *, namespace: str = "", name: str = "") -> None:
        super().__init_subclass__()
        if namespace:
            cls.namespace = namespace
            cls.operations = {}
        if name:
            cls.OPERATION_NAME = f"{cls.namespace}.{name}"  # pyright: ignore[reportConstantRedefinition]
            if cls.OPERATION_NAME in cls.operations:
                raise TypeError(f"'{cls.OPERATION_NAME}' is declared twice")
            cls.operations[cls.OPERATION_NAME] = cls
            cls.declared = _declare_fields(cls)
            cls.fields_by_kind = {
                kind: tuple(f for f in cls.declared if f.kind == kind) for kind in KINDS
            }
            cls.segmented = any(f.optional for f in cls.fields("operand"))

    @classmethod
    def fields(cls, kind: str) -> tuple[Field, ...]:
        return cls.fields_by_kind[kind]

    @classmethod
    def create(
        cls,
        result_types: list[ir.Type],
        *,
        loc: ir.Location,
        ip: ir.InsertionPoint,
        attributes: dict[str, ir.Attribute] | None = None,
        **values: ir.Value | ir.Attribute | None,
    ) -> Self:
        """Builds the op from fields by name; a missing optional one is absent.

        ``attributes`` is for those taken over from another op, discardable
        ones included. Raises TypeError for an unknown, missing or wrongly typed field: those
        are errors of the caller, not of a user's IR.
        """
        known = {f.name: f for f in cls.declared if f.kind != "result"}
        for name in values:
            if name not in known:
                raise TypeError(f"{cls.OPERATION_NAME} has no field '{name}'")
        operands: list[ir.Value] = []
        attributes = dict(attributes or {})
        segments: list[int] = []
        with loc.context:
            for name, field in known.items():
                value = values.get(name)
                if field.kind == "operand":
                    segments.append(0 if value is None else 1)
                    if value is not None:
                        operands.append(cast(ir.Value, value))
                        continue
                elif value is not None:
                    attributes[name] = cast(ir.Attribute, value)
                    continue
                elif name in attributes:
                    continue
                elif field.default is not None:
                    attributes[name] = field.default()
                    continue
                if not field.optional:
                    raise TypeError(f"{cls.OPERATION_NAME} needs '{name}'")
            if cls.segmented:
                attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get(segments)
        operation = ir.Operation.create(
            cls.OPERATION_NAME,
            results=result_types,
            operands=operands,
            attributes=attributes,
            loc=loc,
            ip=ip,
        )
        return cls(operation)

    def operand(self, name: str) -> ir.Value | None:
        """The operand of that field, None where an optional one is absent."""
        position = 0
        present = self.segments()
        for field, count in zip(self.fields("operand"), present, strict=True):
            if field.name == name:
                return self.operands[position] if count else None
            position += count
        raise KeyError(name)

    def segments(self) -> list[int]:
        if not self.segmented:
            return [1] * len(self.fields("operand"))
        return list(ir.DenseI32ArrayAttr(self.attributes["operandSegmentSizes"]))

    def verify_invariants(self) -> str | None:
        """Checks across operands; the error as text, None where all is well.

        Called after counts, attributes and single types were checked.
        """
        return None


def _accessor(field: Field) -> property:
    if field.kind == "operand":
        return property(lambda self: self.operand(field.name))
    if field.kind == "attribute":
        return property(lambda self: field.constraint(self.attributes[field.name]))
    return property(lambda self: self.results[0])


def _declare_fields(cls: type[DeclaredOp]) -> tuple[Field, ...]:
    """Turns the annotations of an op class and its bases into fields and accessors."""
    fields: list[Field] = []
    hints = typing.get_type_hints(cls)
    for base in cls.__mro__[: cls.__mro__.index(DeclaredOp)]:
        for name in inspect.get_annotations(base):
            if get_origin(hints[name]) is not ClassVar:
                field = _field(name, hints[name], vars(base).get(name))
                fields.append(field)
                setattr(cls, name, _accessor(field))
    return tuple(sorted(fields, key=lambda field: KINDS.index(field.kind)))


def _field(name: str, hint: Any, specifier: object) -> Field:
    optional = False
    if get_origin(hint) in (Union, types.UnionType):
        hint = next(a for a in get_args(hint) if a is not type(None))
        optional = True
    origin = get_origin(hint) or hint
    constraint = get_args(hint)[0] if get_args(hint) else TypeConstraint
    if origin is ir.OpResult:
        return Field(name, "result", optional, constraint)
    if origin is ir.Value:
        return Field(name, "operand", optional, constraint)
    default = None
    if isinstance(specifier, _AttributeSpecifier):
        default = specifier.default_factory
    return Field(name, "attribute", optional, hint, default)


def register_operations(base: type[DeclaredOp]) -> None:
    """Makes parsed ops of the dialect come back as their declared classes.

    Once per process and dialect, after all its op classes are declared.
    """
    dialect = ir.register_dialect(
        type(base.__name__, (ir.Dialect,), {"DIALECT_NAMESPACE": base.namespace})
    )
    for op in base.operations.values():
        ir.register_operation(dialect)(op)
    ir.stop_module_search(base.namespace)
