"""Write Observable's methods from Flowable's, so that no signature and no docstring is written twice.

    python tools/generate_observable.py            write the file
    python tools/generate_observable.py --check    fail where the file is not what Flowable's families say

It reads the families in ``packages/rx-ops/src/rx_ops/_faces`` and writes ``_generated_observable.py`` next to them: the
same families under Observable's names, without the methods, parameters and sentences that are about demand. The code is
taken over as text and only edited where the syntax tree says so, so comments stay, and every Python writes the same.
Helpers that name none of the renamed types are imported from the families, not copied.

What the tables below do not cover stops the tool with the place: a new operator with a ``prefetch`` needs no entry, a
sentence about it does.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
FACES: Final = Path("packages/rx-ops/src/rx_ops/_faces")
TARGET: Final = FACES / "_generated_observable.py"
COMMAND: Final = "python tools/generate_observable.py"
FAMILIES: Final = (
    "_create",
    "_listen",
    "_transform",
    "_optional",
    "_indexed",
    "_sorted",
    "_flat_map",
    "_concat_map",
    "_expand",
    "_switch_map",
    "_switch_on_first",
    "_group",
    "_group_until",
    "_buffer",
    "_window",
    "_runs",
    "_filter",
    "_last",
    "_conditional",
    "_aggregate",
    "_concat",
    "_eager",
    "_combine",
    "_latest",
    "_zip_latest",
    "_ordered",
    "_join",
    "_until",
    "_around",
    "_using_when",
    "_errors",
    "_repeat",
    "_aside",
    "_discard",
    "_lifecycle",
    "_log",
    "_named",
    "_progress",
    "_with_context",
    "_subscribe_on",
    "_observe_on",
    "_late",
    "_timeout",
    "_rates",
    "_demand",
    "_time",
    "_connect",
    "_publish",
    "_replay",
    "_convert",
    "_terminal",
    "_flowable",
    "_connectable",
)
CORE: Final = "rx_ops._faces._observable_core"

#: Types and their counterparts, besides all that start with Flowable.
NAMES: Final = {
    "Publisher": "ObservableSource",
    "PublisherHead": "ObservableHead",
    "Subscriber": "Observer",
    "Subscription": "Disposable",
}
#: Where the counterpart of an imported name lives, if not in the module of the original.
HOMES: Final = {"ObservableCore": CORE, "ObservableHead": CORE, "check_source": CORE}

#: Base classes and methods that exist because of demand, each with the reason why Observable has none.
DROPPED: Final = {
    "FlowableBackpressure": "nothing is requested, so nothing can be sent without having been requested",
    "FlowableParallel": "its rails are asked for what they want",
    "do_on_request": "nothing is requested",
    "rebatch_requests": "nothing is requested",
    "do_on_cancel": "it is called do_on_dispose there",
    "do_on_lifecycle": "it takes on_dispose there",
    "to_observable": "it is one; to_flowable is written by hand",
    "_called_back": "what it does with a strategy is done by _created without one",
}
#: Parameters that bound what is requested ahead, and what stands in their place; None: their default.
PARAMETERS: Final[dict[str, str | None]] = {
    "prefetch": None,
    "buffer_size": "UNBOUNDED",  # of group_by: what a group's observer has not taken cannot hold the source back
    "strategy": None,
    "capacity": None,
    "on_drop": None,
}
#: Where a parameter of that name is not about demand: what these drop they drop by the clock.
KEPT: Final = {(name, "on_drop") for name in ("debounce", "sample", "throttle_first", "throttle_latest")}
#: Defaults that differ: RxJava subscribes to all inner observables as they come.
DEFAULTS: Final = {
    ("concat_map_eager", "max_concurrency"): "UNBOUNDED",
    ("flat_map", "max_concurrency"): "UNBOUNDED",
    ("flat_map_completable", "max_concurrency"): "UNBOUNDED",
}
#: Bodies that are about demand, and what does the same here.
BODIES: Final = {
    "create": 'check_callable("create", "source", source)\nreturn cls._created(source)',
    "from_future": (
        'check_future("from_future", future, "Observable")\n'
        'return cls._created(operators.FutureSource(future, operators.give_stream), "from_future()")'
    ),
    "from_listener": (
        'check_callable("from_listener", "add", add)\n'
        'check_callable("from_listener", "remove", remove)\n'
        'if mapper is not None:\n    check_callable("from_listener", "mapper", mapper)\n'
        'return cls._created(operators.Listening(add, remove, mapper), f"from_listener({name_of(add)})")'
    ),
    "from_value": (
        'check_callable("from_value", "read", read)\n'
        'check_callable("from_value", "add", add)\n'
        'check_callable("from_value", "remove", remove)\n'
        'return cls._created(operators.Watching(read, add, remove), f"from_value({name_of(read)})")'
    ),
}
#: What the tables use and the families do not import.
ADDED: Final = {"UNBOUNDED": "rx_core"}

DEMAND: Final = "Demand:  none; everything is taken as it comes."
#: Words of docstrings, in this order; a space stands for a line break as well.
WORDS: Final = (
    (r"0\.\.n items with backpressure", "0..n items without backpressure"),
    (r"\bA Observable\b", "An Observable"),
    (r"\bstart\. Build one\b", "start, and gives everything it has. Build one"),
    (r"RxJava ``fromPublisher``", "RxJava ``wrap``"),
    (r"\bis no publisher\b", "is no observable"),
    (r"\bpublisher's\b", "observable's"),
    (r"\bpublisher\b", "observable"),
    (r"\bsubscribers\b", "observers"),
    (r"\bsubscriber\b", "observer"),
    (r"\bthe one that requests\b", "the one that subscribes"),
    (r"\bSubscribes to this stream, and requests from it, on\b", "Subscribes to this stream on"),
    (r"\bcalled for each subscription when an item is requested\b", "called for each subscription"),
    (r"Errors: as said; ", "Errors:  "),
    (r"; MissingBackpressureError as soon as a new group comes and none is requested", ""),
    (r"; MissingBackpressureError when a row comes that was not requested", ""),
    (r"at most ``buffer_size`` items wait in all groups together\.", "items wait in their groups until they are taken."),
    (r" To fold each group use :meth:`group_reduce`, which cannot run full\.", " To fold each group use :meth:`group_reduce`."),
    (r"``max_concurrency`` sources of ``prefetch`` items", "what ``max_concurrency`` foreign sources are ahead"),
    (r"``prefetch`` outer items where the outer source is not ours", "what a foreign source is ahead"),
    (r"(``prefetch``|128) items for each foreign source", "what foreign sources are ahead"),
    (r"(``prefetch``|128) items for each source that pushes", "what the sources that push are ahead"),
    (r"``prefetch`` items for each source, and one row", "what the sources are ahead, and one row"),
    (r"``prefetch`` items in all windows together\.", "items wait in their windows until they are taken."),
    (
        r"``prefetch`` items at a boundary; when none is given 128, and step by step up to 4096 while another thread sends "
        r"all it may each time this one has none left, within a millisecond\.",
        "what the stream is ahead at a boundary.",
    ),
    (r"``prefetch`` items at a boundary", "what the stream is ahead at a boundary"),
    (
        r"``prefetch`` items; when none is given 128, and step by step up to 4096 while a source on another thread has sent "
        r"all it may each time the worker runs dry, within a millisecond\. A synchronous source",
        "what the source is ahead; a synchronous source",
    ),
    (r"Memory: ``capacity`` items, or whatever the source is ahead\.", "Memory:  none."),
    (r"what ``source`` raises; MissingBackpressureError by strategy; TypeError", "what ``source`` raises; TypeError"),
    (r"``mapper`` raise; MissingBackpressureError by strategy; TypeError", "``mapper`` raise; TypeError"),
    (r"Memory: ``capacity`` items, or whatever the listener is ahead\.", "Memory:  none."),
    (r"Memory: one value, or by strategy\.", "Memory:  none."),
    (r"Memory: ``prefetch`` items\.", "Memory:  none."),
    (r"that of the source; what had to wait comes on the one that requests\.", "that of the source."),
    (r"that of the source, or the one whose request was the last to be waited for", "that of the source"),
    (r"the one that calls the handler, or the one that subscribes", "the one that calls the handler"),
    (r"Thread: the one that pushes, or the one that subscribes", "Thread: the one that pushes"),
    (r"the worker; a synchronous source is computed there, any other is subscribed on the thread that subscribes", "the worker"),
    (r"passes through, or as the stage's ``request`` says", "passes through"),
)  # fmt: skip
#: What is about demand and must not be left in a docstring.
UNWANTED: Final = re.compile(
    r"``(?:prefetch|buffer_size|strategy|capacity|on_drop)``|\brequest|[Bb]ackpressure(?!\.\Z)|\bFlowable|[Ss]ubscriber(?!_count)|[Pp]ublisher"
)
ALLOWED: Final = ("0..n items without backpressure",)

Face = ast.FunctionDef | ast.ClassDef


class GenerateError(Exception):
    """Something that the tables do not cover; the message names the place."""


@dataclass
class Text:
    """A source file, its syntax tree, and the edits made to it. Columns of the tree count bytes, and so do the edits."""

    name: str
    source: bytes
    edits: list[tuple[int, int, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tree = ast.parse(self.source)
        self._starts = [0]
        for line in self.source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def start(self, node: ast.expr | ast.stmt | ast.arg) -> int:
        return self._starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.stmt | ast.arg) -> int:
        return self._starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)

    def of(self, node: ast.expr | ast.stmt | ast.arg) -> str:
        return self.source[self.start(node) : self.end(node)].decode()

    def replace(self, node: ast.expr | ast.stmt | ast.arg, text: str) -> None:
        self.edits.append((self.start(node), self.end(node), text))

    def remove(self, node: ast.stmt | ast.expr) -> None:
        """Remove whole lines."""
        self.edits.append((self._starts[node.lineno - 1], self._starts[node.end_lineno or 0], ""))

    def edited(self, node: ast.stmt) -> str:
        """The text of a top-level statement after the edits inside it, with the decorators before and comments after it."""
        begin, end = self._starts[node.lineno - 1], self._starts[node.end_lineno or 0]
        out, at = [], begin
        for first, last, text in sorted(each for each in self.edits if begin <= each[0] < end):
            if first < at:
                continue  # inside something that was replaced as a whole
            out += [self.source[at:first].decode(), text]
            at = last
        return "".join([*out, self.source[at:end].decode()])

    def error(self, node: ast.expr | ast.stmt, problem: str) -> GenerateError:
        return GenerateError(f"{FACES / self.name}.py:{node.lineno}: {problem}")


def renamed(text: str) -> str:
    """Text with the counterparts' names, in code and strings alike."""
    text = re.sub(r"\b(Connectable|Grouped)?Flowable", r"\g<1>Observable", text)
    return re.sub(rf"\b(?:{'|'.join(NAMES)})\b", lambda found: NAMES[found[0]], text)


