"""Write Single, Maybe and Completable from Flowable's families and a table, so that no operator is written five times.

    python -m tools.generate_one_item            write the files
    python -m tools.generate_one_item --check    fail where a file is not what the families and the table say

``tools/one_item`` is the table of the operators that a type has. Their signatures, bodies and the fields of their docstrings
are those of the methods in ``packages/rx-ops/src/rx_ops/_faces`` under the type's names, but for what the table says
otherwise. A field that speaks of several items, of streams or of demand does not fit: it stops the tool, with the
place, until ``WORDS`` or the table have other words for it.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tools.generate_observable import FACES, ROOT, GenerateError, is_overload, names_in, ruff
from tools.one_item.rows import FIELDS, Row
from tools.one_item.table import ROWS

COMMAND: Final = "python -m tools.generate_one_item"
#: What makes a pipeline of another type, in place of what makes one of the same.
INTO: Final = {
    "self._calling(": "self._calling_into(_results.{}, ",
    "self._then(": "self._into(_results.{}, ",
    "self._coordinate(": "self._coordinate_into(_results.{}, ",
    "self._from(": "_results.{}._from(",
}
#: What is said of demand, by the type of the result, which cannot be asked.
DEMAND: Final = {
    "Single": "none; the item comes as soon as it is there.",
    "Maybe": "none; the item comes as soon as it is there.",
    "Completable": "none; there are no items.",
    "Observable": "none; everything is taken as it comes.",
}
#: Words of the families' fields, in this order.
WORDS: Final = (
    (r"\bthe one that requests\b", "the one that subscribes"),
    (r"\bitems go on without a queue\b", "the item goes on without a queue"),
    (r"\bend(s?) the stream\b", r"end\1 it"),
    (r"; what ran on the one that subscribes runs on the one that subscribes", ""),
)
#: Words about a type without an item, after these.
WITHOUT_ITEM: Final = ((r"coordinating; the item goes on without a queue\.", "coordinating."),)
#: What says that a field is about something else.
UNWANTED: Final = (
    r"(?<!two )\bitems\b|(?<!handler's )\bstreams?\b|\brequest|\bFlowable|[Pp]ublisher|[Ss]ubscriber"
    r"|``prefetch``|\binner\b|\bouter\b"
)


@dataclass(frozen=True)
class Kind:
    """One of the types that are made."""

    letter: str
    name: str
    says: str
    base: str
    plugged: str
    wraps: str
    generic: bool = True

    @property
    def module(self) -> str:
        return f"_generated_{self.name.lower()}"

    def named(self, text: str) -> str:
        """A signature or a body of the table or a family under the names of this type."""
        text = text.replace("{Type}", self.name).replace("{name}", self.name.lower())
        text = re.sub(r"\bBase\b", self.base, re.sub(r"\bType\b", self.name, text))
        if not self.generic:
            text = re.sub(rf"\b({self.name}|{self.base})\[[^\[\]]*\]", r"\1", text)
            text = text.replace(f"(self: {self.base}", "(self")
        return text


KINDS: Final = (
    Kind("S", "Single", "Exactly one item, or an error.", "SingleBase", "SinglePlugged", "ToSingle(observer, self)"),
    Kind("M", "Maybe", "One item or none, or an error.", "MaybeBase", "MaybePlugged", "ToMaybe(observer)"),
    Kind(
        "C",
        "Completable",
        "No item, only the end.",
        "CompletableBase",
        "CompletablePlugged",
        "ToCompletable(observer)",
        generic=False,
    ),
)


@dataclass
class Method:
    """A method of Flowable, as its family writes it."""

    place: str
    signatures: list[str] = field(default_factory=list)
    body: str = ""
    fields: dict[str, str] = field(default_factory=dict)


@dataclass
class Families:
    """All methods of Flowable by name, and where the names that they use come from."""

    methods: dict[str, Method] = field(default_factory=dict)
    homes: dict[str, str] = field(default_factory=dict)
    typing_only: set[str] = field(default_factory=set)
    variables: dict[str, str] = field(default_factory=dict)

    def read(self, path: Path) -> None:
        source = path.read_text(encoding="utf-8")
        lines = source.splitlines()
        for node in ast.parse(source).body:
            match node:
                case ast.ImportFrom():
                    self._imported(node)
                case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                    for statement in node.body:
                        if isinstance(statement, ast.ImportFrom):
                            self.typing_only |= self._imported(statement) - self.homes.keys()
                            self._imported(statement)
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id="TypeVar"))):
                    self.variables.setdefault(name, ast.unparse(node))
                case ast.ClassDef(name=name) if name.startswith("Flowable"):
                    for method in node.body:
                        if isinstance(method, ast.FunctionDef):
                            self._method(path, lines, method)
                case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.Assign(targets=[ast.Name(id=name)]):
                    self.homes.setdefault(name, f"rx_ops._faces.{path.stem}")
                case _:
                    pass

    def _imported(self, node: ast.ImportFrom) -> set[str]:
        for alias in node.names:
            self.homes.setdefault(alias.name, node.module or "")
        return {alias.name for alias in node.names}

    def _method(self, path: Path, lines: list[str], node: ast.FunctionDef) -> None:
        method = self.methods.setdefault(node.name, Method(f"{FACES / path.name}:{node.lineno}"))
        method.signatures.append(f"({ast.unparse(node.args)}) -> {_returned(node)}")
        if not is_overload(node):
            method.body = textwrap.dedent("\n".join(lines[node.body[0].end_lineno or 0 : node.end_lineno])).strip("\n")
            method.fields = fields_of(ast.get_docstring(node) or "")


def _returned(node: ast.FunctionDef) -> str:
    return re.sub(r"\bFlowable\b", "Type", ast.unparse(node.returns)) if node.returns is not None else "None"


def fields_of(doc: str) -> dict[str, str]:
    """The fields of a docstring by their names in small letters, each in one line."""
    parts = re.split(rf"\b({'|'.join(each.capitalize() for each in FIELDS)}):\s+", doc)
    return {name.lower(): " ".join(text.split()) for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def families(root: Path) -> Families:
    """What Flowable's families and the module of the three types say."""
    found = Families()
    for path in sorted((root / FACES).glob("_*.py")):
        if not path.stem.startswith(("__", "_generated", "_observable", "_results")):
            found.read(path)
    return found


