"""Dump the public interface of each package to packages/*/api.txt, so that every change of it shows up in review.

    python tools/api.py            write the dumps
    python tools/api.py --check    fail, with a diff, where a dump is not what the sources say

Public is what ``__all__`` names in the modules that have no underscore in their path; a public module without
``__all__`` offers all it defines. The sources are only read, never imported: the dump does not depend on what is
installed, nor on the Python that runs this. Members inherited from a private class, such as the mixins behind a public
one, are listed where they surface.
"""

from __future__ import annotations

import ast
import copy
import difflib
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

ROOT = Path(__file__).resolve().parent.parent
INDENT = "    "
LONGEST_VALUE = 60
# How an object prints or is stored is not what callers program against.
SILENT = {"__repr__", "__slots__", "__str__", "__match_args__"}

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef | ast.Assign | ast.AnnAssign


class ApiError(Exception):
    """The public interface cannot be read from the sources; the message names the place."""


@dataclass(frozen=True)
class Imported:
    """A name that comes from elsewhere: ``from module import name``, or ``import module`` when name is empty."""

    module: str
    name: str


@dataclass
class Module:
    """One source file: what it binds, and what it says it offers."""

    name: str
    path: Path
    defined: dict[str, list[Definition]] = field(default_factory=dict)
    imported: dict[str, Imported] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    offers: list[ast.expr] | None = None

    @property
    def public(self) -> bool:
        return not any(part.startswith("_") for part in self.name.split("."))


