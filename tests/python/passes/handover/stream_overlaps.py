"""Checks what IREE's stream phase does in place.

``check_stream(text)`` takes the ``stream`` phase of one compilation (what
``run_iree_compile(..., phases=["stream"])`` keeps, or ``iree-compile
--compile-to=stream``) and lists what may go wrong in it, in words:

- a dispatch that writes bytes which it also reads, unless each element is
  read only to compute the element that takes its place;
- a dispatch that writes the same bytes twice; a copy onto itself;
- commands of one ``stream.cmd.concurrent`` of which one writes what another
  reads or writes, where it is known how far apart that is.

What it cannot see is a command that reads too late, what has been updated by
then: every range is right. The numbers tell.

Ranges are those of the loads and stores in the executables: the bindings of
the stream phase are whole buffers. What has an encoding is taken without its
padding. Two resources that a function gets are two buffers. A part of a tensor
is within it: a result of the function, that is, of which the phase says where it is.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf, prod

from byte_ranges import Atoms, ByteRange, Numbers, Sum, comparable, disjoint
from headrace.dialects import ir
from headrace.dialects.ir.parsing import parse_module
from headrace.dialects.op_traits import VIEWS
from headrace.dialects.upstream.tensor import DYNAMIC

_DISPATCH_TENSOR = re.compile(r"dispatch\.tensor<(readonly|readwrite|writeonly):(tensor<.*>)>$")
_LOAD = "iree_tensor_ext.dispatch.tensor.load"
_STORE = "iree_tensor_ext.dispatch.tensor.store"


def check_stream(text: str) -> list[str]:
    """What may read or write the wrong bytes; empty where all is well."""
    return [
        problem
        for reader, executions in _functions(text)
        for execution in executions
        for problem in reader.problems(execution)
    ]


def late_reads(text: str, reader: str, writer: str) -> int:
    """How many commands with ``reader`` in their name read bytes that one with ``writer``
    in its name wrote by then: in an execution that theirs waits for."""
    return sum(
        functions.reads_after(reader, execution, writer, _waited_for(execution))
        for functions, executions in _functions(text)
        for execution in executions
    )


def _functions(text: str) -> Iterator[tuple[_Reader, list[ir.Operation]]]:
    """Each function's ``stream.cmd.execute`` ops, and who reads them."""
    module = parse_module(text, "stream", ir.make_context())
    top = ir.operations_of(module.regions[0].blocks[0])
    executables = {_name(op): op for op in top if op.name == "stream.executable"}
    for function in top:
        if function.name in ("util.func", "util.initializer", "func.func"):
            reader = _Reader(executables)
            ops = ir.walk(function)
            for op in ops:
                if op.name == "stream.tensor.export":
                    reader.learn_result(op)
            yield reader, [op for op in ops if op.name == "stream.cmd.execute"]


def _waited_for(execution: ir.Operation) -> list[ir.Operation]:
    """The executions that are over when one begins."""
    found: dict[ir.Operation, None] = {}
    pending = [execution]
    while pending:
        for operand in pending.pop().operands:
            op = ir.defining_op(operand)
            if op is not None and str(operand.type) == "!stream.timepoint" and op not in found:
                found[op] = None
                pending.append(op)
    return [op for op in found if op.name == "stream.cmd.execute"]


@dataclass(frozen=True)
class _Access:
    range: ByteRange
    writes: bool
    within: ByteRange | None = None  # the tensor that is in the buffer, where that is known
    op: ir.Operation | None = None  # the load or store in an executable
    part: Hashable = None  # which elements of the range, in what order


@dataclass(frozen=True)
class _Command:
    name: str
    accesses: tuple[_Access, ...]


