"""Make the reference report under reports/reference, the README's plots and the gallery of the docs.

    python tools/reference_report.py

Takes some minutes. What is written depends on the machine in its speed figures only.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

KEPT = ("report.html", "report.md", "measurements.parquet")
PLOTS = ("compression", "fairness")
SIZES = ("vocab_size",)
GALLERY = (
    *("compression", "fairness", "tokens_per_line", "compression_by_language", "speed"),
    *("token_length", "text_length", "zipf", "differences"),
)
ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "reports" / "reference"
PICTURES = ROOT / "docs" / "gallery"


def main() -> int:
    """Run, plot, and keep what is meant to be read."""
    command = [str(Path(sys.executable).with_name("tokbench"))]
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "reference"
        done = subprocess.run([*command, "run", "-o", str(run)], check=False)
        if done.returncode not in (0, 1) or not (run / "report.html").is_file():
            return done.returncode or 1
        for kind in ("svg", "png"):
            subprocess.run([*command, "plot", str(run), *GALLERY, "--format", kind], check=True)
        REFERENCE.mkdir(parents=True, exist_ok=True)
        for name in KEPT:
            shutil.copyfile(run / name, REFERENCE / name)
        for name in PLOTS:
            for kind in ("svg", "png"):
                shutil.copyfile(run / "plots" / f"{name}.{kind}", REFERENCE / f"{name}.{kind}")
        PICTURES.mkdir(parents=True, exist_ok=True)
        for name in GALLERY:
            shutil.copyfile(run / "plots" / f"{name}.png", PICTURES / f"{name}.png")
        return sizes(command, Path(folder) / "sizes")


def sizes(command: list[str], run: Path) -> int:
    """The gallery's curve over vocabulary sizes, which the bundled suite has none of."""
    done = subprocess.run([*command, "run", "vocab-size-sweep", "-o", str(run), "--no-report"], check=False)
    if done.returncode not in (0, 1):
        return done.returncode
    for name in SIZES:
        subprocess.run([*command, "plot", str(run), name, "--format", "png"], check=True)
        shutil.copyfile(run / "plots" / f"{name}.png", PICTURES / f"{name}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
