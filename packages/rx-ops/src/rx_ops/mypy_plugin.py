"""The mypy plugin: operators of other distributions get their exact types, and everything else stays an error.

::

    [tool.mypy]
    plugins = ["rx_ops.mypy_plugin"]

It reads the same table of entry points as the run time does, in the interpreter that mypy checks for. Each operator becomes a
placeholder on the mixin of its type (see ``rx_ops._faces._plugged``), and using one gives the type of the function bound to the
stream, exactly as mypy binds a method whose ``self`` is annotated.

A checker that remembers has to forget at the right time:

* a changed operator: code that uses it refers to the module it is defined in (``module_refs``, and ``plugin_deps`` for dmypy);
* a distribution installed or removed: ``__version__`` here is computed from the table, and mypy and dmypy start afresh when it
  changes; ``report_config_data`` does the same for a cache that does not say which plugins wrote it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

from mypy import errorcodes
from mypy.build import default_data_dir
from mypy.checkmember import check_self_arg
from mypy.modulefinder import FindModuleCache, ModuleNotFoundReason, compute_search_paths, get_search_dirs
from mypy.nodes import MDEF, Decorator, FuncBase, MypyFile, SymbolNode, SymbolTableNode, TypeInfo, Var
from mypy.options import Options
from mypy.plugin import AttributeContext, ClassDefContext, Plugin, ReportConfigContext
from mypy.server.trigger import make_trigger
from mypy.typeops import bind_self, function_type, get_all_type_vars, make_simplified_union
from mypy.types import (
    AnyType,
    CallableType,
    FunctionLike,
    Instance,
    Overloaded,
    Type,
    TypeOfAny,
    TypeVarLikeType,
    UnionType,
    get_proper_type,
)

from rx_ops import _version
from rx_ops._declared import FACES, MODULE, Declared, declared

if TYPE_CHECKING:
    from mypy.checker import TypeChecker

_PRIORITY: Final = 20  # as for an import inside a function: the order of modules does not depend on it


class OperatorPlugin(Plugin):
    """Types operators of installed distributions as methods."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        global _newest
        _newest = self

    @cached_property
    def operators(self) -> dict[str, Declared]:
        """``"rx_ops._faces._plugged.FlowablePlugged.pairs"`` and what is declared for it."""
        folders, site_packages = get_search_dirs(self.options.python_executable)
        return {f"{MODULE}.{FACES[each.face]}.{each.name}": each for each in declared([*folders, *site_packages])}

    @cached_property
    def _names(self) -> set[str]:
        return {each.name for each in self.operators.values()}

    @cached_property
    def _finder(self) -> FindModuleCache:
        return FindModuleCache(compute_search_paths([], self.options, default_data_dir()), None, self.options)

    # -- which modules are loaded, and when they are checked again -------------------------------------------------

    def get_additional_deps(self, file: MypyFile) -> list[tuple[int, str, int]]:
        if file.fullname != MODULE:
            return []
        modules = {each.module for each in self.operators.values()}
        return [(_PRIORITY, module, -1) for module in sorted(modules) if isinstance(self._finder.find_module(module), str)]

    def report_config_data(self, ctx: ReportConfigContext) -> Any:
        return [list(each) for each in self.operators.values()] if ctx.id == MODULE else None

    # -- placeholders ----------------------------------------------------------------------------------------------

    def get_customize_class_mro_hook(self, fullname: str) -> Callable[[ClassDefContext], None] | None:
        return self._add_placeholders if fullname.startswith(MODULE + ".") else None

    def _add_placeholders(self, ctx: ClassDefContext) -> None:
        if ctx.api.is_stub_file:
            return  # written by `python -m rx_ops stubs`: the operators are in it
        info = ctx.cls.info
        for fullname, operator in self.operators.items():
            if fullname == f"{info.fullname}.{operator.name}":
                variable = Var(operator.name, AnyType(TypeOfAny.special_form))
                variable.info = info
                variable._fullname = fullname
                variable.is_initialized_in_class = True
                info.names[operator.name] = SymbolTableNode(MDEF, variable, plugin_generated=True)

    # -- their types -----------------------------------------------------------------------------------------------

    def get_attribute_hook(self, fullname: str) -> Callable[[AttributeContext], Type] | None:
        operator = self.operators.get(fullname)
        return None if operator is None else partial(self._bound, operator)

    def get_class_attribute_hook(self, fullname: str) -> Callable[[AttributeContext], Type] | None:
        owner, _, name = fullname.rpartition(".")
        if name in self._names:
            symbol = self.lookup_fully_qualified(owner)
            found = symbol.node.get(name) if symbol is not None and isinstance(symbol.node, TypeInfo) else None
            if found is not None and found.node is not None and found.node.fullname in self.operators:
                return partial(_refused, self.operators[found.node.fullname])
        return _closed if owner.startswith("rx_ops.") else None

    def _bound(self, operator: Declared, ctx: AttributeContext) -> Type:
        """The type of ``stream.operator``."""
        checker: TypeChecker = ctx.api  # type: ignore[assignment]  # the interface is narrower than what there is
        if getattr(ctx, "is_lvalue", False):  # mypy 1.14 and later
            return _failed(ctx, f'Cannot assign to "{operator.name}", an operator of {operator.distribution}')
        symbol = self.lookup_fully_qualified(f"{operator.module}.{operator.attribute}")
        if symbol is None or symbol.node is None:
            return self._missing(operator, ctx)
        self._refer(checker, operator, symbol.node)
        signature = _signature(symbol.node, checker)
        if signature is None:
            checker.handle_cannot_determine_type(operator.name, ctx.context)
            return AnyType(TypeOfAny.from_error)
        if not isinstance(signature, FunctionLike):
            where = f"{operator.module}:{operator.attribute}"
            return _failed(ctx, f'"{operator.name}" of {operator.distribution} is no function: {where}')
        face = f"{MODULE}.{FACES[operator.face]}"
        bound = [
            bind_self(check_self_arg(signature, each, False, ctx.context, operator.name, checker.msg), each)
            for each in _receivers(ctx.type, face)
        ]
        return make_simplified_union(bound)

    def _refer(self, checker: TypeChecker, operator: Declared, node: SymbolNode) -> None:
        """The module that is being checked depends on the operator: remember it, so that a change of one checks the other."""
        home = node.fullname.rpartition(".")[0]
        while home and home not in checker.modules:
            home = home.rpartition(".")[0]
        checker.module_refs.update({operator.module, home} - {""})
        target = checker.tscope.current_target()
        for name in (node.fullname, f"{operator.module}.{operator.attribute}"):
            checker.tree.plugin_deps.setdefault(make_trigger(name), set()).add(target)

    def _missing(self, operator: Declared, ctx: AttributeContext) -> Type:
        who = f'"{operator.name}" of {operator.distribution}'
        found = self._finder.find_module(operator.module)
        if isinstance(found, str):
            return _failed(ctx, f'{who}: module "{operator.module}" has no "{operator.attribute}"')
        if found is ModuleNotFoundReason.FOUND_WITHOUT_TYPE_HINTS:
            if not self.options.ignore_missing_imports:
                text = f'{who} has no types: module "{operator.module}" is installed, but missing py.typed marker'
                ctx.api.fail(text, ctx.context, code=errorcodes.IMPORT_UNTYPED)
            return AnyType(TypeOfAny.from_unimported_type)
        return _failed(ctx, f'{who}: cannot find module "{operator.module}"')