def read_module(name: str, path: Path) -> Module:
    module = Module(name, path)
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in statements(ast.parse(path.read_text(encoding="utf-8"), str(path)).body):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                module.defined.setdefault(node.name, []).append(node)
            case ast.ClassDef():
                module.defined[node.name] = [node]
            case ast.ImportFrom():
                source = absolute(package, node)
                for alias in node.names:
                    if alias.name == "*":
                        module.stars.append(source)
                    else:
                        module.imported[alias.asname or alias.name] = Imported(source, alias.name)
            case ast.Import():
                for alias in node.names:
                    path_bound = alias.name if alias.asname else alias.name.partition(".")[0]
                    module.imported[alias.asname or path_bound] = Imported(path_bound, "")
            case ast.Assign(targets=[ast.Name(id="__all__")]) | ast.AnnAssign(target=ast.Name(id="__all__")):
                module.offers = [node.value] if node.value else []
            case ast.AugAssign(target=ast.Name(id="__all__")):
                module.offers = [*(module.offers or []), node.value]
            case ast.Assign():
                for target in (name for targets in node.targets for name in ast.walk(targets)):
                    if isinstance(target, ast.Name):
                        module.defined[target.id] = [node]
            case ast.AnnAssign(target=ast.Name(id=bound)):
                module.defined[bound] = [node]
            case _:
                pass
    return module


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Go through a body as a type checker does: ``if TYPE_CHECKING`` is taken, its ``else`` is not."""
    for node in body:
        if isinstance(node, ast.If):
            test = ast.unparse(node.test).removeprefix("typing.")
            if test == "TYPE_CHECKING":
                yield from statements(node.body)
            elif test in ("not TYPE_CHECKING", "not typing.TYPE_CHECKING"):
                yield from statements(node.orelse)
            else:
                yield from statements([*node.body, *node.orelse])
        elif isinstance(node, ast.Try):
            yield from statements([*node.body, *node.orelse])
        else:
            yield node


def absolute(package: str, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - node.level + 1], *([node.module] if node.module else [])])


@dataclass(frozen=True)
class Found:
    """Where a name is defined, under which name, and how."""

    module: Module
    name: str
    nodes: tuple[Definition, ...]

    @property
    def key(self) -> tuple[str, str]:
        return self.module.name, self.name


class Workspace:
    """All packages' sources, with the names resolved across them."""

    def __init__(self, root: Path) -> None:
        self.packages: dict[str, list[Module]] = {}
        self.modules: dict[str, Module] = {}
        for folder in sorted(path for path in root.glob("packages/*") if (path / "src").is_dir()):
            found = [read_module(name, path) for name, path in source_files(folder / "src")]
            self.packages[folder.name] = found
            self.modules.update((module.name, module) for module in found)
        # A definition is printed once, at the shortest public path that leads to it; elsewhere stands a reference.
        self.places: dict[tuple[str, str], str] = {}
        for package, modules in self.packages.items():
            own = package.replace("-", "_")
            for module in sorted(modules, key=lambda m: (m.name.count("."), m.name)):
                for name in self.offered(module) if module.public else ():
                    found_there = self.resolve(module, name)
                    if isinstance(found_there, Found) and found_there.module.name.split(".")[0] == own:
                        self.places.setdefault(found_there.key, f"{module.name}.{name}")

    def offered(self, module: Module) -> list[str]:
        if module.offers is None:
            return sorted(name for name in module.defined if not name.startswith("_"))
        return sorted({name for offer in module.offers for name in self.listed(module, offer)})

    def listed(self, module: Module, node: ast.expr) -> Iterator[str]:
        """Evaluate an ``__all__``: strings, other modules' ``__all__``, and sums of them."""
        match node:
            case ast.Constant(value=str(name)):
                yield name
            case ast.List(elts=items) | ast.Tuple(elts=items):
                for item in items:
                    yield from self.listed(module, item)
            case ast.Starred(value=inner):
                yield from self.listed(module, inner)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                yield from self.listed(module, left)
                yield from self.listed(module, right)
            case ast.Attribute(value=ast.Name(id=other), attr="__all__"):
                yield from self.offered(self.imported_module(module, other, node))
            case _:
                raise ApiError(f"{module.path}:{node.lineno}: __all__ must be made of names, not {ast.unparse(node)}")

    def imported_module(self, module: Module, name: str, node: ast.expr) -> Module:
        imported = module.imported.get(name)
        path = ".".join(filter(None, (imported.module, imported.name))) if imported else name
        if path not in self.modules:
            raise ApiError(f"{module.path}:{node.lineno}: {name} is not a module of the workspace")
        return self.modules[path]

    def resolve(self, module: Module, name: str, seen: frozenset[tuple[str, str]] = frozenset()) -> Found | str | None:
        """Find a definition; a string is the path of a module, or of something from outside the workspace."""
        if (module.name, name) in seen:
            return None
        seen |= {(module.name, name)}
        if nodes := module.defined.get(name):
            return Found(module, name, tuple(nodes))
        if imported := module.imported.get(name):
            path = ".".join(filter(None, (imported.module, imported.name)))
            if imported.name and imported.module in self.modules:
                inside = self.resolve(self.modules[imported.module], imported.name, seen)
                if inside is not None:
                    return inside
                return path if path in self.modules else None
            return path
        for star in module.stars:
            if star in self.modules and (behind := self.resolve(self.modules[star], name, seen)) is not None:
                return behind
        submodule = f"{module.name}.{name}"
        return submodule if submodule in self.modules else None

    def dump(self, package: str) -> str:
        lines = [f"# The public interface of {package}, written by `hatch run api`. Do not edit."]
        for module in self.packages[package]:
            if module.public and (names := self.offered(module)):
                lines += ["", module.name]
                lines += [INDENT + line for name in names for line in self.entry(module, name)]
        return "\n".join(lines) + "\n"

    def entry(self, module: Module, name: str) -> list[str]:
        found = self.resolve(module, name)
        if found is None:
            raise ApiError(f"{module.path}: __all__ names {name!r}, which the module does not have")
        if isinstance(found, str):
            return [f"{name} = {found}"]
        place = self.places.get(found.key, "")
        if place != f"{module.name}.{name}":
            return [f"{name} = {place or '.'.join(found.key)}"]
        match found.nodes[0]:
            case ast.ClassDef() as node:
                return self.class_lines(found.module, node, name)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return function_lines([node for node in found.nodes if isinstance(node, Function)], name)
            case ast.Assign() | ast.AnnAssign() as node:
                return [value_line(node, name)]

    def class_lines(self, module: Module, node: ast.ClassDef, name: str) -> list[str]:
        bases = list(dict.fromkeys(self.public_bases(module, node)))
        bases += [ast.unparse(keyword) for keyword in node.keywords]
        lines = [f"@{ast.unparse(decorator)}" for decorator in node.decorator_list]
        lines.append(f"class {name}({', '.join(bases)})" if bases else f"class {name}")
        members = self.members(module, node)
        return lines + [INDENT + line for member in sorted(members) for line in members[member]]

    def base_class(self, module: Module, base: ast.expr) -> tuple[Found, ast.ClassDef] | None:
        bare = base.value if isinstance(base, ast.Subscript) else base
        found = self.resolve(module, bare.id) if isinstance(bare, ast.Name) else None
        if isinstance(found, Found) and isinstance(found.nodes[0], ast.ClassDef):
            return found, found.nodes[0]
        return None

    def hidden_base(self, module: Module, base: ast.expr) -> bool:
        """Tell whether a base class is not public itself, so that its members have to be listed with the subclass."""
        found = self.base_class(module, base)
        return found is not None and found[0].key not in self.places

    def public_bases(self, module: Module, node: ast.ClassDef) -> Iterator[str]:
        """Print the base classes; those of a hidden one stand in its place, because the class is one of them."""
        for base in node.bases:
            found = self.base_class(module, base)
            if found is None or not self.hidden_base(module, base):
                yield self.base_text(module, base)
            else:
                yield from self.public_bases(found[0].module, found[1])

    def base_text(self, module: Module, base: ast.expr) -> str:
        """Print a base class, by its public name if it was imported under a private one."""
        found = self.base_class(module, base)
        if found is None:
            return ast.unparse(base)
        public = self.places[found[0].key].rpartition(".")[2]
        return f"{public}[{ast.unparse(base.slice)}]" if isinstance(base, ast.Subscript) else public

    def members(self, module: Module, node: ast.ClassDef) -> dict[str, list[str]]:
        functions: dict[str, list[Function]] = {}
        members: dict[str, list[str]] = {}
        for item in statements(node.body):
            match item:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    functions.setdefault(item.name, []).append(item)
                    if item.name == "__init__":
                        members.update((f"self.{name}", [f"self.{name}"]) for name in instance_attributes(item))
                case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                    members[name] = [value_line(item, name)]
                case _:
                    pass
        members.update((name, function_lines(found, name)) for name, found in functions.items())
        members = {name: lines for name, lines in members.items() if shown(name)}
        for base in node.bases:
            if (found_base := self.base_class(module, base)) and self.hidden_base(module, base):
                for name, lines in self.members(found_base[0].module, found_base[1]).items():
                    members.setdefault(name, lines)
        return members


