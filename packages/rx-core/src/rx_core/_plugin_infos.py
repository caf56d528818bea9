"""What is known of a plugin: where it was found, what it provides, why it was not loaded, and the texts that say so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rx_core._schedulers import Scheduler

OPERATOR_GROUP: Final = "rx.operators"
_LOCAL: Final = "(this process)"


@dataclass(frozen=True)
class PluginInfo:
    """One line of what :meth:`PluginManager.describe` knows."""

    distribution: str
    version: str
    entry_point: str
    #: What it provides, for example ``("schedulers: io, single", "hooks: rx_on_error")``.
    provides: tuple[str, ...] = ()
    #: Why it was not loaded; None when it was.
    failure: str | None = None


@dataclass
class Registration:
    """One registered plugin with what its providing hooks returned; those are not called again."""

    plugin: object
    name: str
    distribution: str = _LOCAL
    version: str = ""
    entry_point: str = ""
    schedulers: Mapping[str, Callable[[], Scheduler]] = field(default_factory=dict)
    fusion_rules: tuple[object, ...] = ()
    hooks: tuple[str, ...] = ()
    uses: int = 1


def installed(group: str) -> list[tuple[str, str, EntryPoint]]:
    """The distribution, its version and the entry point, sorted, so that the order does not depend on the file system."""
    found = [(*_origin(entry_point), entry_point) for entry_point in metadata.entry_points(group=group)]
    return sorted(found, key=lambda each: (each[0], each[1], each[2].name))


def _origin(entry_point: EntryPoint) -> tuple[str, str]:
    if entry_point.dist is None:
        return "(unknown distribution)", ""
    fields = entry_point.dist.metadata  # a file is read and parsed each time: name and version from one reading
    return fields["Name"], fields["Version"]


def name_of_plugin(plugin: object) -> str:
    name = getattr(plugin, "__name__", None)
    return name if isinstance(name, str) else type(plugin).__qualname__


def reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def warning(failure: PluginInfo) -> str:
    return (
        f"the plugin {failure.entry_point!r} of {failure.distribution} {failure.version} was not loaded: "
        f"{failure.failure}\n"
        f"  To get one that works:     pip install --upgrade {failure.distribution}\n"
        f"  To do without:             pip uninstall {failure.distribution}   or set RX_DISABLE_PLUGINS=1\n"
        f"  To see all plugins:        python -m rx_core plugins"
    )


def described(known: Registration) -> PluginInfo:
    provides = []
    if known.schedulers:
        provides.append("schedulers: " + ", ".join(sorted(known.schedulers)))
    if known.hooks:
        provides.append("hooks: " + ", ".join(known.hooks))
    if known.fusion_rules:
        provides.append("fusion rules: " + ", ".join(sorted(map(_rule_name, known.fusion_rules))))
    provides = provides or ["nothing marked with @hookimpl"]
    return PluginInfo(known.distribution, known.version, known.entry_point, tuple(provides))


def _rule_name(rule: object) -> str:
    name = getattr(rule, "name", None)
    return name if isinstance(name, str) else name_of_plugin(rule)


def operators(check: bool) -> list[PluginInfo]:
    """One line for the operators of each distribution, and one for each that cannot be imported."""
    names: dict[tuple[str, str], list[str]] = {}
    infos: list[PluginInfo] = []
    for distribution, version, entry_point in installed(OPERATOR_GROUP):
        try:
            if check:
                entry_point.load()
        except (Exception, SystemExit) as error:
            infos.append(PluginInfo(distribution, version, entry_point.name, failure=reason(error)))
        else:
            names.setdefault((distribution, version), []).append(entry_point.name)
    for (distribution, version), found in names.items():
        infos.append(PluginInfo(distribution, version, OPERATOR_GROUP, ("operators: " + ", ".join(found),)))
    return infos
