"""Compares what two checkouts hand over to IREE, byte for byte.

    python .ci/compare_checkouts.py BEFORE AFTER [--quick] [--show=NAME]

Every program below AFTER's tests/models and tests/cases is compiled by both checkouts with
``emit="mlir"``: for each target in both collective forms, and for some targets in both pipeline
orders and with the encodings of values with several users fused. Every piece of every lit test
goes through the default pipeline of a CPU and of a GPU. Errors are outcomes like modules, so are
remarks. Exit code 1 if anything differs.

Both checkouts run in the environment that runs this script, each in processes of its own.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypedDict

FORMS = ("devices", "channel")
# Those whose pipelines differ most in what they decide.
FEW_TARGETS = ("cpu", "gfx942", "gfx950", "sm_89")


class Job(TypedDict):
    name: str
    source: str
    options: dict[str, object]


class Outcome(TypedDict):
    name: str
    module: str
    remarks: str


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--quick", action="store_true", help="few targets, no lit tests")
    parser.add_argument("--only", default="", help="only programs whose name has this in it")
    parser.add_argument("--show", default="", help="print the difference of what has this name")
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work is not None:
        work(arguments.work)
        return
    with tempfile.TemporaryDirectory() as scratch:
        jobs = [
            job
            for job in find_jobs(arguments.after.resolve(), arguments.quick, Path(scratch))
            if arguments.only in job["name"]
        ]
        folders = [arguments.before.resolve(), arguments.after.resolve()]
        with ThreadPoolExecutor(len(folders)) as pool:
            before, after = pool.map(lambda folder: run(folder, jobs), folders)
    sys.exit(compare(before, after, arguments.show))


def find_jobs(root: Path, quick: bool, scratch: Path) -> Iterator[Job]:
    for path in sorted([*root.glob("tests/models/**/*.mlir"), *root.glob("tests/cases/**/*.mlir")]):
        name = str(path.relative_to(root))
        for target in FEW_TARGETS if quick else target_names():
            for form in FORMS:
                options: dict[str, object] = {"target": target, "collectives": form}
                yield Job(name=f"{name} {target} {form}", source=str(path), options=options)
                if target not in FEW_TARGETS:
                    continue
                for change in (
                    {"pipeline_order": "before-matmul"},
                    {"experimental_multi_use_encoding_fusion": True},
                ):
                    words = " ".join(map(str, next(iter(change.items()))))
                    yield Job(
                        name=f"{name} {target} {form} {words}",
                        source=str(path),
                        options=options | change,
                    )
    if quick:
        return
    for path in sorted(root.glob("tests/passes/**/*.mlir")):
        for number, piece in enumerate(path.read_text().split("// -----")):
            file = scratch / f"{path.stem}-{number}.mlir"
            file.write_text(piece)
            for target in ("cpu", "gfx950"):
                name = f"{path.relative_to(root)}:{number} {target}"
                yield Job(name=name, source=str(file), options={"target": target})


def target_names() -> tuple[str, ...]:
    from headrace.passes.targets.lookup import target_names

    return target_names()


def run(checkout: Path, jobs: list[Job]) -> dict[str, Outcome]:
    """The outcomes by name; what kills the process is an outcome, too."""
    found: dict[str, Outcome] = {}
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "headrace").symlink_to(checkout)
        environment = {**os.environ, "PYTHONPATH": scratch}
        while len(found) < len(jobs):
            rest = [job for job in jobs if job["name"] not in found]
            file = Path(scratch) / "jobs.json"
            file.write_text(json.dumps(rest))
            worker = subprocess.Popen(
                (sys.executable, __file__, ".", ".", f"--work={file}"),
                stdout=subprocess.PIPE,
                text=True,
                env=environment,
            )
            assert worker.stdout is not None
            for line in worker.stdout:
                outcome: Outcome = json.loads(line)
                found[outcome["name"]] = outcome
            if worker.wait():
                name = next(job["name"] for job in jobs if job["name"] not in found)
                found[name] = Outcome(name=name, module="the process died", remarks="")
    return found


def work(file: Path) -> None:
    import headrace

    jobs: list[Job] = json.loads(file.read_text())
    for job in jobs:
        remarks = ""
        try:
            result = headrace.compile(job["source"], emit="mlir", **job["options"])
            text = result.data().decode()
            remarks = "\n".join(map(str, result.remarks))
        except headrace.HeadraceError as error:
            text = f"error: {error}"
        outcome = Outcome(name=job["name"], module=text, remarks=remarks)
        print(json.dumps(outcome), flush=True)


def compare(before: dict[str, Outcome], after: dict[str, Outcome], show: str) -> int:
    modules = differing(before, after, "module")
    remarks = differing(before, after, "remarks")
    errors = sum(outcome["module"].startswith("error:") for outcome in after.values())
    digest = hashlib.sha256("".join(after[name]["module"] for name in sorted(after)).encode())
    print(
        f"{len(after)} compilations ({errors} end in an error): {len(modules)} modules or errors "
        f"differ, {len(remarks)} lists of remarks differ; sha256 {digest.hexdigest()[:16]}"
    )
    for name in modules:
        print(f"  module: {name}")
    for name in remarks:
        print(f"  remarks: {name}")
    if show:
        for outcome in (name for name in (*modules, *remarks) if show in name):
            sys.stdout.writelines(difference(before[outcome], after[outcome]))
    return 1 if modules or remarks else 0


def differing(before: dict[str, Outcome], after: dict[str, Outcome], key: str) -> list[str]:
    return [name for name in before if before[name].get(key) != after[name].get(key)]


def difference(before: Outcome, after: Outcome) -> Iterator[str]:
    for old, new in ((before["module"], after["module"]), (before["remarks"], after["remarks"])):
        lines = (old.splitlines(), new.splitlines())
        for line in difflib.unified_diff(*lines, before["name"], "after", n=1, lineterm=""):
            yield line + "\n"


if __name__ == "__main__":
    main()
