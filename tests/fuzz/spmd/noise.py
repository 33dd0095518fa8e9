"""How far rounding may take a program's numbers: Monte Carlo arithmetic.

After D. S. Parker (1997): a program runs again with the result of every inexact
operation moved by one unit in the last place, up or down at random; for sums and
products the operands too, since what cancels there is lost before the result.
What comes out is what rounding can do at this element of this program, with its
depth, its cancellation and its jumps (a comparison, a sort, a convert to fp8).

The operations are JAX's primitives: softmax, a gradient or a bf16 ``gelu``, whose
roundings within a fused kernel IREE drops, are disturbed inside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend import core

from .lattice import FLOATS, is_fp8

LENGTH = 8192  # how many signs there are

# Give elements of their operands, or round the same everywhere.
EXACT = frozenset(
    [
        "abs",
        "all_gather",
        "all_to_all",
        "argmax",
        "argmin",
        "bitcast_convert_type",
        "broadcast_in_dim",
        "ceil",
        "clamp",
        "concatenate",
        "convert_element_type",
        "copy",
        "copy_p",
        "cummax",
        "cummin",
        "dynamic_slice",
        "dynamic_update_slice",
        "expand_dims",
        "floor",
        "gather",
        "iota",
        "is_finite",
        "max",
        "min",
        "neg",
        "pad",
        "pmax",
        "pmin",
        "ppermute",
        "reduce_max",
        "reduce_min",
        "reduce_precision",
        "reduce_window_max",
        "rev",
        "round",
        "reshape",
        "scatter",
        "scatter_max",
        "scatter_min",
        "select_n",
        "sign",
        "slice",
        "sort",
        "split",
        "squeeze",
        "stop_gradient",
        "top_k",
        "transpose",
    ]
)
# Cancel within: a disturbance of the result alone would miss it.
SUMS = frozenset(
    [
        "add",
        "add_any",
        "conv_general_dilated",
        "cumsum",
        "dot_general",
        "psum",
        "psum_invariant",
        "reduce_scatter",
        "reduce_sum",
        "reduce_window",
        "reduce_window_sum",
        "scatter-add",
        "scatter_add",
        "sub",
    ]
)
# Approximated by polynomials, in XLA as in IREE: good to a few units, and no better than
# an operand that is off by one where their argument is reduced.
ELEMENTARY = frozenset(
    [
        *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh"),
        *("digamma", "erf", "erf_inv", "erfc", "exp", "exp2", "expm1", "lgamma", "log", "log1p"),
        *("logistic", "pow", "rsqrt", "sin", "sinh", "sqrt", "tan", "tanh"),
    ]
)
ELEMENTARY_UNITS = 4

# Primitives that call a function, and where that is.
CALLS = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "checkpoint": "jaxpr",
    "closed_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
}


class Noise:
    """Evaluates functions with every inexact primitive disturbed.

    ``signs``: float32[LENGTH] of 1 and -1, or of 0 for no disturbance.
    """

    def __init__(self, signs: jax.Array) -> None:
        self._signs = signs
        self._uses = 0

    def __call__(self, compute: Callable[[], Any]) -> Any:
        """What ``compute()`` gives, disturbed; it may read traced values from around it."""
        closed, shape = jax.make_jaxpr(compute, return_shape=True)()
        results = self._evaluate(closed.jaxpr, closed.consts, [])
        return jax.tree.unflatten(jax.tree.structure(shape), results)

    def _evaluate(self, jaxpr: Any, consts: Sequence[Any], arguments: Sequence[Any]) -> list[Any]:
        values: dict[Any, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
        values |= zip(jaxpr.invars, arguments, strict=True)

        def read(atom: Any) -> Any:
            return atom.val if isinstance(atom, core.Literal) else values[atom]

        for equation in jaxpr.eqns:
            results = self._apply(equation, [read(v) for v in equation.invars])
            values |= zip(equation.outvars, results, strict=True)
        return [read(v) for v in jaxpr.outvars]

    def _apply(self, equation: Any, operands: list[Any]) -> list[Any]:
        name, parameters = equation.primitive.name, equation.params
        if name == "scan":
            return self._scan(parameters, operands)
        if name == "while":
            return self._while(parameters, operands)
        if name == "cond":
            branches = [self._function(b) for b in parameters["branches"]]
            return list(lax.switch(operands[0], branches, *operands[1:]))
        if name in CALLS:
            return self._function(parameters[CALLS[name]])(*operands)
        if name in SUMS or name in ELEMENTARY:
            operands = [self._moved(x) for x in operands]
        found = equation.primitive.bind(*operands, **equation.primitive.get_bind_params(parameters))
        results = list(found) if equation.primitive.multiple_results else [found]
        units = 0 if name in EXACT else ELEMENTARY_UNITS if name in ELEMENTARY else 1
        if name == "convert_element_type" and _is_rounding(operands[0], results[0]):
            units = 1  # between fused ops IREE leaves it out: quirks.BF16_ROUNDINGS_DROPPED
        return [self._moved(x, units) for x in results] if units else results

    def _function(self, jaxpr: Any) -> Callable[..., list[Any]]:
        if isinstance(jaxpr, core.ClosedJaxpr):
            return lambda *operands: self._evaluate(jaxpr.jaxpr, jaxpr.consts, operands)
        return lambda *operands: self._evaluate(jaxpr, (), operands)

    def _scan(self, parameters: dict[str, Any], operands: list[Any]) -> list[Any]:
        consts, carried = parameters["num_consts"], parameters["num_carry"]
        body = self._function(parameters["jaxpr"])

        def step(carry: list[Any], xs: list[Any]) -> tuple[list[Any], list[Any]]:
            results = body(*operands[:consts], *carry, *xs)
            return results[:carried], results[carried:]

        init, xs = operands[consts : consts + carried], operands[consts + carried :]
        length, reverse = parameters["length"], parameters["reverse"]
        carry, ys = lax.scan(step, init, xs, length=length, reverse=reverse)
        return [*carry, *ys]

    def _while(self, parameters: dict[str, Any], operands: list[Any]) -> list[Any]:
        tests, bodies = parameters["cond_nconsts"], parameters["body_nconsts"]
        test, body = (self._function(parameters[f"{n}_jaxpr"]) for n in ("cond", "body"))
        first, second, init = (
            operands[:tests],
            operands[tests : tests + bodies],
            operands[tests + bodies :],
        )
        return list(
            lax.while_loop(
                lambda carry: test(*first, *carry)[0], lambda carry: body(*second, *carry), init
            )
        )

    def _moved(self, x: Any, units: int = 1) -> Any:
        """By some units in the last place, up or down; other types than floats stay."""
        dtype = jnp.asarray(x).dtype.name
        if dtype not in FLOATS or is_fp8(dtype):
            return x
        self._uses += 1
        x = jnp.asarray(x)
        start = self._uses * 977 % (LENGTH // 2)
        signs = jnp.resize(self._signs[start:], x.shape)
        unit = units * 2.0 ** (1 - FLOATS[dtype][0])
        return (x.astype(jnp.float32) * (1 + signs * unit)).astype(x.dtype)


def _is_rounding(wide: Any, narrow: Any) -> bool:
    """Of a float to one of fewer bits."""
    names = [jnp.asarray(x).dtype.name for x in (wide, narrow)]
    return all(name in FLOATS for name in names) and FLOATS[names[0]] > FLOATS[names[1]]
