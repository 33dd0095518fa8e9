"""The one door to the MLIR bindings that IREE ships.

Every other module takes MLIR names from here. The classes are the official
bindings' own; this file adds what they lack: a context that knows the headrace
dialect, and one exception class. Parsing is in ``parsing``.

``iree.compiler.ir`` is used, not a package called ``mlir``: objects cannot
cross between two MLIR copies, and this copy holds IREE's dialects.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from iree.compiler import ir
from iree.compiler._mlir_libs import _mlirDialectsLinalg  # pyright: ignore
from iree.compiler.dialects import (  # pyright: ignore
    _linalg_ops_gen,  # noqa: F401 # pyright: ignore - registers the op classes
    _ods_common,
)
from iree.compiler.ir import (
    AffineMap as AffineMap,
    AffineMapAttr as AffineMapAttr,
    ArrayAttr as ArrayAttr,
    Attribute as Attribute,
    BF16Type as BF16Type,
    Block as Block,
    BlockArgument as BlockArgument,
    BoolAttr as BoolAttr,
    ComplexType as ComplexType,
    Context as Context,
    DenseElementsAttr as DenseElementsAttr,
    DenseI32ArrayAttr as DenseI32ArrayAttr,
    DenseI64ArrayAttr as DenseI64ArrayAttr,
    DenseIntElementsAttr as DenseIntElementsAttr,
    Dialect as Dialect,
    DictAttr as DictAttr,
    F16Type as F16Type,
    F32Type as F32Type,
    F64Type as F64Type,
    FileLineColLoc as FileLineColLoc,
    FlatSymbolRefAttr as FlatSymbolRefAttr,
    Float4E2M1FNType as Float4E2M1FNType,
    Float8E4M3FNType as Float8E4M3FNType,
    Float8E4M3FNUZType as Float8E4M3FNUZType,
    Float8E5M2FNUZType as Float8E5M2FNUZType,
    Float8E5M2Type as Float8E5M2Type,
    Float8E8M0FNUType as Float8E8M0FNUType,
    FloatAttr as FloatAttr,
    FloatType as FloatType,
    FunctionType as FunctionType,
    IndexType as IndexType,
    InsertionPoint as InsertionPoint,
    IntegerAttr as IntegerAttr,
    IntegerType as IntegerType,
    Location as Location,
    MLIRError as MLIRError,
    Module as Module,
    Operation as Operation,
    OpOperand as OpOperand,
    OpResult as OpResult,
    OpView as OpView,
    RankedTensorType as RankedTensorType,
    Region as Region,
    ShapedType as ShapedType,
    StringAttr as StringAttr,
    SymbolTable as SymbolTable,
    Type as Type,
    TypeAttr as TypeAttr,
    UnitAttr as UnitAttr,
    Value as Value,
)
from iree.compiler.passmanager import PassManager as PassManager

from ..errors import Diagnostic, HeadraceError
from .attribute_casts import repair_casts

# The hooks that generated bindings use for their own op classes. Private by
# name, but the only ones there are: the wheel leaves out the IRDL bindings.
register_dialect: Callable[[type], type] = _ods_common._cext.register_dialect  # pyright: ignore
register_operation: Callable[[type], Callable[[type], type]] = _ods_common._cext.register_operation  # pyright: ignore


def stop_module_search(namespace: str) -> None:
    """Tells the bindings that a dialect has no Python module to be loaded.

    Each time they hand out an op they look for one, and where the wheel has
    none they search the whole import path again: 40 times the cost of all
    else. An empty module under the name, for as long as they look, ends it.
    """
    name = f"iree.compiler.dialects.{namespace}"
    if name in sys.modules:
        return
    sys.modules[name] = ModuleType(name)
    try:
        _ods_common._cext.globals._check_dialect_module_loaded(namespace)  # pyright: ignore
    finally:
        del sys.modules[name]


# Dialects that models hold and the wheel has no Python module for, and linalg,
# whose module takes 0.3 s to load its op definition language; the op classes
# are in the generated part.
for _namespace in (
    "chlo",
    "iree_encoding",
    "iree_linalg_ext",
    "linalg",
    "sdy",
    "stablehlo",
    "torch",
    "vhlo",
):
    stop_module_search(_namespace)

# The public linalg module would import its whole op definition language.
is_contraction_op: Callable[[Operation], bool] = _mlirDialectsLinalg.isa_contraction_op  # pyright: ignore
indexing_maps: Callable[[Operation], list[Attribute]] = _mlirDialectsLinalg.get_indexing_maps  # pyright: ignore


def make_context() -> Context:
    """A context with IREE's dialects and ours; use it from one thread."""
    context = Context()
    prepare_context(context)
    return context