def shown(name: str) -> bool:
    return name not in SILENT and (not name.startswith("_") or (name.startswith("__") and name.endswith("__")))


def instance_attributes(function: Function) -> Iterator[str]:
    """Yield the public attributes that ``__init__`` sets on its first parameter."""
    for node in ast.walk(function):
        match node:
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()) if not name.startswith("_"):
                yield name
            case _:
                pass


def function_lines(nodes: Sequence[Function], name: str) -> list[str]:
    """Print a function: its overloads if it has any, else its definition; a property with its setter."""
    overloads = [node for node in nodes if decorated(node, "overload")]
    accessors = [node for node in nodes if decorated(node, f"{node.name}.")]  # @size.setter and its like
    # Without either, the last definition is the one that holds.
    chosen = overloads or (nodes if accessors else nodes[-1:])
    lines: list[str] = []
    for node in chosen:
        lines += [f"@{ast.unparse(decorator)}" for decorator in node.decorator_list]
        keyword = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
        returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        lines.append(f"{keyword} {name}({parameters(node.args)}){returns}")
    return lines


def decorated(node: Function, start: str) -> bool:
    names = [ast.unparse(decorator).removeprefix("typing.") for decorator in node.decorator_list]
    return any(name.startswith(start) for name in names)


def parameters(arguments: ast.arguments) -> str:
    shortened = copy.deepcopy(arguments)
    shortened.defaults = [short(value) for value in shortened.defaults]
    shortened.kw_defaults = [value and short(value) for value in shortened.kw_defaults]
    return ast.unparse(shortened)


def short(value: ast.expr) -> ast.expr:
    return value if len(ast.unparse(value)) <= LONGEST_VALUE else ast.Constant(...)


def value_line(node: ast.Assign | ast.AnnAssign, name: str) -> str:
    annotation = ""
    value = node.value
    if isinstance(node, ast.AnnAssign):
        annotation = f": {ast.unparse(node.annotation)}"
    if value is None:
        return name + annotation
    alias = annotation.endswith("TypeAlias")  # what it stands for is the interface, however long
    return f"{name}{annotation} = {ast.unparse(value if alias else short(value))}"


def source_files(source: Path) -> Iterator[tuple[str, Path]]:
    """Yield the modules below a source folder with their names, in the order of the names."""
    named: list[tuple[str, Path]] = []
    for path in source.rglob("*.py"):
        parts = path.relative_to(source).with_suffix("").parts
        named.append((".".join(parts[:-1] if parts[-1] == "__init__" else parts), path))
    yield from sorted(named)


def main(arguments: Sequence[str], root: Path = ROOT) -> int:
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        workspace = Workspace(root)
        dumps = {root / "packages" / name / "api.txt": workspace.dump(name) for name in workspace.packages}
    except ApiError as error:
        print(f"api: {error}", file=sys.stderr)
        return 1
    changed = {path: old for path in dumps if (old := read(path)) != dumps[path]}
    for path, old in changed.items():
        name = str(path.relative_to(root))
        if not arguments:
            path.write_text(dumps[path], encoding="utf-8")
            print(f"wrote {name}")
            continue
        diff = difflib.unified_diff(old.splitlines(), dumps[path].splitlines(), name, "the sources", lineterm="")
        print("\n".join(diff))
    if arguments and changed:
        print("api: the public interface changed. If that is meant: hatch run api, and commit the dumps.")
        return 1
    return 0


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
