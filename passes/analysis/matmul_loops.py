"""Which loop of a linalg contraction is batch, m, n, k and block, and how long each is."""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects import ir
from ...dialects.iree.encoding import encoding_of
from ...dialects.upstream.contraction import contraction_loops, scaled_contraction_loops
from ...dialects.upstream.linalg import DYNAMIC, TensorBuilder, dims_map, tensor_type
from ..rewriting import Miss


@dataclass(frozen=True)
class MatmulLoops:
    """The loops of a contraction with at most one loop of each kind.

    One that is scaled in blocks sums over two loops: ``k`` counts blocks and
    ``block`` the elements of each.

    ``sizes`` is the length of every loop, DYNAMIC where not known; the others
    are loop numbers, None where there is no such loop. ``places`` says for
    each loop an operand and its dimension of that length.
    """

    sizes: tuple[int, ...]
    batch: int | None
    m: int | None
    n: int | None
    k: int
    block: int | None
    places: tuple[tuple[int, int], ...]

    def size(self, loop: int | None) -> int:
        """Its length, 1 where there is no such loop."""
        return 1 if loop is None else self.sizes[loop]

    def dynamic_sizes(self, b: TensorBuilder, op: ir.Operation) -> list[ir.Value]:
        """The lengths of the dynamic loops, in loop order."""
        return [
            b.dim(op.operands[operand], dim)
            for size, (operand, dim) in zip(self.sizes, self.places, strict=True)
            if size == DYNAMIC
        ]


def matmul_loops(op: ir.Operation) -> MatmulLoops | Miss | None:
    """The loops of ``op``; a Miss for what no data-tiling resolver takes, None for
    what is no contraction.

    The rule is IREE's: a sum over exactly one loop, at most one loop of any
    other kind, m or n among them; scaled in blocks, over one more.
    """
    maps = operand_loops(op)
    if maps is None or len(op.results) != 1:
        return None
    lhs, rhs, *scales, out = maps
    kinds: dict[str, list[int]] = {"batch": [], "m": [], "n": [], "k": [], "block": []}
    for loop in sorted({*lhs, *rhs, *out}):
        kind = _KINDS.get((loop in lhs, loop in rhs, loop in out))
        if kind is None:
            return Miss("not encoded: a loop runs along one operand only")
        if kind == "k" and scales and not any(loop in scale for scale in scales):
            kind = "block"
        kinds[kind].append(loop)
    for operand, scale in zip((lhs, rhs), scales, strict=False):
        if {*operand} - {*kinds["block"]} != {*scale}:
            return Miss("not encoded: scales are not one per block of the same loop")
    for kind, loops in kinds.items():
        if len(loops) > 1:
            return Miss(f"not encoded: it has {len(loops)} {kind} loops, resolvers take one")
    if not kinds["k"]:
        return Miss("not encoded: it sums over no loop")
    if not kinds["m"] and not kinds["n"]:
        return Miss("not encoded: a dot product has neither rows nor columns to tile")
    places: dict[int, tuple[int, int]] = {}
    sizes: dict[int, int] = {}
    for operand, loops in enumerate(maps):
        shape = tensor_type(op.operands[operand]).shape
        for dim, loop in enumerate(loops):
            if sizes.get(loop, DYNAMIC) == DYNAMIC and (
                shape[dim] != DYNAMIC or (loop not in places and operand < 2)
            ):
                sizes[loop], places[loop] = shape[dim], (operand, dim)
    order = range(len(sizes))
    batch, m, n, block = (next(iter(kinds[kind]), None) for kind in ("batch", "m", "n", "block"))
    lengths, where = tuple(sizes[i] for i in order), tuple(places[i] for i in order)
    return MatmulLoops(lengths, batch, m, n, kinds["k"][0], block, where)


def operand_loops(op: ir.Operation) -> list[list[int]] | None:
    """Which loop each dimension of each operand runs along; None for an op
    that is no contraction, neither plain nor scaled in blocks."""
    return contraction_loops(op) or scaled_contraction_loops(op)


# Whether a loop runs along lhs, rhs and the result.
_KINDS = {
    (True, True, True): "batch",
    (True, False, True): "m",
    (False, True, True): "n",
    (True, True, False): "k",
}


def element_types(op: ir.Operation) -> tuple[str, ...]:
    """Of lhs, rhs, their scales if any, and result as an encoding names them:
    ``ui8`` where the body extends an ``i8`` without sign."""
    body = op.regions[0].blocks[0]
    unsigned = set[int]()
    for inner in body.operations:
        operation = inner.operation
        if operation.name == "arith.extui":
            source = operation.operands[0]
            unsigned |= {i for i in range(2) if source == body.arguments[i]}
    names = [str(tensor_type(o).element_type) for o in op.operands]
    return tuple(f"u{n}" if i in unsigned else n for i, n in enumerate(names))


COMPILATION_INFO = "compilation_info"


def is_free(op: ir.Operation) -> bool:
    """Whether nobody decided on its layout or its code already."""
    names = (COMPILATION_INFO, "lowering_config", "iree_codegen.compilation_info")
    if any(name in op.attributes for name in names):
        return False
    return all(encoding_of(o.type) is None for o in op.operands)


def init_fill(op: ir.Operation) -> ir.Operation | None:
    """The ``linalg.fill``, with whatever number, that a contraction accumulates
    into; None if it adds to something else."""
    fill = ir.defining_op(op.operands[-1])
    return fill if fill is not None and fill.name == "linalg.fill" else None


def refilled(b: TensorBuilder, fill: ir.Operation, empty: ir.Value) -> ir.Value:
    """``empty``, of any shape or encoding, filled with what ``fill`` fills with."""
    made = fill.clone(ip=b.ip).operation
    made.operands[1] = empty
    made.results[0].set_type(empty.type)
    return made.results[0]


def indexing_maps(op: ir.Operation) -> list[ir.AffineMap]:
    """Of the operands of a contraction, named ops included."""
    loops = operand_loops(op) or []
    count = 1 + max(loop for dims in loops for loop in dims)
    with op.context:
        return [dims_map(count, dims) for dims in loops]
