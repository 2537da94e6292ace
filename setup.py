"""The packages, which pyproject.toml cannot say: every one of tritonaudit, and `rules/` as tritonaudit.rules."""

from setuptools import find_packages, setup

setup(
    packages=[
        *find_packages(include=["tritonaudit", "tritonaudit.*"]),
        *(f"tritonaudit.{package}" for package in find_packages(include=["rules", "rules.*"])),
    ],
    package_dir={"tritonaudit": "tritonaudit", "tritonaudit.rules": "rules"},
)
