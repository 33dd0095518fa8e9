"""Random ``scf.for`` loops as text, for the pipeliner's tests.

A loop carries vectors and stacks. Its body slices, computes, communicates,
stores, branches and loops, reads values in several places, yields them in
any slot, and now and then has an effect or a barrier in the way.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

ROWS = 64
VECTOR = "tensor<8xi32>"
PART = "tensor<2xi32>"
STACK = f"tensor<{ROWS}x8xi32>"
_GROUPS = "replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>"
_COLLECTIVES = {
    "all_gather": (PART, VECTOR, f"dim = 0 : i64, {_GROUPS}"),
    "all_reduce": (VECTOR, VECTOR, f'reduction = "add", {_GROUPS}'),
    "reduce_scatter": (VECTOR, PART, f'dim = 0 : i64, reduction = "add", {_GROUPS}'),
    "all_to_all": (VECTOR, VECTOR, f"split_dim = 0 : i64, concat_dim = 0 : i64, {_GROUPS}"),
    "collective_permute": (
        PART,
        PART,
        "source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>",
    ),
}


@dataclass(frozen=True)
class Bounds:
    """A loop's index type and bounds; ``dynamic``: from arguments."""

    type: str
    unsigned: bool
    lower: int
    upper: int
    step: int
    dynamic: bool


@dataclass
class _Scope:
    """The values that a piece of code may read."""

    vectors: list[str]
    parts: list[str]
    offsets: list[str]
    conditions: list[str]

    def copy(self) -> _Scope:
        return _Scope([*self.vectors], [*self.parts], [*self.offsets], [*self.conditions])


