"""Builds the package: compiles the protos into one descriptor file inside it.

Generates no code. The package loads the descriptors into its own pool, so it conflicts neither with a module `amem` nor
with the process's default pool of protobuf.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
DESCRIPTORS = "amem.v1.binpb"


def protos() -> Path:
    """The folder of the protos: beside this file in a source distribution, else in the repository."""
    for folder in (HERE / "proto", HERE.parent.parent / "proto" / "proto"):
        if (folder / "amem" / "v1").is_dir():
            return folder
    raise SystemExit("amemd: the protos are missing; build from the repository or from a source distribution")


def compile_protos(out: Path) -> None:
    folder = protos()
    files = sorted(str(path) for path in (folder / "amem" / "v1").glob("*.proto"))
    out.parent.mkdir(parents=True, exist_ok=True)
    protoc = [
        sys.executable,
        "-m",
        "grpc_tools.protoc",
        f"-I{folder}",
        "--include_imports",
        f"--descriptor_set_out={out}",
    ]
    if subprocess.run([*protoc, *files]).returncode != 0:
        raise SystemExit("amemd: protoc failed; the build needs grpcio-tools")


class BuildWithDescriptors(build_py):
    def run(self) -> None:
        super().run()
        place = HERE / "src" / "amemd" if self.editable_mode else Path(self.build_lib) / "amemd"
        compile_protos(place / DESCRIPTORS)


class SdistWithProtos(sdist):
    def make_release_tree(self, base_dir: str, files: "list[str]") -> None:
        super().make_release_tree(base_dir, files)
        shutil.copytree(protos() / "amem", Path(base_dir) / "proto" / "amem", dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWithDescriptors, "sdist": SdistWithProtos})