def generate(root: Path) -> str:
    """The text of the generated file, before it is formatted."""
    texts = [Text(name, (root / FACES / f"{name}.py").read_bytes()) for name in FAMILIES]
    imports = Imports()
    variables: dict[str, str] = {}
    classes: list[str] = []
    for text in texts:
        for node in text.tree.body:
            match node:
                case ast.ImportFrom() | ast.If(test=ast.Name(id="TYPE_CHECKING")):
                    imports.add(node)
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call()) if _declares_variable(node):
                    if variables.setdefault(name, text.of(node)) != text.of(node):
                        raise text.error(node, f"another family declares {name} otherwise")
                case ast.ClassDef() if is_face(node):
                    adapt(text, node)
                    classes.append(renamed(text.edited(node)))
                case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                    imports.offer(name, f"rx_ops._faces.{text.name}")
                case ast.Expr(value=ast.Constant()) | ast.Assign(targets=[ast.Name(id="__all__")]):
                    pass
                case _:
                    raise text.error(node, "a statement that is no import, type variable, class or function")
    body = "\n\n\n".join(classes)
    named = names_in(body)
    declared = "\n".join(renamed(line) for name, line in variables.items() if name in named)
    families = textwrap.fill(", ".join(f"{name}.py" for name in FAMILIES), 120)
    header = f'''"""Observable's families of operators, made from Flowable's.

Do not edit: change the families, or the tables of the tool. Generated by `{COMMAND}` from
{families}.
"""
'''
    code = f"{declared}\n\n\n{body}"
    return f"{header}\nfrom __future__ import annotations\n\n{imports.text(code)}\n\n{code}"


