"""The files that images are made of, and the hashes by which results are found again."""

import hashlib
from pathlib import Path

RECIPES = Path(__file__).parent / "recipes"
# Raised by hand when the code that follows the recipes changes what comes out.
FORMAT = 1


def recipe_hash(*recipes: str, also: object = ()) -> str:
    """A short hash over some recipe directories and whatever else decides the result."""
    digest = hashlib.sha256(repr((FORMAT, recipes, also)).encode())
    for recipe in recipes:
        directory = RECIPES / recipe
        for path in sorted(directory.rglob("*")):
            if path.is_file():
                digest.update(f"\0{path.relative_to(directory)}\0".encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
