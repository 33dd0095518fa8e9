"""Output files: written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from ..dialects import ir


def check_writable(path: str | Path) -> None:
    """Raises HeadraceError, before any work is done, if ``path`` cannot be written."""
    target = Path(path)
    folder = target.parent
    try:
        if target.is_dir():
            raise ir.HeadraceError(f"cannot write '{path}': Is a directory")
        if not folder.is_dir():
            raise ir.HeadraceError(f"cannot write '{path}': no folder '{folder}'")
        if not os.access(target if target.exists() else folder, os.W_OK):
            raise ir.HeadraceError(f"cannot write '{path}': Permission denied")
    except OSError as error:  # a name too long
        raise ir.HeadraceError(f"cannot write '{path}': {error.strerror}") from None


def write_file(path: str | Path, data: bytes, *, make_folder: bool = False) -> None:
    """Writes a file in one step; HeadraceError if it cannot be written."""
    target = Path(path)
    try:
        if make_folder:
            target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() and not target.is_file():  # a device or pipe
            target.write_bytes(data)
            return
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            umask = os.umask(0)
            os.umask(umask)
            mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~umask
            os.chmod(temporary, mode)
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise ir.HeadraceError(f"cannot write '{path}': {error.strerror}") from None
