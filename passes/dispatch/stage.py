"""The passes of the dispatch stage, in order, as pipeline text."""

from __future__ import annotations

from ..targets.lookup import parse_target

# Sizes come from what ops read, not from what they make: an op may then move
# into a region and leave its sizes outside. Unit dimensions hide which ops
# are elementwise. Transposes are in one form, so that CSE sees which ops are
# equal: IREE would see it later, across a region's border, and crash on a
# region that yields a value from outside.
_BEFORE = (
    "resolve-ranked-shaped-type-result-dims",
    "func.func(iree-dispatch-creation-fold-unit-extent-dims-for-func,"
    "iree-dispatch-creation-fusion-preprocessing)",
    "canonicalize",
    "cse",
)
# Not before set-encodings: what follows one matmul would be fused with what
# follows another, and belong to neither.
_BETWEEN = (
    "func.func(iree-dispatch-creation-bubble-up-expand-shapes,"
    "iree-dispatch-creation-elementwise-op-fusion)",
    "canonicalize",
    "cse",
)


def dispatch_stage(target: str, *, multi_use: bool = False) -> tuple[str, ...]:
    """Encodings and dispatch regions, for a module of linalg ops.

    Its place is after ``lower-encodings``, where all ops are IREE's but
    collectives, and before programs are written out per device. For a target
    that tiles nothing only remarks come of it. Raises HeadraceError for an
    unknown target.
    """
    encode = f"set-encodings{{target={target}}}"
    if not parse_target(target).tiling.types:
        return (encode,)
    option = " experimental-multi-use-encoding-fusion=true" if multi_use else ""
    return (
        *_BEFORE,
        "collapse-contractions",
        f"pack-panels{{target={target}}}",
        encode,
        *_BETWEEN,
        f"form-dispatch-regions{{target={target}}}",
        f"fuse-encodings{{target={target}{option}}}",
    )
