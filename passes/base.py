"""What a pass is: a frozen dataclass whose fields are its options."""

from __future__ import annotations

import dataclasses
import typing
from dataclasses import dataclass
from typing import Any, ClassVar, Self, get_args, get_origin

from ..dialects.mlir import HeadraceError, Operation
from .pipeline_text import Options


@dataclass(frozen=True)
class Pass:
    """A rewrite of a whole module.

    Contract: the module is valid before and after; ``run`` may raise
    HeadraceError, in which case the pipeline throws its working copy away and
    the caller's module is as it was. Same input, same output.

    A subclass sets ``name`` (kebab-case, the file name in snake_case), writes
    a docstring whose first line is the summary, and declares its options as
    fields: bool, int, float, str, a Literal of strings, or a tuple of str.
    ``dataclasses.field(metadata={"help": ...})`` documents one.
    """

    name: ClassVar[str] = ""

    def run(self, module: Operation) -> None:
        raise NotImplementedError

    @classmethod
    def summary(cls) -> str:
        return (cls.__doc__ or "").strip().split("\n")[0]

    @classmethod
    def from_options(cls, options: Options) -> Self:
        """The pass with options as written in a pipeline.

        Raises HeadraceError for an unknown option or a value of another type.
        """
        fields = {f.name.replace("_", "-"): f for f in dataclasses.fields(cls)}
        hints = typing.get_type_hints(cls)
        values: dict[str, Any] = {}
        for key, text in options.items():
            if key not in fields:
                known = ", ".join(sorted(fields)) or "none"
                raise HeadraceError(f"pass '{cls.name}' has no option '{key}'; it has: {known}")
            name = fields[key].name
            try:
                values[name] = _parse_value(hints[name], text)
            except ValueError as error:
                raise HeadraceError(
                    f"option '{key}' of pass '{cls.name}': {error}, got '{text}'"
                ) from None
        try:
            return cls(**values)
        except TypeError:
            missing = [
                key
                for key, f in fields.items()
                if f.default is dataclasses.MISSING
                and f.default_factory is dataclasses.MISSING
                and key not in options
            ]
            raise HeadraceError(f"pass '{cls.name}' needs option '{missing[0]}'") from None

    def options(self) -> Options:
        """The options that differ from their defaults, as text."""
        found: Options = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value != field.default:
                found[field.name.replace("_", "-")] = format_value(value)
        return found


def format_value(value: object) -> str:
    """An option value as text that ``from_options`` reads back."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(str(v) for v in typing.cast(tuple[object, ...], value))
    return str(value)


def _parse_value(hint: Any, text: str) -> object:
    if get_origin(hint) is typing.Literal:
        if text not in get_args(hint):
            raise ValueError(f"expected one of {', '.join(get_args(hint))}")
        return text
    if get_origin(hint) is tuple:
        return tuple(part for part in text.split(",") if part)
    if hint is bool:
        if text not in ("", "true", "false", "1", "0"):
            raise ValueError("expected true or false")
        return text in ("", "true", "1")
    if hint in (int, float):
        try:
            return hint(text)
        except ValueError:
            kind = "an integer" if hint is int else "a number"
            raise ValueError(f"expected {kind}") from None
    return text