class _Reader:
    """Reads the commands of one function."""

    def __init__(self, executables: dict[str, ir.Operation]) -> None:
        self._executables = executables
        self._atoms = Atoms()
        self._host = Numbers(self._atoms, place="host")
        self._captured: dict[ir.Value, ir.Value] = {}
        self._results: list[ByteRange] = []

    def learn_result(self, export: ir.Operation) -> None:
        """Takes note of where in a buffer a result of the function is."""
        span = self._span(export.operands[0], None, list(export.operands)[-1], False)
        self._results.append(span.range)

    def problems(self, execution: ir.Operation) -> list[str]:
        return list(self._problems(self._enter(execution)))

    def reads_after(
        self, reader: str, late: ir.Operation, writer: str, early: Sequence[ir.Operation]
    ) -> int:
        """How many commands of one execution read what some of others wrote."""
        written = [a for op in early for c in self._named(op, writer) for a in c.accesses]
        return sum(
            any(
                not read.writes and write.writes and not self._apart(read, write)
                for read in command.accesses
                for write in written
            )
            for command in self._named(late, reader)
        )

    def _named(self, execution: ir.Operation, name: str) -> list[_Command]:
        ops = ir.operations_of(self._enter(execution))
        return [c for op in ops for c in self._commands(op) if name in c.name]

    def _enter(self, execution: ir.Operation) -> ir.Block:
        segments = list(ir.DenseI32ArrayAttr(execution.attributes["operandSegmentSizes"]))
        captured = list(execution.operands)[: segments[0]]
        block = execution.regions[0].blocks[0]
        self._captured.update(zip(block.arguments, captured, strict=True))
        self._atoms.guards = self._host.guards_at(execution.block)
        return block

    def _problems(self, block: ir.Block) -> Iterator[str]:
        for op in ir.operations_of(block):
            if op.name == "stream.cmd.serial":
                yield from self._problems(op.regions[0].blocks[0])
            elif op.name == "stream.cmd.concurrent":
                yield from self._problems(op.regions[0].blocks[0])
                yield from self._races(op)
            else:
                for command in self._commands(op):
                    yield from self._within(command)

    def _races(self, concurrent: ir.Operation) -> Iterator[str]:
        children = ir.operations_of(concurrent.regions[0].blocks[0])
        groups = [list(self._commands(op)) for op in children]
        for first, second in combinations(groups, 2):
            for a, b in ((a, b) for a in first for b in second):
                for x, y in ((x, y) for x in a.accesses for y in b.accesses):
                    if (x.writes or y.writes) and self._meet(x, y):
                        yield f"{a.name} and {b.name} run at once: {x.range}, {y.range}"

    def _apart(self, a: _Access, b: _Access) -> bool:
        pairs = (
            (a.range, b.range),
            (a.within or a.range, b.within or b.range),
            (self._result_of(a.range), self._result_of(b.range)),
        )
        return any(disjoint(x, y, self._atoms) for x, y in pairs)

    def _result_of(self, part: ByteRange) -> ByteRange:
        """The result of the function that a range of bytes is a part of; else the range.

        Results that share a buffer lie there one after the other, and nothing else
        does. What begins so many bytes behind the start of one is in it: it is read
        or written with an offset in that tensor.
        """
        found, least = part, inf
        for result in self._results:
            behind = part.start - result.start
            size = None if result.end is None else result.end - result.start
            if result.resource != part.resource or behind.terms or size is None:
                continue
            if 0 <= behind.constant < least and (size.terms or behind.constant < size.constant):
                found, least = result, behind.constant
        return found

    def _meet(self, a: _Access, b: _Access) -> bool:
        """Whether two commands' ranges overlap. Where rows of unknown numbers are
        written into tensors that share a buffer, it is IREE that keeps them apart."""
        return comparable(a.range, b.range, self._atoms) and not self._apart(a, b)

    def _within(self, command: _Command) -> Iterator[str]:
        for a, b in combinations(command.accesses, 2):
            if not (a.writes or b.writes) or self._apart(a, b):
                continue
            if a.writes and b.writes:
                yield f"{command.name} writes {a.range} and {b.range}"
            else:
                read, write = (b, a) if a.writes else (a, b)
                if not _in_place(read, write):
                    yield f"{command.name} writes {write.range}, and reads {read.range}"

    def _commands(self, op: ir.Operation) -> Iterator[_Command]:
        operands = list(op.operands)
        if op.name == "stream.cmd.dispatch":
            for entry in ir.ArrayAttr(op.attributes["entry_points"]):
                yield self._dispatch(op, [name.strip('"') for name in str(entry)[1:].split("::@")])
        elif op.name == "stream.cmd.fill":
            yield _Command("fill", (self._span(operands[0], operands[2], operands[3], True),))
        elif op.name == "stream.cmd.copy":
            source = self._span(operands[0], operands[2], operands[6], False)
            target = self._span(operands[3], operands[5], operands[6], True)
            yield _Command("copy", (source, target))
        elif op.name == "stream.cmd.collective":
            yield _Command(op.name, tuple(self._collective(op)))
        elif op.name in ("stream.cmd.serial", "stream.cmd.concurrent"):
            for inner in ir.operations_of(op.regions[0].blocks[0]):
                yield from self._commands(inner)

    def _collective(self, op: ir.Operation) -> Iterator[_Access]:
        """Its ranges: an access is 1 where it reads, 2 where it writes, 3 for both."""
        _, _, _, resources, _, offsets, lengths = _segments(op)
        kinds = [ir.IntegerAttr(a).value for a in ir.ArrayAttr(op.attributes["resource_accesses"])]
        for kind, *where in zip(kinds, resources, offsets, lengths, strict=True):
            for bit, writes in ((1, False), (2, True)):
                if kind & bit:
                    yield self._span(*where, writes)

    def _span(
        self, resource: ir.Value, offset: ir.Value | None, length: ir.Value, writes: bool
    ) -> _Access:
        name, start = self._resource(resource)
        if offset is not None:
            start = start + self._host.of(offset)
        return _Access(ByteRange(name, start, start + self._host.of(length)), writes)

    def _resource(self, value: ir.Value) -> tuple[Hashable, Sum]:
        """The buffer and where in it the resource starts."""
        start = Sum()
        while True:
            op = ir.defining_op(value)
            if value in self._captured:
                value = self._captured[value]
            elif op is not None and op.name == "stream.resource.subview":
                start = start + self._host.of(list(op.operands)[2])
                value = op.operands[0]
            elif op is not None and op.name == "stream.timepoint.await":
                value = op.operands[list(op.results).index(value)]
            else:
                return str(value.get_name()), start

    def _dispatch(self, op: ir.Operation, entry: Sequence[str]) -> _Command:
        _, scalars, resources, _, offsets, _ = _segments(op)
        function = _entry_function(self._executables[entry[0]], entry[1])
        arguments = list(function.regions[0].blocks[0].arguments)
        bindings = [a for a in arguments if str(a.type) == "!stream.binding"]
        numbers = [a for a in arguments if str(a.type) != "!stream.binding"]
        inside = Numbers(self._atoms, place=entry[1])
        for argument, scalar in zip(numbers, scalars, strict=True):
            inside.known[argument] = self._host.of(scalar)
        starts: dict[ir.Value, tuple[Hashable, Sum]] = {}
        for binding, resource, offset in zip(bindings, resources, offsets, strict=True):
            name, start = self._resource(resource)
            starts[binding] = name, start + self._host.of(offset)
        accesses: list[_Access] = []
        for inner in ir.walk(function):
            if inner.name == "stream.binding.subspan":
                name, start = starts[inner.operands[0]]
                start = start + inside.of(inner.operands[1])
                accesses += _accesses(inner, name, start, inside)
        return _Command(entry[1], tuple(accesses))


