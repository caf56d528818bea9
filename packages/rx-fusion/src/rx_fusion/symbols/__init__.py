"""Symbolic functions: expressions instead of lambdas, which the compiler writes into its loops and everybody can read.

``it + 1`` builds; operators make a function of it, and so does ``sym``. The nodes are public: ``sym(it["price"] * 2).node`` is a
tree of them, for other compilers to translate.
"""

from __future__ import annotations

from rx_fusion.symbols import _symbol
from rx_fusion.symbols._expression import Expression, Structure, expression_of, without_symbols
from rx_fusion.symbols._nodes import (
    Attribute,
    Call,
    Comparison,
    Conditional,
    Constant,
    Display,
    Index,
    Item,
    Node,
    Operator,
    parts_of,
    with_parts,
)
from rx_fusion.symbols._symbol import Symbol, it
from rx_fusion.symbols._text import written
from rx_fusion.symbols._trace import call, sym
from rx_fusion.symbols._unanswered import SymbolError

_symbol.function_of = expression_of

__all__ = [
    "Attribute",
    "Call",
    "Comparison",
    "Conditional",
    "Constant",
    "Display",
    "Expression",
    "Index",
    "Item",
    "Node",
    "Operator",
    "Structure",
    "Symbol",
    "SymbolError",
    "call",
    "expression_of",
    "it",
    "parts_of",
    "sym",
    "with_parts",
    "without_symbols",
    "written",
]
