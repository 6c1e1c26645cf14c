"""The layers of the client: pages stand on kit and api, and never import each other."""

import re
from collections import Counter
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

UI = Path(__file__).resolve().parents[2] / "web" / "ui"
SOURCE = UI / "src"

_IMPORT = re.compile(r"""(?:\bfrom|\bimport|\bimport\()\s*["'](?:worker:)?(\.[^"']*)["']""")
_FORBIDDEN = re.compile(r"\.(?:inner|outer)HTML\b|dangerouslySetInnerHTML|\beval\(|new Function\(")
_MOST_LINES, _LONGEST_LINE, _MOST_MODULES = 250, 120, 15
_CLASS = re.compile(r"\.([a-zA-Z][\w-]*)(?=[^{}]*\{)")
_KEBAB = re.compile(r"[a-z0-9.-]+(?:/[a-z0-9.-]+)*")

# A folder → the other folders that it may import. Other folders are pages.
_FOUNDATIONS = {"api": {"api"}, "kit": {"api", "kit"}}
# These put the parts together: the entry point, the table of pages, its chunks, the frame.
_WHOLE = {"main.tsx", "routes.ts", "reading.ts", "watch.ts", "administration.ts", "frame"}


def sources() -> list[Path]:
    """Returns the files that people write."""
    return sorted(
        file
        for suffix in ("ts", "tsx")
        for file in SOURCE.rglob(f"*.{suffix}")
        if file != SOURCE / "api" / "types.ts"
    )


def part_of(file: Path) -> str:
    """Returns the folder below `src`, or the file there."""
    return file.relative_to(SOURCE).parts[0]


def imported(file: Path) -> Iterator[Path]:
    """Yields what a file imports, as paths without suffixes."""
    for path in _IMPORT.findall(file.read_text()):
        yield (file.parent / path.removesuffix(".ts")).resolve()


@pytest.mark.parametrize("file", sources(), ids=lambda file: str(file.relative_to(SOURCE)))
def test_a_file_imports_only_what_is_below_it(file: Path) -> None:
    part = part_of(file)
    if part not in _WHOLE:
        allowed = _FOUNDATIONS.get(part, {"api", "kit", part})
        assert {part_of(path) for path in imported(file)} <= allowed


def test_no_file_imports_itself_through_others() -> None:
    graph = {file.with_suffix(""): [*imported(file)] for file in sources()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        names = [path.relative_to(SOURCE).as_posix() for path in error.args[1]]
        pytest.fail(" → ".join(reversed(names)))


@pytest.mark.parametrize("file", sources(), ids=lambda file: str(file.relative_to(SOURCE)))
def test_a_file_is_short_and_writes_no_html(file: Path) -> None:
    text = file.read_text()
    assert text.count("\n") <= _MOST_LINES
    assert max(map(len, text.splitlines())) <= _LONGEST_LINE
    assert not _FORBIDDEN.search(text)


def test_names_of_files_are_in_kebab_case() -> None:
    paths = [path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*")]
    assert [path for path in paths if not _KEBAB.fullmatch(path)] == []


def test_a_folder_of_the_kit_has_few_modules() -> None:
    modules = [file for file in sources() if part_of(file) == "kit" and ".test" not in file.name]
    counts = Counter(file.parent for file in modules)
    assert max(counts.values()) <= _MOST_MODULES


def test_a_class_name_belongs_to_one_page() -> None:
    shared = {name for part in ("style", "kit", "frame") for name in classes(part)}
    owner: dict[str, str] = {}
    for part in sorted({part_of(sheet) for sheet in SOURCE.rglob("*.css")}):
        for name in classes(part) - shared:
            assert owner.setdefault(name, part) == part, f".{name} of {owner[name]} and {part}"


def classes(part: str) -> set[str]:
    """Returns the class names in the style sheets of a part."""
    sheets = [file.read_text() for file in (SOURCE / part).rglob("*.css")]
    return {name for text in sheets for name in _CLASS.findall(text)}