def _declares_variable(node: ast.Assign) -> bool:
    return (
        isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Name)
        and node.value.func.id in ("ParamSpec", "TypeVar", "TypeVarTuple")
    )


def is_face(node: ast.ClassDef) -> bool:
    """Whether a class has to be made anew: it names one of the types that have a counterpart."""
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} | {node.name}
    return any(renamed(name) != name for name in names)


class Imports:
    """What the families import, under the counterparts' names."""

    def __init__(self) -> None:
        self._homes: dict[str, str] = {}
        self._typing_only: set[str] = set()

    def add(self, node: ast.ImportFrom | ast.If) -> None:
        for statement in node.body if isinstance(node, ast.If) else [node]:
            if not isinstance(statement, ast.ImportFrom) or statement.module == "__future__":
                continue
            for alias in statement.names:
                if alias.asname:
                    raise GenerateError(f"{alias.name} is imported under another name")
                name = renamed(alias.name)
                self.offer(name, HOMES.get(name, statement.module or ""))
                if isinstance(node, ast.If):
                    self._typing_only.add(name)
                else:
                    self._typing_only.discard(name)

    def offer(self, name: str, home: str) -> None:
        self._homes[name] = home

    def text(self, code: str) -> str:
        """The imports that ``code`` needs. What the generated file defines itself is not imported."""
        own = set(re.findall(r"^(?:class )?(\w+)(?:\(| = )", code, re.MULTILINE))
        homes = {**self._homes, **ADDED}
        used = names_in(code) & homes.keys() - own
        always = used - self._typing_only
        lines = [*_import_lines(always, homes)]
        if used - always:
            lines += ["if TYPE_CHECKING:", *(f"    {line}" for line in _import_lines(used - always, homes))]
            lines.insert(0, "from typing import TYPE_CHECKING")
        return "\n".join(lines)


