"""The kinds of graphs that are generated."""

from __future__ import annotations

from dataclasses import replace

from .control_flow import ControlFlow
from .graph import Graph
from .linalg import CONTRACTIONS, ELEMENTWISE, MOVEMENT, REDUCTIONS
from .linalg.contractions import matmul, matmul_family, scaled_matmul
from .linalg.elementwise import elementwise
from .linalg.slices import extract_slice, insert_slice, update_from_own_slice
from .numerics import Unfit
from .torch import TORCH
from .writer import Profile, Writer

ELEMENTS = ("f32", "f32", "f32", "bf16", "f16", "i32", "i8", "i1", "f8E4M3FN", "f8E5M2")

_STEPS = (*ELEMENTWISE, *MOVEMENT, *CONTRACTIONS, *REDUCTIONS)
MIXED = Profile("linalg", _STEPS, ELEMENTS, nodes=(2, 9))
_BODY = (*_STEPS, *(8 * (elementwise,)), *(4 * (insert_slice, extract_slice)))
_flow = ControlFlow(_BODY)
# Loops and branches, and each other within them.
_NESTED = ControlFlow((*_flow.steps, _flow.loop, _flow.branch, _flow.repeat))
LOOPS = Profile(
    "linalg",
    (*_STEPS, *(12 * (_NESTED.loop, _NESTED.loop, _NESTED.branch, _NESTED.repeat))),
    ELEMENTS,
    nodes=(2, 5),
)
# Products in a net: what the dispatch stage packs and fuses.
PRODUCTS = Profile(
    "linalg",
    (
        *ELEMENTWISE[:3],
        *MOVEMENT[:1],
        matmul,
        matmul_family,
        matmul_family,
        scaled_matmul,
        *REDUCTIONS,
    ),
    ("f32", "f32", "f32", "bf16", "i8"),
    sizes=(16, 24, 32, 33, 64),
    ranks=(2,),
    nodes=(4, 12),
    dynamic=0.15,
)
# In sizes that fill panels: see pack-panels.
PANELS = replace(PRODUCTS, elements=("f32",), sizes=(128,), nodes=(3, 7), dynamic=0.0)
TORCH_GRAPHS = Profile(
    "torch", TORCH, ("f32", "f32", "f32", "bf16", "f16", "i32", "i64", "f8E4M3FN"), nodes=(2, 9)
)
# Caches that are shifted, and whatever else is written where something is read.
UPDATES = Profile(
    "linalg",
    (*ELEMENTWISE, *(3 * (update_from_own_slice, insert_slice, extract_slice, matmul))),
    ("f32", "f32", "bf16", "i32", "i8"),
    nodes=(2, 7),
)
PROFILES = {
    "mixed": MIXED,
    "loops": LOOPS,
    "products": PRODUCTS,
    "panels": PANELS,
    "torch": TORCH_GRAPHS,
    "updates": UPDATES,
}


def graphs(profile: str, seeds: range) -> list[Graph]:
    """Those of the seeds that grow into anything."""
    found: list[Graph] = []
    for seed in seeds:
        try:
            found.append(Writer(f"f{seed}", seed, PROFILES[profile]).graph())
        except Unfit:
            continue
    return found