def _segments(op: ir.Operation) -> list[list[ir.Value]]:
    """The operands, group by group."""
    found: list[list[ir.Value]] = []
    rest = list(op.operands)
    for size in ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]):
        found.append(rest[:size])
        rest = rest[size:]
    return found


def _name(op: ir.Operation) -> str:
    return ir.StringAttr(op.attributes["sym_name"]).value


def _entry_function(executable: ir.Operation, export: str) -> ir.Operation:
    ops = ir.walk(executable)
    (name,) = (
        ir.FlatSymbolRefAttr(op.attributes["function_ref"]).value
        for op in ops
        if op.name == "stream.executable.export" and _name(op) == export
    )
    return next(op for op in ops if op.name == "func.func" and _name(op) == name)


def _accesses(
    subspan: ir.Operation, resource: Hashable, start: Sum, numbers: Numbers
) -> Iterator[_Access]:
    """What is loaded from a binding and stored to it."""
    match = _DISPATCH_TENSOR.search(str(subspan.results[0].type))
    assert match is not None, subspan
    with subspan.context:
        type_ = ir.RankedTensorType(ir.Type.parse(match[2], subspan.context))
    sizes = [numbers.of(v) for v in list(subspan.operands)[2:]]
    shape = [sizes.pop(0) if size == DYNAMIC else Sum(size) for size in type_.shape]
    bits = _bits(type_)
    whole = ByteRange(resource, start, _end(start, shape, bits))
    for use in subspan.results[0].uses:
        user = use.owner.operation
        if user.name in (_LOAD, _STORE):
            part, order = _part(user, whole, shape, bits, numbers)
            yield _Access(part, user.name == _STORE, whole, user, order)
        else:
            if match[1] != "writeonly":
                yield _Access(whole, False)
            if match[1] != "readonly":
                yield _Access(whole, True)


