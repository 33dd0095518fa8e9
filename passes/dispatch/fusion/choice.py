"""Chooses which encodings of a dispatch region's results to fuse into it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import islice

from ....dialects import ir
from ....dialects.iree.dispatch import DispatchRegion
from ....dialects.iree.encoding import UNSET_ENCODING, encoding_of, is_set_encoding
from ....dialects.op_traits import VIEWS
from ....dialects.upstream.linalg import DYNAMIC, tensor_type
from ...remarks import remark
from ...rewriting import Miss
from ...targets.target import Target
from .encoding_sources import Source, body_reason
from .hoisting import Hoister
from .reductions import reductions_of
from .region import Fusion

# Alone in a region, these get no loop nest that a second store would fit in.
_MOVES = (
    *("arith.constant", "tensor.extract_slice", *UNSET_ENCODING),
    *("linalg.broadcast", "linalg.copy", "linalg.fill", "linalg.transpose"),
)

_OPTION = "experimental-multi-use-encoding-fusion"


def choose(
    region: DispatchRegion,
    candidates: Sequence[Fusion],
    hoister: Hoister,
    target: Target,
    *,
    multi_use: bool,
) -> list[Fusion]:
    """Those to be fused on a target, in their order; remarks on the others.

    What the chosen ones need is moved before the region. ``multi_use``: also
    values that have other users.
    """
    tests = _RegionTests(region, target, multi_use)
    chosen: list[int] = []
    for index in _by_gain(candidates):
        fusion = candidates[index]
        needed = tests.miss(fusion) or hoister.needed(_sizes_needed(fusion), region.op)
        if isinstance(needed, Miss):
            missed(fusion.encode, needed)
            continue
        hoister.move(needed, region.op)
        tests.accept(fusion)
        chosen.append(index)
    return [candidates[index] for index in sorted(chosen)]


class _RegionTests:
    """Whether one more packed value fits into a region."""

    def __init__(self, region: DispatchRegion, target: Target, multi_use: bool) -> None:
        self._region = region
        self._target = target.name
        self._limits = target.packing
        self._multi_use = multi_use
        self._yielded = list(region.terminator.operands)
        self._reason = body_reason(region)
        self._reductions = reductions_of(region)
        self._stored = Counter(_origin(value) for value in self._yielded)
        self._layouts: set[Hashable] = set()
        self._roles: dict[Hashable, ir.Attribute] = {}
        for value in self._yielded:
            encoding = encoding_of(value.type)
            if encoding is not None:
                self._store(value, encoding)

    def accept(self, fusion: Fusion) -> None:
        """The fusion is done: its layout takes its place among those stored."""
        self._store(self._yielded[fusion.source.result], _encoding(fusion))

    def _store(self, value: ir.Value, encoding: ir.Attribute) -> None:
        self._layouts.add(self._layout(value, encoding))
        self._roles[_origin(value), self._limits.role(encoding)] = encoding

    def _layout(self, value: ir.Value, encoding: ir.Attribute) -> Hashable:
        """Where only one packing compiles, that of another value is another one:
        a value and itself turned are tiled in two ways, say."""
        layout = self._limits.layout_class(encoding)
        return (layout, _origin(value)) if self._limits.packings == 1 else layout

    def miss(self, fusion: Fusion) -> Miss | None:
        """Why not to fuse; None if nothing but the sizes it needs is in the way."""
        if self._reason is not None:
            return Miss(self._reason)
        target = self._target
        value = self._yielded[fusion.source.result]
        producer = ir.defining_op(value)
        if producer is None or producer.block != self._region.body:
            return Miss("the dispatch region yields a value from outside of it")
        if not (self._limits.packs_before_reductions or self._reductions.all_go_into(value)):
            return Miss(
                "the dispatch region has a reduction that does not go into it, which "
                f"{target} cannot tile with a packed store"
            )
        if not self._limits.packs_after_dynamic_rows and self._has_dynamic_rows(value):
            return Miss(
                "the dispatch region reduces rows of dynamic length before, which "
                f"{target} cannot tile with a packed store of two dynamic dimensions"
            )
        sole = _is_sole_use(fusion.source)
        if not (sole or self._multi_use):
            return Miss(f"its source has other uses: that needs {_OPTION}")
        if not sole or self._stored[_origin(value)] > 1:
            reason = self._second_store_reason(fusion, value)
            if reason is not None:
                return Miss(f"its source has other uses, and {reason}")
        encoding = _encoding(fusion)
        if self._roles.get((_origin(value), self._limits.role(encoding)), encoding) != encoding:
            return Miss(
                "the dispatch region packs it for the same operand already: should both come "
                f"out the same, {target} could not store them twice"
            )
        stored = self._layouts | {self._layout(value, encoding)}
        if 0 < self._limits.packings < len(stored):
            return Miss(
                f"the dispatch region stores {len(stored) - 1} packed layout(s) already, "
                f"the most that compile on {target}"
            )
        return None

    def _has_dynamic_rows(self, value: ir.Value) -> bool:
        """Whether a value of two dynamic dimensions comes of its rows' sums, say."""
        type_ = tensor_type(value)
        lower = any(rank < type_.rank for rank in self._reductions.dynamic_ranks)
        return lower and list(type_.shape).count(DYNAMIC) > 1

    def _second_store_reason(self, fusion: Fusion, value: ir.Value) -> str | None:
        """Why ``value`` cannot be stored both plain and packed."""
        limits, encoding = self._limits, _encoding(fusion)
        if not limits.resolves(encoding):
            return (
                f"{self._target} has no tiles for it: the dispatch would store the plain "
                "value twice"
            )
        if any(step.name == "tensor.cast" for step in fusion.source.steps):
            return "it is cast in between: no loop could store it twice"
        moved = _only_moved_by(value)
        if moved is not None:
            return f"the dispatch region only moves it, by '{moved}': no loop could store it twice"
        is_sum = tensor_type(value).rank in self._reductions.ranks
        if is_sum and not limits.packs_sums_as_results and limits.is_result(encoding):
            return f"{self._target} cannot store a sum plain and packed as a matmul's result"
        return None


