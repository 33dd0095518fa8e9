"""How a run of a tool ended, and what of that is a fault."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .cases import Case

# What the tools report as an error: a crash of MLIR's reader or of a native pass.
NATIVE_CRASH = "native crash"


@dataclass(frozen=True)
class Verdict:
    """How a run ended. ``fault`` is empty where all is as it must be."""

    fault: str
    code: int
    message: str

    def reason(self) -> str:
        """The message without names, numbers and types: what is counted."""
        line = self.message.splitlines()[0] if self.message else ""
        line = re.sub(r"^\S*:\d+:\d+: |^\S*input\S*: ", "", line)
        line = re.sub(r"'[^']*'|\"[^\"]*\"", "'_'", line)
        line = re.sub(r"(tensor|vector|memref|complex|dense|array|!\w[\w.]*)<.*>", r"\1<_>", line)
        return re.sub(r"-?\d+(\.\d+)?(e[+-]\d+)?", "N", line)[:150]


_ERROR = re.compile(r"(?:^|: )error: ?(.*)")
_SAID = re.compile(r"(?:.*: )?(?:error|warning|remark|note): ")


def judge(code: int, printed: str, *, written: bool) -> Verdict:
    lines = printed.splitlines()
    errors = [line for line in lines if _ERROR.search(line)]
    message = errors[0] if errors else ""
    fault = ""
    if "Traceback (most recent" in printed:
        fault = "traceback"
    elif code not in (0, 1):
        fault = f"exit code {code}"
    elif re.search(r" raised \w+ \(|internal error: ", printed):
        fault = "internal exception"
    elif code == 0 and errors:
        fault = "an error, but exit code 0"
    elif code == 0 and not written:
        fault = "no output"
    elif code == 1 and not errors:
        fault = "no error line"
    elif code == 1 and len(errors) > 1:
        fault = "several errors"
    elif code == 1 and written:
        fault = "an error, but an output"
    elif errors and not clear(message):
        fault = "unclear error"
    return Verdict(fault, code, "\n".join(lines) if fault else message)


def clear(line: str) -> bool:
    """Whether an error says what is wrong, in words that are not Python's."""
    found = _ERROR.search(line)
    text = found[1].strip() if found else ""
    return len(text) > 8 and not re.search(
        r"Failure while executing pass|<class '|object at 0x|\bNoneType\b|std::|"
        r"invalid vector subscript|list index",
        text,
    )


@dataclass(frozen=True)
class Finding:
    """A case that ended as none may."""

    case: Case
    verdict: Verdict

    def signature(self) -> str:
        """What two findings of one fault have in common."""
        text = self.verdict.message
        raised = re.search(r"pass '\S+' raised .*", text) or re.search(r"internal error.*", text)
        line = raised[0] if raised else self.verdict.reason()
        line = re.sub(r"'[^']*'(?! raised)|\d{3,}|%\w+|<.*>", "_", line)
        if self.verdict.code < 0:
            line = text
        return f"{self.verdict.fault}: {line[:160]}"