def _import_lines(names: Iterable[str], homes: dict[str, str]) -> Iterator[str]:
    for home in sorted({homes[name] for name in names}):
        yield f"from {home} import {', '.join(sorted(name for name in names if homes[name] == home))}"


def adapt(text: Text, face: ast.ClassDef) -> None:
    """Drop what is about demand from one class."""
    for base in face.bases:
        match base:
            case ast.Subscript(value=ast.Name(id=name)) if name in DROPPED:
                text.remove(base)
    document(text, face)
    for method in face.body:
        if not isinstance(method, ast.FunctionDef):
            continue
        if method.name in DROPPED:
            for decorator in method.decorator_list:
                text.remove(decorator)
            text.remove(method)
            continue
        document(text, method)
        dropped = adapt_signature(text, method)
        if method.name in BODIES and not is_overload(method):
            first = method.body[1]
            text.edits.append((text.start(first), text.end(method.body[-1]), indented(BODIES[method.name])))
        elif dropped:
            adapt_body(text, method, dropped)


def is_overload(method: ast.FunctionDef) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "overload" for each in method.decorator_list)


def indented(lines: str) -> str:
    return lines.replace("\n", "\n        ")


def adapt_signature(text: Text, method: ast.FunctionDef) -> dict[str, str]:
    """Write the signature without the parameters about demand; they are returned with what takes their place."""
    parts = list(parameters(text, method))
    dropped: dict[str, str] = {}
    kept: list[str] = []
    changed = False
    for name, written, default in parts:
        if name in PARAMETERS and (method.name, name) not in KEPT and default is not None:
            dropped[name] = PARAMETERS[name] or default
        elif (method.name, name) in DEFAULTS and default is not None:
            changed = True
            kept.append(f"{written} = {DEFAULTS[method.name, name]}")
        else:
            kept.append(written if default is None else f"{written} = {default}")
    if kept and kept[-1] == "*":
        kept.pop()
    if dropped or changed:
        assert method.returns is not None
        first = text.source.index(b"(", text.start(method))
        text.edits.append((first, text.end(method.returns), f"({', '.join(kept)}) -> {text.of(method.returns)}"))
    return dropped


def parameters(text: Text, method: ast.FunctionDef) -> Iterator[tuple[str, str, str | None]]:
    """Each parameter, and each separator, as (name, text without default, default)."""
    given = method.args
    plain = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(given.defaults))
    defaults += given.defaults
    for at, (each, default) in enumerate(zip(plain, defaults, strict=True)):
        yield each.arg, text.of(each), None if default is None else text.of(default)
        if at == len(given.posonlyargs) - 1:
            yield "", "/", None
    if given.vararg is not None:
        yield given.vararg.arg, f"*{text.of(given.vararg)}", None
    elif given.kwonlyargs:
        yield "", "*", None
    for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        yield each.arg, text.of(each), None if default is None else text.of(default)
    if given.kwarg is not None:
        yield given.kwarg.arg, f"**{text.of(given.kwarg)}", None