def _bits(type_: ir.RankedTensorType) -> int:
    element = str(type_.element_type)
    if element in ("i1", "index"):
        return 8 if element == "i1" else 64
    if element.startswith("complex"):
        return 2 * int(re.findall(r"\d+", element)[0])
    return int(re.findall(r"\d+", element)[0])


def _end(start: Sum, shape: list[Sum], bits: int) -> Sum | None:
    """None where a last byte may be half full."""
    elements = prod(shape, start=Sum(1))
    if not elements.terms:
        return start + Sum(-(-elements.constant * bits // 8))
    return start + elements.times(bits // 8) if bits >= 8 else None


def _part(
    op: ir.Operation, whole: ByteRange, shape: list[Sum], bits: int, numbers: Numbers
) -> tuple[ByteRange, Hashable]:
    """The bytes from the first element that is loaded or stored to the last."""
    segments = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    rest = list(op.operands)[sum(segments[:-3]) :]
    given: list[list[Sum]] = []
    for name, count in zip(("offsets", "sizes", "strides"), segments[-3:], strict=True):
        dynamic, rest = [numbers.of(v) for v in rest[:count]], rest[count:]
        static = list(ir.DenseI64ArrayAttr(op.attributes[f"static_{name}"]))
        given.append([dynamic.pop(0) if n == DYNAMIC else Sum(n) for n in static])
    offsets, sizes, strides = given
    part = (tuple(shape), bits, tuple(offsets), tuple(sizes), tuple(strides))
    if len(offsets) != len(shape) or bits < 8 or any(s != Sum(1) for s in strides):
        return whole, part
    first, last, step = Sum(), Sum(), Sum(1)
    for offset, size, of in reversed(list(zip(offsets, sizes, shape, strict=True))):
        first = first + offset * step
        last = last + (offset + size + Sum(-1)) * step
        step = step * of
    dense = last - first + Sum(1) == prod(sizes, start=Sum(1))
    return _bytes(whole, first, last, bits), "dense" if dense else part


def _bytes(whole: ByteRange, first: Sum, last: Sum, bits: int) -> ByteRange:
    size = bits // 8
    start = whole.start
    return ByteRange(whole.resource, start + first.times(size), start + (last + Sum(1)).times(size))


def _in_place(read: _Access, write: _Access) -> bool:
    """Whether each element is read only to compute the one that is stored there."""
    if read.op is None or write.op is None:
        return False
    if read.range != write.range or read.part != write.part:
        return False
    return _flows_elementwise(read.op.results[0], write.op)


def _flows_elementwise(value: ir.Value, store: ir.Operation) -> bool:
    """Whether ``value`` goes into that store alone, through ops that keep elements apart.

    One use at each step: an op beside, or a second one after it, could read
    an element when it has been written.
    """
    while True:
        uses = list(value.uses)
        if len(uses) != 1:
            return False
        user, number = uses[0].owner.operation, uses[0].operand_number
        if user == store:
            return number == 0
        result = _elementwise_result(user, number)
        if result is None:
            return False
        value = result


def _elementwise_result(op: ir.Operation, number: int) -> ir.Value | None:
    """The one result that has at each place what the operand has there."""
    if op.name in VIEWS or (op.name == "tensor.insert_slice" and number == 1):
        return op.results[0]
    if not op.name.startswith(("linalg.", "iree_linalg_ext.")):
        return None
    inputs = len(op.operands) - len(op.results)
    if number >= inputs:
        # A destination is read where the result is written.
        return op.results[number - inputs]
    if op.name != "linalg.generic" or len(op.results) != 1:
        return None
    maps = [ir.AffineMapAttr(a).value for a in ir.ArrayAttr(op.attributes["indexing_maps"])]
    parallel = all("parallel" in str(a) for a in ir.ArrayAttr(op.attributes["iterator_types"]))
    same = maps[number] == maps[inputs] and maps[inputs].is_permutation
    return op.results[0] if parallel and same else None
