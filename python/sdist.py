"""Makes the source package: python sdist.py FOLDER. Needs maturin.

maturin takes the files of the crate `pagepress` that cargo would publish, without its tests, but leaves their names in the manifest, which cargo
removes when it publishes. This removes them.
"""

import gzip
import io
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

#: A table of a test or of a benchmark, with the comment before it.
TARGET = re.compile(r"^(?:#[^\n]*\n)*\[\[(?:test|bench)\]\]\n(?:[^\[\n#][^\n]*\n)*\n?", re.MULTILINE)


def without_targets(manifest: str) -> str:
    """Returns a manifest without tests and benchmarks."""
    return TARGET.sub("", manifest)


def rewrite(source: Path, target: Path) -> None:
    """Copies an archive with the manifest of its root rewritten."""
    with tarfile.open(source) as old, open(target, "wb") as file:
        # No time in the header: equal sources give equal bytes.
        with gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as packed, tarfile.open(fileobj=packed, mode="w") as new:
            for member in old.getmembers():
                content = old.extractfile(member)
                data = content.read() if content is not None else b""
                if member.name.count("/") == 1 and member.name.endswith("/Cargo.toml"):
                    data = without_targets(data.decode()).encode()
                    member.size = len(data)
                new.addfile(member, io.BytesIO(data))


def main() -> None:
    folder = Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "maturin", "sdist", "--out", scratch]
        subprocess.run(command, cwd=Path(__file__).parent, check=True)
        (source,) = Path(scratch).glob("*.tar.gz")
        rewrite(source, folder / source.name)
        print(folder / source.name)


if __name__ == "__main__":
    main()
