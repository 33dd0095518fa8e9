"""What a pass is: a frozen dataclass whose fields are its options."""

from __future__ import annotations

import dataclasses
import types
import typing
from dataclasses import MISSING, dataclass
from typing import Any, ClassVar, Self, get_args, get_origin

from ..dialects import ir
from .pipeline_text import Options, format_options


@dataclass(frozen=True)
class Pass:
    """A rewrite of a whole module.

    Contract: the module is valid before and after; ``run`` may raise
    HeadraceError, in which case the pipeline throws its working copy away and
    the caller's module is as it was. Same input, same output.

    A subclass sets ``name`` (kebab-case, the file name in snake_case), writes
    a docstring whose first line is the summary, and declares its options as
    fields: bool, int, float, str, a Literal of strings, any of these or None,
    or a tuple of str.
    ``dataclasses.field(metadata={"help": ...})`` documents one.
    """

    name: ClassVar[str] = ""

    def run(self, module: ir.Operation) -> None:
        raise NotImplementedError

    def __str__(self) -> str:
        """As in a pipeline's text."""
        return self.name + format_options(self.options())

    @classmethod
    def summary(cls) -> str:
        return (cls.__doc__ or "").strip().split("\n")[0]

    @classmethod
    def describe_options(cls) -> list[PassOption]:
        """What there is to set, in declaration order."""
        hints = typing.get_type_hints(cls)
        return [
            PassOption(
                _option_name(field),
                _type_text(hints[field.name]),
                None if _default(field) is MISSING else format_value(_default(field)),
                field.metadata.get("help", ""),
            )
            for field in dataclasses.fields(cls)
        ]

    @classmethod
    def from_options(cls, options: Options) -> Self:
        """The pass with options as written in a pipeline.

        Raises HeadraceError for an unknown option or a value of another type.
        """
        fields = {_option_name(f): f for f in dataclasses.fields(cls)}
        hints = typing.get_type_hints(cls)
        values: dict[str, Any] = {}
        for key, text in options.items():
            if key not in fields:
                known = ", ".join(fields) or "none"
                raise ir.HeadraceError(f"pass '{cls.name}' has no option '{key}'; it has: {known}")
            name = fields[key].name
            try:
                values[name] = _parse_value(hints[name], text)
            except ValueError as error:
                raise ir.HeadraceError(
                    f"option '{key}' of pass '{cls.name}': {error}, got '{text}'"
                ) from None
        for key, field in fields.items():
            if key not in options and _default(field) is MISSING:
                raise ir.HeadraceError(f"pass '{cls.name}' needs option '{key}'")
        return cls(**values)

    def options(self) -> Options:
        """The options that differ from their defaults, as text."""
        return {
            _option_name(field): format_value(value)
            for field in dataclasses.fields(self)
            if (value := getattr(self, field.name)) != _default(field)
        }


@dataclass(frozen=True)
class PassOption:
    """An option of a pass, for help texts; ``default`` None: must be given."""

    name: str
    type: str
    default: str | None
    help: str


def _option_name(field: dataclasses.Field[Any]) -> str:
    return field.name.replace("_", "-")


def _default(field: dataclasses.Field[Any]) -> object:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return field.default


def format_value(value: object) -> str:
    """An option value as text that ``from_options`` reads back."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "none"
    if isinstance(value, tuple):
        parts = [str(v) for v in typing.cast(tuple[object, ...], value)]
        if any(set(part) & set(",{}") or not part or part != part.strip() for part in parts):
            raise ir.HeadraceError(f"a list option cannot hold such a part: {parts}")
        return ",".join(parts)
    return str(value)


def _type_text(hint: Any) -> str:
    if get_origin(hint) is typing.Literal:
        return "|".join(get_args(hint))
    if get_origin(hint) is tuple:
        return "list"
    if inner := optional_type(hint):
        return f"{_type_text(inner)}|none"
    return str(hint.__name__)


def optional_type(hint: Any) -> Any:
    """``X`` of a field of type ``X | None``; None for other types."""
    if get_origin(hint) not in (types.UnionType, typing.Union):
        return None
    return next(a for a in get_args(hint) if a is not type(None))


def _parse_value(hint: Any, text: str) -> object:
    if inner := optional_type(hint):
        return None if text == "none" else _parse_value(inner, text)
    if get_origin(hint) is typing.Literal:
        if text not in get_args(hint):
            raise ValueError(f"expected one of {', '.join(get_args(hint))}")
        return text
    if get_origin(hint) is tuple:
        if text.startswith("{") and text.endswith("}"):  # as in MLIR: {a,b}
            text = text[1:-1]
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if hint is bool:
        if text not in ("true", "false", "1", "0"):
            raise ValueError("expected true or false")
        return text in ("true", "1")
    if hint in (int, float):
        try:
            return hint(text)
        except ValueError:
            kind = "an integer" if hint is int else "a number"
            raise ValueError(f"expected {kind}") from None
    return text