@dataclass
class LoopWriter:
    """Writes one module with one loop. The same seed gives the same text."""

    seed: int
    effects: bool = True
    lines: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._names = 0
        self._stacks: dict[str, str] = {}

    def bounds(self) -> Bounds:
        rng = self._random
        type_ = rng.choice(["i32", "i64", "index", "i8"])
        unsigned = rng.random() < 0.15
        lower, step, trips = rng.choice([0, 0, 1, 3]), rng.choice([1, 1, 2, 3]), rng.randrange(6)
        if not unsigned and rng.random() < 0.2:
            lower = -3
        upper = lower + trips * step - (rng.randrange(step) if trips else rng.randrange(3))
        if unsigned:
            upper = max(upper, 0)
        return Bounds(type_, unsigned, lower, upper, step, rng.random() < 0.4)

    def module(self) -> tuple[str, Bounds]:
        """The text, and the bounds that go in as arguments.

        Arguments: lower, upper, step, two vectors, a stack of weights.
        """
        bounds = self.bounds()
        rng = self._random
        t = bounds.type
        lower, upper, step = "%lower", "%upper", "%step"
        if not bounds.dynamic:
            lower, upper, step = (
                self._op(f"arith.constant {v} : {t}")
                for v in (bounds.lower, bounds.upper, bounds.step)
            )
        zeros = self._op(f"arith.constant dense<0> : {STACK}")
        vectors = [f"%h{n}" for n in range(rng.randrange(1, 4))]
        stacks = [f"%out{n}" for n in range(rng.randrange(1, 4))]
        inits = [rng.choice(["%x", "%y"]) for _ in vectors] + [zeros for _ in stacks]
        types = [VECTOR for _ in vectors] + [STACK for _ in stacks]
        carried = [*vectors, *stacks]
        pairs = ", ".join(f"{c} = {i}" for c, i in zip(carried, inits, strict=True))
        kind = "scf.for unsigned" if bounds.unsigned else "scf.for"
        index_type = "" if t == "index" else f" : {t}"
        results = ", ".join(types)
        self.lines.append(
            f"%r:{len(types)} = {kind} %i = {lower} to {upper} step {step} "
            f"iter_args({pairs}) -> ({results}){index_type} {{"
        )
        self._body(vectors, stacks, t)
        self.lines.append("}")
        returned = ", ".join(f"%r#{n}" for n in range(len(types)))
        text = "\n".join(self.lines)
        return (
            f"func.func @main(%lower: {t}, %upper: {t}, %step: {t}, %x: {VECTOR}, "
            f"%y: {VECTOR}, %w: {STACK}) -> ({results}) {{\n{text}\nreturn {returned} : "
            f"{results}\n}}\n",
            bounds,
        )

    def _op(self, text: str) -> str:
        self._names += 1
        name = f"%v{self._names}"
        self.lines.append(f"{name} = {text}")
        return name

    def _body(self, vectors: list[str], stacks: list[str], index_type: str) -> None:
        rng = self._random
        index = "%i"
        if index_type != "index":
            index = self._op(f"arith.index_cast %i : {index_type} to index")
        three = self._op("arith.constant 3 : index")
        offset = self._op(f"arith.addi {index}, {three} : index")
        scope = _Scope(["%x", "%y", *vectors], [], [offset], [])
        self._stacks = {stack: stack for stack in stacks}
        for _ in range(rng.randrange(2, 12)):
            self._step(scope, depth=0)
        # Results that only go into a stack of their own are what can move behind.
        for stack in stacks:
            if rng.random() < 0.6:
                value = self._pick(scope.vectors)
                for _ in range(rng.randrange(1, 3)):
                    value = self._through_collective(value)
                if self.effects and rng.random() < 0.1:
                    value = self._effect(value)
                self._store(scope, stack, value)
        yields = [self._pick([*scope.vectors]) for _ in vectors]
        current = [*self._stacks.values()]
        if rng.random() < 0.25:
            rng.shuffle(current)
        types = ", ".join([VECTOR for _ in vectors] + [STACK for _ in stacks])
        self.lines.append(f"scf.yield {', '.join([*yields, *current])} : {types}")

    def _pick(self, values: list[str]) -> str:
        """Late ones more often than early ones."""
        return values[-1 - min(int(self._random.expovariate(0.7)), len(values) - 1)]

    def _through_collective(self, value: str) -> str:
        kind = self._random.choice(["all_reduce", "all_to_all", "reduce_scatter"])
        found = self._collective(kind, value)
        return self._collective("all_gather", found) if kind == "reduce_scatter" else found

    def _collective(self, kind: str, value: str) -> str:
        before, after, attributes = _COLLECTIVES[kind]
        request = "headrace.pipeline, " if self._random.random() < 0.5 else ""
        return self._op(
            f'"headrace.{kind}"({value}) {{{request}{attributes}, pipelined = false}} '
            f": ({before}) -> {after}"
        )

    def _effect(self, value: str) -> str:
        return self._op(f'"test.effect"({value}) : ({VECTOR}) -> {VECTOR}')

    def _store(self, scope: _Scope, stack: str, value: str) -> None:
        place = self._random.choice([self._pick(scope.offsets), "0"])
        self._stacks[stack] = self._op(
            f"tensor.insert_slice {value} into {self._stacks[stack]}[{place}, 0] [1, 8] [1, 1] "
            f": {VECTOR} into {STACK}"
        )

    def _step(self, scope: _Scope, depth: int) -> None:
        rng = self._random
        choices = ["vector", "part", "add", "add", "collective", "collective", "store", "load"]
        choices += ["offset", "fill", "condition"]
        if scope.conditions and depth < 2:
            choices.append("if")
        if depth < 2:
            choices.append("for")
        if self.effects and rng.random() < 0.3:
            choices += ["effect", "barrier"]
        choice = rng.choice(choices)
        place = self._pick(scope.offsets)
        if choice == "vector":
            scope.vectors.append(self._load("%w", place))
        elif choice == "part":
            column = rng.randrange(7)
            scope.parts.append(
                self._op(
                    f"tensor.extract_slice %w[{place}, {column}] [1, 2] [1, 1] : {STACK} to {PART}"
                )
            )
        elif choice == "add":
            name = rng.choice(["addi", "subi", "muli"])
            a, b = self._pick(scope.vectors), self._pick(scope.vectors)
            scope.vectors.append(self._op(f"arith.{name} {a}, {b} : {VECTOR}"))
        elif choice == "fill":
            number = rng.randrange(9)
            scope.vectors.append(self._op(f"arith.constant dense<{number}> : {VECTOR}"))
        elif choice == "collective":
            self._any_collective(scope)
        elif choice == "store" and depth == 0:
            self._store(scope, rng.choice([*self._stacks]), self._pick(scope.vectors))
        elif choice == "load" and depth == 0:
            stack = rng.choice([*self._stacks])
            scope.vectors.append(self._load(self._stacks[stack], rng.choice([place, "0"])))
        elif choice == "offset":
            most = self._op(f"arith.constant {ROWS - 1} : index")
            double = self._op(f"arith.addi {place}, {self._pick(scope.offsets)} : index")
            scope.offsets.append(self._op(f"arith.minsi {double}, {most} : index"))
        elif choice == "condition":
            bound = self._op(f"arith.constant {rng.randrange(8)} : index")
            scope.conditions.append(self._op(f"arith.cmpi slt, {place}, {bound} : index"))
        elif choice == "if":
            self._if(scope, depth)
        elif choice == "for":
            self._for(scope, depth)
        elif choice == "effect":
            scope.vectors.append(self._effect(self._pick(scope.vectors)))
        elif choice == "barrier":
            value = self._pick(scope.vectors)
            scope.vectors.append(self._op(f"util.optimization_barrier {value} : {VECTOR}"))

    def _load(self, stack: str, place: str) -> str:
        return self._op(
            f"tensor.extract_slice {stack}[{place}, 0] [1, 8] [1, 1] : {STACK} to {VECTOR}"
        )

    def _any_collective(self, scope: _Scope) -> None:
        kind = self._random.choice([*_COLLECTIVES])
        before, after, _ = _COLLECTIVES[kind]
        source = scope.vectors if before == VECTOR else scope.parts
        if not source:
            return
        target = scope.vectors if after == VECTOR else scope.parts
        target.append(self._collective(kind, self._pick(source)))

    def _if(self, scope: _Scope, depth: int) -> None:
        result = f"%if{self._names}"
        self._names += 1
        self.lines.append(f"{result} = scf.if {self._pick(scope.conditions)} -> ({VECTOR}) {{")
        for last in (False, True):
            inner = scope.copy()
            for _ in range(self._random.randrange(3)):
                self._step(inner, depth + 1)
            self.lines.append(f"scf.yield {self._pick(inner.vectors)} : {VECTOR}")
            self.lines.append("}" if last else "} else {")
        scope.vectors.append(result)

    def _for(self, scope: _Scope, depth: int) -> None:
        rng = self._random
        result, index, carried = (f"%{kind}{self._names}" for kind in ("for", "j", "c"))
        self._names += 1
        trips = rng.randrange(5)
        zero, upper, one = (self._op(f"arith.constant {v} : index") for v in (0, trips, 1))
        self.lines.append(
            f"{result} = scf.for {index} = {zero} to {upper} step {one} "
            f"iter_args({carried} = {self._pick(scope.vectors)}) -> ({VECTOR}) {{"
        )
        inner = scope.copy()
        inner.vectors.append(carried)
        inner.offsets.append(index)
        for _ in range(rng.randrange(1, 5)):
            self._step(inner, depth + 1)
        self.lines.append(f"scf.yield {self._pick(inner.vectors)} : {VECTOR}")
        self.lines.append("}")
        scope.vectors.append(result)