def prepare_context(context: Context) -> None:
    """Makes a caller's own context fit for headrace ops; may be repeated."""
    repair_casts(ir, _ods_common._cext, context)  # pyright: ignore
    context.allow_unregistered_dialects = True
    context.enable_multithreading(False)


def is_registered_operation(name: str, context: Context) -> bool:
    """Whether MLIR itself knows the op; ours are not registered natively."""
    with contextlib.suppress(IndexError):
        _ = context.dialects[name.partition(".")[0]]  # loads it
    return context.is_registered_operation(name)


def source_position(location: Location) -> tuple[str, int, int]:
    """File, line, column of a location; ("", 0, 0) where it has none."""
    location = _downcast(location)
    if isinstance(location, FileLineColLoc):
        return (str(location.filename), location.start_line, location.start_col)
    for inner in _inner_locations(location):
        found = source_position(inner)
        if found[1]:
            return found
    return ("", 0, 0)


def _downcast(location: Location) -> Location:
    """Captured diagnostics come with the base class only."""
    for kind in (FileLineColLoc, ir.CallSiteLoc, ir.FusedLoc, ir.NameLoc):
        if location.typeid == kind.static_typeid:
            return location if isinstance(location, kind) else kind(location)
    return location


def _inner_locations(location: Location) -> list[Location]:
    if isinstance(location, ir.CallSiteLoc):
        return [location.callee, location.caller]
    if isinstance(location, ir.FusedLoc):
        return list(location.locations)
    if isinstance(location, ir.NameLoc):
        return [location.child_loc]
    return []


def error_at(place: Operation | OpView | Value | Location, message: str) -> HeadraceError:
    """An error that carries the place of an op, value or location."""
    location = place if isinstance(place, Location) else place.location
    return HeadraceError(Diagnostic("error", message, *source_position(location)))


def native_diagnostics(error: MLIRError, name: str = "") -> list[Diagnostic]:
    """The diagnostics of a binding exception; ``name`` replaces a nameless file."""
    found = [_convert(d, name) for d in error.error_diagnostics]
    return found or [Diagnostic("error", str(error), name)]


@contextmanager
def collect_diagnostics(context: Context) -> Generator[list[Diagnostic]]:
    """Warnings, remarks and errors that native code emits without failing.

    Without this they go to the process's stderr. Errors that come as an
    exception are in the exception only.
    """
    found: list[Diagnostic] = []

    def hear(diagnostic: ir.Diagnostic) -> bool:
        found.append(_convert(diagnostic, ""))
        return True

    handler = context.attach_diagnostic_handler(hear)
    try:
        yield found
    finally:
        handler.detach()


def _convert(info: ir.DiagnosticInfo | ir.Diagnostic, name: str) -> Diagnostic:
    file, line, column = source_position(info.location)
    return Diagnostic(
        str(info.severity).rpartition(".")[2].lower(),
        info.message,
        name if file in ("", "-") else file,
        line,
        column,
        # A print of the op, which may be a whole function, helps no one.
        tuple(
            _convert(note, name)
            for note in info.notes
            if not note.message.startswith("see current operation")
        ),
    )


def module_operation(module: Module | Operation | OpView) -> Operation:
    """The ``builtin.module`` operation of any handle that stands for one."""
    operation = module.operation
    if operation.name != "builtin.module":
        raise HeadraceError(f"expected a builtin.module, got '{operation.name}'")
    return operation


def verify_natively(module: Operation) -> None:
    """Runs MLIR's own verifier; HeadraceError with its diagnostics."""
    try:
        module.verify()
    except MLIRError as error:
        raise HeadraceError(*native_diagnostics(error)) from None


def replace_contents(module: Operation, source: Operation) -> None:
    """Makes ``module`` hold what ``source`` holds; ``source`` is empty after.

    How a caller's module changes in one step, after all passes went well.
    """
    target = module.regions[0].blocks[0]
    for op in reversed(operations_of(target)):
        op.erase()
    for op in operations_of(source.regions[0].blocks[0]):
        op.detach_from_parent()
        target.append(op)
    for name in list(module.attributes):
        del module.attributes[name]
    for name, attribute in source.attributes.items():
        module.attributes[name] = attribute