def adapt_body(text: Text, method: ast.FunctionDef, dropped: dict[str, str]) -> None:
    """Put the stand-ins where dropped parameters were used; drop the checks of them and passing them on."""
    for statement in method.body:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Name(id="check_prefetch"), args=[_, ast.Name(id=name), *_])) if name in dropped:
                text.remove(statement)
                continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                adapt_call(text, node, dropped)
            elif isinstance(node, ast.Name) and node.id in dropped:
                text.replace(node, dropped[node.id])


def adapt_call(text: Text, call: ast.Call, dropped: dict[str, str]) -> None:
    """Another method of the face has lost the parameter as well."""
    match call.func:
        case ast.Attribute(value=ast.Name(id="self" | "cls")):
            pass
        case _:
            return
    at = text.end(call.func) + 1  # behind the opening bracket
    for given in call.args:
        at = text.end(given)
    for keyword in call.keywords:
        if keyword.arg in dropped:
            text.edits.append((at, text.end(keyword.value), ""))
        at = text.end(keyword.value)


def document(text: Text, owner: Face) -> None:
    """The docstring without what it says about demand."""
    first = owner.body[0]
    match first:
        case ast.Expr(value=ast.Constant(value=str())):
            pass
        case _:
            return
    if owner.name in DROPPED:
        return
    doc = renamed(undemanding(text.of(first)))
    for pattern, replacement in WORDS:
        doc = re.sub(pattern.replace(" ", r"\s+"), replacement, doc)
    kept = [f"``{parameter}``" for method, parameter in KEPT if method == owner.name]
    rest = re.sub("|".join(map(re.escape, (*ALLOWED, *kept))), "", doc)
    found = UNWANTED.search(rest)
    if found is not None:
        line = rest[: found.start()].rpartition("\n")[2] + rest[found.start() :].partition("\n")[0]
        raise text.error(first, f"{owner.name}: still about demand, add it to WORDS: {line.strip()!r}")
    text.replace(first, doc)


_FIELD = r"(?:Demand|Errors|Memory|Thread|Fusion|Source|Raises)"


def undemanding(doc: str) -> str:
    """A docstring with the line for a stream that nobody asks in place of its field ``Demand``."""
    return re.sub(
        rf"^( *)Demand: .*?(?:   ({_FIELD}:)|\n(?= *(?:{_FIELD}\b|\"\"\"|$)))",
        lambda found: f"{found[1]}{DEMAND}\n" + (f"{found[1]}{found[2]} " if found[2] else ""),
        doc,
        flags=re.MULTILINE | re.DOTALL,
    )


def names_in(code: str) -> set[str]:
    """The words of ``code``."""
    return set(re.findall(r"\w+", code))


def ruff(arguments: Sequence[str], code: str, root: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "ruff", *arguments, "-"], input=code, capture_output=True, text=True, cwd=root, check=False
    )
    if done.returncode:
        raise GenerateError(f"ruff {arguments[0]} failed:\n{done.stderr or done.stdout}")
    return done.stdout


def formatted(code: str, root: Path) -> str:
    """Imports sorted, long lines wrapped. (Under another file name: the formatter is told to leave generated files alone.)"""
    name = str(TARGET.with_name("_observable.py"))
    code = ruff(["check", "--quiet", "--fix-only", "--select", "I,F401", "--stdin-filename", name], code, root)
    return ruff(["format", "--stdin-filename", name], code, root)


def main(arguments: Sequence[str], root: Path = ROOT) -> int:
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    target = root / TARGET
    try:
        code = formatted(generate(root), root)
    except GenerateError as error:
        print(f"generate_observable: {error}", file=sys.stderr)
        return 1
    if target.exists() and target.read_text(encoding="utf-8") == code:
        return 0
    if arguments:
        print(f"{TARGET} is not what Flowable's families say. Run: {COMMAND}", file=sys.stderr)
        return 1
    target.write_text(code, encoding="utf-8")
    print(f"wrote {TARGET}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