def _signature(node: SymbolNode, checker: TypeChecker) -> Type | None:
    """The declared type of an operator; None for one that mypy has to infer and has not inferred yet."""
    if isinstance(node, FuncBase):
        return function_type(node, checker.named_type("builtins.function"))
    if isinstance(node, Decorator):
        node = node.var
    if isinstance(node, Var):
        return None if node.type is None else get_proper_type(node.type)
    return AnyType(TypeOfAny.special_form)


def _receivers(stream: Type, face: str) -> Sequence[Type]:
    """What of a stream's type the operator is for: of a union the parts that have it, else all of it."""
    proper = get_proper_type(stream)
    parts = map(get_proper_type, proper.items) if isinstance(proper, UnionType) else ()
    having = [each for each in parts if isinstance(each, Instance) and each.type.has_base(face)]
    return having or [proper]


def _closed(ctx: AttributeContext) -> Type:
    """The type of ``Flowable.zip``, without the class's own variable where it says nothing about the result.

    While a variable stays open mypy may infer Any for a lambda: ``zip(a, b, combiner=lambda x, y: x.upper())``.
    """
    found = get_proper_type(ctx.default_attr_type)
    if not isinstance(found, FunctionLike):
        return found
    items = [each.copy_modified(variables=_used(each)) for each in found.items]
    return items[0] if len(items) == 1 else Overloaded(items)


def _used(function: CallableType) -> list[TypeVarLikeType]:
    used = {variable.id for part in (*function.arg_types, function.ret_type) for variable in get_all_type_vars(part)}
    return [variable for variable in function.variables if variable.id in used]


def _failed(ctx: AttributeContext, message: str) -> Type:
    ctx.api.fail(message, ctx.context, code=errorcodes.ATTR_DEFINED)
    return AnyType(TypeOfAny.from_error)


def _refused(operator: Declared, ctx: AttributeContext) -> Type:
    return _failed(ctx, f'"{operator.name}" of {operator.distribution} is called on a stream, not on the class {operator.face}')


_newest: OperatorPlugin | None = None


def plugin(_mypy_version: str) -> type[Plugin]:
    """What mypy asks for."""
    return OperatorPlugin


def __getattr__(name: str) -> str:
    # mypy and dmypy compare __version__ with that of the last run; what is installed belongs to it. They make the plugin first.
    if name == "__version__":
        table = repr(declared() if _newest is None else list(_newest.operators.values()))
        return f"{_version.__version__}+{hashlib.sha256(table.encode()).hexdigest()[:16]}"
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