def generate(kind: Kind, found: Families) -> str:
    """The text of the file of one type, before it is formatted."""
    methods = "\n\n".join(textwrap.indent(text, "    ") for made in ROWS[kind.letter] for text in method(kind, made, found))
    observer = f"{kind.name}Observer" + ("[T_co]" if kind.generic else "")
    of = "[T_co]" if kind.generic else ""
    any_of = f"{kind.name}[Any]" if kind.generic else kind.name
    body = f'''class {kind.name}(OneItem[{"T_co" if kind.generic else "Any"}], {kind.plugged}{of}):
    """{kind.says}"""

    __slots__ = ()

    if TYPE_CHECKING:
        # The same methods, with the type in their types.
        def _then(self, stage: StageFunction, *args: Any) -> {any_of}: ...

        def _calling(self, stage: StageFunction, function: Callable[..., Any]) -> {any_of}: ...

        def _coordinate(self, function: Callable[..., Any], *args: Any, **options: Any) -> {any_of}: ...

        @classmethod
        def _from(cls, head: Head) -> {any_of}: ...

        @classmethod
        def _known(cls, name: str, items: Iterable[Any], feed: Feed = Feed.CLEAN) -> {any_of}: ...

    def subscribe_actual(self, observer: {observer}, /) -> None:
        self._subscribe_items({kind.wraps})

    @classmethod
    def _begun_wrongly(cls, *given: object) -> TypeError:
        return begun_wrongly(cls, "{kind.name}", given, "{BEGINS[kind.name]}")

{methods}
'''
    named = names_in(body)
    variables = "\n".join(text for name, text in found.variables.items() if name in named)
    return (
        f'"""{kind.name} and its operators, made of Flowable\'s.\n\n'
        f"Do not edit: change the families, or ``tools/one_item``. Generated by `{COMMAND}`.\n"
        f'"""\n\nfrom __future__ import annotations\n\n{imports(kind, found, body)}\n\n{variables}\n\n\n{body}'
    )


#: What a type is begun with where no item is told.
BEGINS: Final = {"Single": "just(item)", "Maybe": "empty()", "Completable": "complete()"}

#: What every file uses, and what the table does.
ALSO: Final = {
    "begun_wrongly": "rx_ops._faces._core",
    "StageFunction": "rx_fusion._stage",
    "ToCompletable": "rx_fusion",
    "ToMaybe": "rx_fusion",
    "ToSingle": "rx_fusion",
    "Head": "rx_fusion",
    **{f"{name}{end}": "rx_core" for name in ("Single", "Maybe", "Completable") for end in ("Base", "Observer")},
    **dict.fromkeys(("Disposable", "ObservableSource"), "rx_core"),
    **dict.fromkeys(("TYPE_CHECKING", "Any", "TypeVar", "cast", "overload"), "typing"),
    **dict.fromkeys(("Callable", "Iterable"), "collections.abc"),
    **dict.fromkeys(("Flowable", "Observable", "Single", "Maybe", "Completable"), "rx_ops._faces._results"),
}

#: What nothing is needed of at run time; concurrent.futures brings logging with it.
FOR_ANNOTATIONS: Final = ("concurrent.futures", "logging", "rx_fusion._stage", "rx_ops._faces._results")


def imports(kind: Kind, found: Families, code: str) -> str:
    """The imports that ``code`` needs. What is in no annotation at run time is imported for type checkers only."""
    homes = {**found.homes, **ALSO}
    used = names_in(code) & homes.keys() - {kind.name} | {"TypeVar"}
    typing = {name for name in used if homes[name] in FOR_ANNOTATIONS}
    later = "\n".join(f"    {line}" for line in _import_lines(typing, homes))
    return "\n".join([*_import_lines(used - typing, homes), "if TYPE_CHECKING:", later])


