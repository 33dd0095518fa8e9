"""Keeps what is at the root but no part of the package out of the wheel.

The root is the package, so setuptools takes every module here for its own.
"""

from __future__ import annotations

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildPackage(build_py):
    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        found = super().find_package_modules(package, package_dir)
        return [module for module in found if module[1] not in ("lit.cfg", "setup")]


setup(cmdclass={"build_py": BuildPackage})