def write_bytecode(module: Operation, path: str | Path) -> None:
    """Writes bytecode of the version that the wheel's own tools read."""
    with Path(path).open("wb") as file:
        module.write_bytecode(file)


def blocks_of(op: Operation | OpView) -> Iterator[Block]:
    """The blocks of all regions of ``op``, not of nested ops."""
    for region in op.regions:
        yield from region.blocks


def ancestors(op: Operation | OpView) -> Iterator[Operation]:
    """The ops around ``op``, the innermost first; none for a module."""
    parent = op.operation.parent
    while parent is not None:
        yield parent.operation
        parent = parent.operation.parent


def operations_of(block: Block) -> list[Operation]:
    """A block's operations as a list, so that the block may be changed."""
    return [op.operation for op in block.operations]


def walk(root: Operation | OpView, *, bodies: bool = True) -> list[Operation]:
    """``root`` and everything under it, outer ops first.

    Without ``bodies`` the bodies of linalg ops are left out: they are most ops
    of a lowered module, and hold scalars only. A list, since a native walk may
    not meet ops that its own callback erases.
    """
    if not len(root.operation.regions):  # most ops: no callback from native code
        return [root.operation]
    found: list[Operation] = []

    def visit(op: Operation) -> ir.WalkResult:
        found.append(op.operation)
        return ir.WalkResult.ADVANCE

    def visit_tensor_op(op: Operation) -> ir.WalkResult:
        operation = op.operation
        found.append(operation)
        is_linalg = operation.name.startswith("linalg.")
        return ir.WalkResult.SKIP if is_linalg else ir.WalkResult.ADVANCE

    root.operation.walk(visit if bodies else visit_tensor_op, ir.WalkOrder.PRE_ORDER)
    return found


ValueMap = dict[Value, Value]


def clone_op(op: Operation, values: ValueMap, ip: InsertionPoint) -> Operation:
    """Clones ``op``, reading ``values[v]`` instead of ``v``, also inside it.

    Adds the op's results to ``values``. A value that is not in there is read
    as it is.
    """
    clone = op.clone(ip=ip).operation
    for inner in walk(clone):
        for index, operand in enumerate(inner.operands):
            if operand in values:
                inner.operands[index] = values[operand]
    for old, new in zip(op.results, clone.results, strict=True):
        values[old] = new
    return clone


def clone_ops(ops: Iterable[Operation], values: ValueMap, ip: InsertionPoint) -> list[Operation]:
    """Clones ops in order; each may use the results of those before it."""
    return [clone_op(op, values, ip) for op in ops]


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def address_of(op: Operation | OpView) -> int:
    """What tells one living op from another, whatever changes in it.

    The bindings' own hash of an op is computed from its operands and
    attributes: a dict keyed by ops loses those whose operands are replaced.
    """
    capsule: object = op.operation._CAPIPtr  # pyright: ignore
    address: int = _capsule_pointer(capsule, b"iree.compiler.ir.Operation._CAPIPtr")
    return address


def defining_op(value: Value) -> Operation | None:
    """The op that makes ``value``; None for a block argument."""
    owner = value.owner
    return None if isinstance(owner, Block) else owner.operation


def producer_behind(value: Value, passed: Collection[str]) -> Operation | None:
    """The op that makes ``value``, past ops of the names in ``passed``: they hand on their
    first operand."""
    op = defining_op(value)
    while op is not None and op.name in passed:
        op = defining_op(op.operands[0])
    return op


def block_of(value: Value) -> Block:
    """The block that ``value`` is made in, or is an argument of."""
    owner = value.owner
    return owner if isinstance(owner, Block) else owner.operation.block


def users_of(value: Value) -> list[Operation]:
    """The ops that read ``value``, once for each use: a list, so that uses may change."""
    return [use.owner.operation for use in value.uses]


def is_used(op: Operation | OpView) -> bool:
    """Whether anything reads a result of ``op``."""
    return any(next(iter(result.uses), None) is not None for result in op.operation.results)


def all_operands(op: Operation | OpView) -> list[Value]:
    """What ``op`` and the ops in it read, some of it made within."""
    return [operand for each in walk(op) for operand in each.operands]


def affine_position(expression: ir.AffineExpr) -> int:
    """The number of the loop that an affine expression is; raises ValueError
    for any other expression."""
    return ir.AffineDimExpr(expression).position


def result_number(value: Value) -> int:
    """The position of an op's result among its results."""
    return OpResult(value).result_number