def _import_lines(names: Iterable[str], homes: dict[str, str]) -> Iterator[str]:
    for home in sorted({homes[name] for name in names}):
        yield f"from {home} import {', '.join(sorted(name for name in names if homes[name] == home))}"


def method(kind: Kind, made: Row, found: Families) -> Iterator[str]:
    """One operator: its overloads, and the method with its docstring."""
    family = found.methods.get(made.family)
    if made.family and family is None:
        raise GenerateError(f"{kind.name}.{made.name}: Flowable has no {made.family}()")
    signatures = [kind.named(each) for each in made.signatures or (family_signatures(made, family) if family else ())]
    if not signatures:
        raise GenerateError(f"{kind.name}.{made.name}: neither a family nor the table has a signature")
    is_class = signatures[-1].startswith("(cls")
    decorators = "@classmethod\n" if is_class else ""
    for each in signatures[:-1]:
        yield f"@overload\n{decorators}def {made.name}{each}: ..."
    body = made.body or (into(made, family.body) if family else "")
    body = kind.named(body)
    if not kind.generic:
        body = re.sub(r"  # type: ignore\[[\w,-]+\]  # self names the base", "", body)
    doc = document(kind, made, family, _head(signatures[-1].rpartition("-> ")[2], made, kind))
    yield f"{decorators}def {made.name}{signatures[-1]}:\n{textwrap.indent(doc, '    ')}\n{textwrap.indent(body, '    ')}"


def _head(returned: str, made: Row, kind: Kind) -> str:
    """The type of the result, without its items."""
    return returned.partition("[")[0] if returned != "Any" else made.result.partition("[")[0] or kind.name


def family_signatures(made: Row, family: Method) -> Iterator[str]:
    for each in family.signatures:
        parameters, _, returned = each.rpartition(" -> ")
        if "prefetch" in parameters:
            raise GenerateError(
                f"{family.place}: {made.name} has a parameter about demand, so the table has to say its signature"
            )
        parameters = re.sub(r"\bFlowableBase\b", "Base", parameters)
        parameters = re.sub(r"\bPublisher\[(?!object)", "Base[", parameters)
        yield f"{parameters} -> {made.result or returned}"


def into(made: Row, body: str) -> str:
    """The family's body, which makes something of another type where the table says so."""
    other = made.result.partition("[")[0]
    if other:
        for same, changed in INTO.items():
            body = body.replace(same, changed.format(other))
    return body


def document(kind: Kind, made: Row, family: Method | None, result: str) -> str:
    says = [textwrap.fill(kind.named(each), 116) for each in made.says.split("\n\n")]
    lines = [textwrap.fill(f"{name.capitalize() + ':':<9}{text}", 118, subsequent_indent=" " * 9) for name, text in all_fields(
        kind, made, family, result
    )]  # fmt: skip
    return '"""' + "\n\n".join([*says, f"::  {made.marble}", "\n".join(lines)]) + '\n"""'


def all_fields(kind: Kind, made: Row, family: Method | None, result: str) -> Iterator[tuple[str, str]]:
    for name in FIELDS:
        said = made.fields.get(name)
        if said is None and name == "demand":
            said = DEMAND.get(result)
            if said is None:
                raise GenerateError(f"{kind.name}.{made.name} returns {result}: the table has to say what becomes of demand")
        if said is None:
            if family is None or name not in family.fields:
                raise GenerateError(f"{kind.name}.{made.name}: neither a family nor the table says {name}")
            said = fitting(kind, made, family, name)
        yield name, said


def fitting(kind: Kind, made: Row, family: Method, name: str) -> str:
    """A field of the family in words for at most one item."""
    text = family.fields[name]
    for pattern, replacement in (*WORDS, *(WITHOUT_ITEM if not kind.generic else ())):
        text = re.sub(pattern, replacement, text)
    found = re.search(UNWANTED if kind.generic else rf"{UNWANTED}|\bitem\b", text) if name != "source" else None
    if found is not None:
        raise GenerateError(
            f"{family.place}: {name} of {kind.name}.{made.name} speaks of {found[0]!r}, say it otherwise: {text!r}"
        )
    return text


def formatted(kind: Kind, code: str, root: Path) -> str:
    name = str(FACES / f"_{kind.name.lower()}.py")  # the formatter is told to leave generated files alone
    code = ruff(["check", "--quiet", "--fix-only", "--select", "I,F401", "--stdin-filename", name], code, root)
    return ruff(["format", "--stdin-filename", name], code, root)


def main(arguments: Sequence[str], root: Path = ROOT) -> int:
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    stale = []
    try:
        found = families(root)
        for kind in KINDS:
            code = formatted(kind, generate(kind, found), root)
            target = FACES / f"{kind.module}.py"
            path = root / target
            if not path.exists() or path.read_text(encoding="utf-8") != code:
                stale.append(target)
                if not arguments:
                    path.write_text(code, encoding="utf-8")
                    print(f"wrote {target}")
    except GenerateError as error:
        print(f"generate_one_item: {error}", file=sys.stderr)
        return 1
    if arguments and stale:
        print(f"{', '.join(map(str, stale))}: not what the families and the table say. Run: {COMMAND}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