def missed(op: ir.Operation, miss: Miss) -> None:
    """Leaves a remark on an encoding that is not fused."""
    remark(op, f"not fused into its producer: {miss.reason}")


def _by_gain(candidates: Sequence[Fusion]) -> list[int]:
    """Indices of candidates: those first that leave no plain value, then by users."""

    def loss(index: int) -> tuple[bool, int]:
        users = sum(1 for _ in candidates[index].encode.results[0].uses)
        return (not _is_sole_use(candidates[index].source), -users)

    return sorted(range(len(candidates)), key=loss)


def _is_sole_use(source: Source) -> bool:
    """Whether nothing but the encoding reads the value that it packs."""
    values = [source.output, *(step.results[0] for step in source.steps)]
    return all(sum(1 for _ in islice(value.uses, 2)) == 1 for value in values)


def _only_moved_by(value: ir.Value) -> str | None:
    """The name of the op that a value comes from without a computation."""
    producer = ir.defining_op(_origin(value))
    return producer.name if producer is not None and producer.name in _MOVES else None


def _origin(value: ir.Value) -> ir.Value:
    """What a region packed and reshaped to get ``value``."""
    producer = ir.defining_op(value)
    while producer is not None and (producer.name in VIEWS or is_set_encoding(producer)):
        value = producer.operands[0]
        producer = ir.defining_op(value)
    return value


def _sizes_needed(fusion: Fusion) -> list[ir.Value]:
    """What the cloned ops read besides the tensor."""
    ops = (*fusion.source.steps, fusion.encode)
    return [value for op in ops for value in list(op.operands)[1:]]


def _encoding(fusion: Fusion) -> ir.Attribute:
    encoding = encoding_of(fusion.encode.results[0].type)
    assert encoding is not None, "the verifier demands it"
    return encoding
