"""What a function computes, from the instructions of its code: each is followed in turn, with nodes on the stack.

Nothing is called and nothing is guessed: code with an instruction that is not known here, on any version of Python, is not read.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from rx_fusion._code_flags import ASYNC_GENERATOR, COROUTINE, GENERATOR, VARARGS, VARKEYWORDS
from rx_fusion.symbols._nodes import Attribute, Call, Comparison, Conditional, Constant, Display, Index, Item, Node, Operator

_NOT_PLAIN: Final = VARARGS | VARKEYWORDS | GENERATOR | COROUTINE | ASYNC_GENERATOR
#: Those that nodes have: see rx_fusion.symbols._writing, which brings ast.
_BINARY: Final = frozenset(("+", "-", "*", "/", "//", "%", "**", "@", "<<", ">>", "&", "|", "^"))
_COMPARE: Final = frozenset(("<", "<=", "==", "!=", ">", ">="))
#: Longer ones gain nothing: what they call costs more than their own call.
_MOST_INSTRUCTIONS: Final = 60
#: Ways that meet again are read once for each way to them.
_MOST_STEPS: Final = 2 * _MOST_INSTRUCTIONS
_MOST_FUNCTIONS: Final = 1_024


class NotRead(Exception):  # not an error: the reason to give up
    """A part of a function that is not read."""


class Free:
    """In a tree that functions share: a variable of the function around, or of the module."""

    __slots__ = ("name", "of_module")

    def __init__(self, name: str, *, of_module: bool) -> None:
        self.name = name
        self.of_module = of_module


@dataclass(frozen=True)
class _Join:
    """A place where the two ways behind ``left and`` meet again, or behind ``left or``; there are ``depth`` entries below."""

    target: int
    word: str
    left: Node
    depth: int


@dataclass(frozen=True)
class _Chain:
    """``a < b <``, of which the last operand is still to come; there are ``depth`` entries below it."""

    names: tuple[str, ...]
    operands: tuple[Node, ...]
    depth: int
    #: Where the code goes on when a comparison is false, and whether the truth of the chain is all that is asked for.
    otherwise: int
    truth: bool


#: What an instruction leaves on the stack: a value, or the place for a method's object.
_Entry: TypeAlias = Node | None


@lru_cache(_MOST_FUNCTIONS)
def tree_of(code: CodeType) -> Node | None:
    """What functions of this code compute, with :class:`Free` in the place of variables."""
    if not code.co_argcount or code.co_kwonlyargcount or code.co_flags & _NOT_PLAIN:
        return None
    from dis import get_instructions  # only who reads code needs it

    try:
        instructions = [_Instruction(e.opname, e.argval, _plain(e.argrepr), e.arg or 0, e.offset) for e in get_instructions(code)]
        return _Reader(code, instructions).read() if len(instructions) <= _MOST_INSTRUCTIONS else None
    except (NotRead, IndexError):
        return None


class _Instruction(NamedTuple):
    name: str
    value: Any
    shown: str
    number: int
    offset: int


#: How ``left and`` and ``left or`` look: the last one is where it jumps with the value kept, on 3.11, or what drops the value.
_JUMPS: Final = {
    ("JUMP_IF_FALSE_OR_POP",): "and",
    ("JUMP_IF_TRUE_OR_POP",): "or",
    ("COPY", "POP_JUMP_IF_FALSE", "POP_TOP"): "and",
    ("COPY", "POP_JUMP_IF_TRUE", "POP_TOP"): "or",
    ("COPY", "TO_BOOL", "POP_JUMP_IF_FALSE", "POP_TOP"): "and",
    ("COPY", "TO_BOOL", "POP_JUMP_IF_TRUE", "POP_TOP"): "or",
}


def _jump_at(names: list[str], at: int) -> tuple[int, str] | None:
    """The place of the last instruction of a jump that begins here, and its word."""
    for jump, word in _JUMPS.items():
        if tuple(names[at : at + len(jump)]) == jump:
            return at + len(jump) - 1, word
    return None


#: They ask for the truth of a value without TO_BOOL, too, as versions before 3.13 do.
_ASKING: Final = frozenset(("UNARY_NOT", "POP_JUMP_IF_FALSE", "POP_JUMP_IF_TRUE"))
#: Where ``then if condition else otherwise`` jumps to the second value: when the condition is false; or true; or when it is None,
#: or is not. CPython 3.11 has names of its own for jumps forward.
_BRANCHES: Final = {
    f"POP_JUMP_{way}IF_{when}": when for way in ("", "FORWARD_") for when in ("FALSE", "TRUE", "NONE", "NOT_NONE")
}


def _waits(entry: _Entry) -> bool:
    """Whether it is the same when it is evaluated later."""
    return entry is None or isinstance(entry, Item) or (isinstance(entry, Constant) and type(entry.value) is not Free)


def _plain(shown: str) -> str:
    """Without what CPython 3.13 says of a comparison whose truth is asked for next: ``bool(<)``."""
    return shown[5:-1] if shown.startswith("bool(") else shown


class _Reader:
    """Follows the instructions of a function, with nodes on the stack."""

    def __init__(self, code: CodeType, instructions: list[_Instruction]) -> None:
        self._code = code
        self._instructions = instructions
        self._names = [each.name for each in instructions]
        self._places = {each.offset: at for at, each in enumerate(instructions)}
        self._arguments = {name: Item(at, name) for at, name in enumerate(code.co_varnames[: code.co_argcount])}
        self._stack: list[_Entry] = []
        self._keywords: tuple[str, ...] = ()
        self._joins: list[_Join] = []
        self._chains: list[_Chain] = []
        self._left = _MOST_STEPS

    def read(self) -> Node:
        """What the function returns."""
        return self._way(0, ())

    def _way(self, at: int, ends: tuple[int, ...]) -> Node:
        """What comes of the instructions from ``at``: the value that is there at one of the ``ends``, or that is returned where
        there are none."""
        while at not in ends:
            self._left -= 1
            if self._left < 0:
                raise NotRead
            name, value, shown, number, offset = self._instructions[at]
            self._join(offset)
            jump = _jump_at(self._names, at)
            if jump is not None:
                at = self._word(at, *jump) + 1
            elif name == "SWAP" and self._names[at + 1 : at + 3] == ["COPY", "COMPARE_OP"]:
                at = self._link(at)
            elif name == "COMPARE_OP" and self._chains and len(self._stack) == self._chains[-1].depth + 1:
                at = self._last_link(at, shown)
            elif name in _BRANCHES:
                node, meeting = self._branches(at, _BRANCHES[name], ends)
                if meeting is None:
                    return node
                self._stack.append(node)
                at = meeting
            elif name == "JUMP_FORWARD":
                if self._joins:
                    raise NotRead
                at = self._places[value]
            elif name in ("RETURN_VALUE", "RETURN_CONST"):
                if name == "RETURN_CONST":
                    self._stack.append(Constant(value))
                if ends:
                    raise NotRead
                return self._result()
            else:
                asked = name == "TO_BOOL" and self._names[at + 1] in _ASKING
                if not asked:
                    self._follow(name, value, shown, number)
                at += 1
        self._join(self._instructions[at].offset)
        return self._result()

    def _result(self) -> Node:
        (result,) = self._taken(1)
        if self._stack or self._joins or self._chains:
            raise NotRead
        return result

    def _word(self, at: int, last: int, word: str) -> int:
        """``left and`` or ``left or``; returns where it ends."""
        if self._names[at] == "COPY" and self._instructions[at].number != 1:
            raise NotRead
        target = self._instructions[last - (self._names[last] == "POP_TOP")].value
        (left,) = self._taken(1)
        self._joins.append(_Join(target, word, left, len(self._stack)))
        return last

    def _link(self, at: int) -> int:
        """``a < b <``, or one more ``< c`` behind that; returns where the next operand begins."""
        first, second, compared = self._instructions[at : at + 3]
        if first.number != 2 or second.number != 2:
            raise NotRead
        (middle,) = self._taken(1)
        chain = self._chains.pop() if self._chains and len(self._stack) == self._chains[-1].depth else None
        names, operands = (chain.names, chain.operands) if chain is not None else ((), tuple(self._taken(1)))
        jump = _jump_at(self._names, at + 3)
        truth = jump is None
        if jump is not None:
            last, word = jump
            cleared = self._places[self._instructions[last - (self._names[last] == "POP_TOP")].value]
            if word != "and" or self._names[cleared : cleared + 2] != ["SWAP", "POP_TOP"]:
                raise NotRead
            otherwise = cleared + 2
        else:
            last = at + 3
            if _BRANCHES.get(self._names[last]) != "FALSE":
                raise NotRead
            cleared = self._places[self._instructions[last].value]
            if self._names[cleared] != "POP_TOP":
                raise NotRead
            otherwise = cleared + 1
            if self._names[otherwise] == "JUMP_FORWARD":
                otherwise = self._places[self._instructions[otherwise].value]
        if chain is not None and (chain.otherwise, chain.truth) != (otherwise, truth):
            raise NotRead
        names = (*names, compared.shown)
        self._chains.append(_Chain(names, (*operands, middle), len(self._stack), otherwise, truth))
        return last + 1

    def _last_link(self, at: int, name: str) -> int:
        """The last operand of a chain is there; returns where the code goes on, which has to be where it goes on otherwise."""
        chain = self._chains.pop()
        self._stack.append(Comparison((*chain.names, name), (*chain.operands, *self._taken(1))))
        behind = self._instructions[at + 1]
        if chain.truth:
            same = _BRANCHES.get(behind.name) == "FALSE" and self._is_same(self._places[behind.value], chain.otherwise)
        elif behind.name == "JUMP_FORWARD":
            same = self._places[behind.value] == chain.otherwise
        else:
            same = behind.name == self._names[chain.otherwise] == "RETURN_VALUE"
        if not same:
            raise NotRead
        return at + 1 if chain.truth else chain.otherwise

    def _is_same(self, at: int, other: int) -> bool:
        """Whether the code goes on in the same way there. CPython 3.12 and 3.13 write `return CONSTANT` for each way."""
        here, there = self._instructions[at], self._instructions[other]
        return at == other or (here.name == there.name == "RETURN_CONST" and here.number == there.number)

    def _branches(self, at: int, when: str, ends: tuple[int, ...]) -> tuple[Node, int | None]:
        """The two ways behind a condition, and where they meet; None where both return.

        What is on the stack already is evaluated before the condition. Arguments and constants may be taken later; where there
        is something else, it stays out of the two ways, which are read up to the place where they meet. CPython 3.12 and later
        write what is behind that place twice if it is short: then there is none.
        """
        (condition,) = self._taken(1)
        target = self._places.get(self._instructions[at].value, 0)
        if target <= at or self._chains:
            raise NotRead  # a loop, or a condition in the last operand of a chain
        if when in ("NONE", "NOT_NONE"):
            condition = Call(Constant(operator.is_ if when == "NONE" else operator.is_not), (condition, Constant(None)))
        if not self._joins and all(map(_waits, self._stack)):
            below = list(self._stack)
            here = self._way(at + 1, ends)
            self._stack = below
            there = self._way(target, ends)
            meeting = ends[-1] if ends else None
        else:
            if self._names[target - 1] != "JUMP_FORWARD":
                raise NotRead
            meeting = self._places[self._instructions[target - 1].value]
            below, joins = self._stack, self._joins
            self._stack, self._joins = [], []
            here, there = self._way(at + 1, (target - 1, meeting)), self._way(target, (meeting,))
            self._stack, self._joins = below, joins
        return (Conditional(condition, here, there) if when == "FALSE" else Conditional(condition, there, here)), meeting

    def _join(self, offset: int) -> None:
        """Put words together whose second operand ends here."""
        while self._joins and self._joins[-1].target == offset:
            join = self._joins.pop()
            (right,) = self._taken(1)
            if len(self._stack) != join.depth:
                raise NotRead
            self._stack.append(Operator(join.word, (join.left, right)))
        if any(join.target <= offset for join in self._joins):
            raise NotRead

    def _follow(self, name: str, value: Any, shown: str, number: int) -> None:
        put = self._stack.append
        match name:
            case "RESUME" | "NOP" | "PRECALL" | "COPY_FREE_VARS" | "EXTENDED_ARG":
                pass
            case "LOAD_FAST" | "LOAD_FAST_BORROW":
                put(self._argument(value))
            case "LOAD_FAST_LOAD_FAST" | "LOAD_FAST_BORROW_LOAD_FAST_BORROW":
                self._stack += map(self._argument, value)
            case "LOAD_CONST" | "LOAD_SMALL_INT":
                if isinstance(value, CodeType):
                    raise NotRead
                put(Constant(value))
            case "LOAD_DEREF":
                put(Constant(Free(value, of_module=False)))
            case "LOAD_GLOBAL":
                self._callable(Constant(Free(value, of_module=True)), place=shown.startswith("NULL + ") or "+ NULL" in shown)
            case "LOAD_ATTR":
                (of,) = self._taken(1)
                self._callable(Attribute(of, value), place="NULL|self" in shown)
            case "LOAD_METHOD":
                (of,) = self._taken(1)
                self._callable(Attribute(of, value), place=True)
            case "PUSH_NULL":
                put(None)
            case "KW_NAMES":
                self._keywords = self._code.co_consts[number]
            case "CALL":
                put(self._call(number, self._keywords))
                self._keywords = ()
            case "CALL_KW":
                (names,) = self._taken(1)
                put(self._call(number, names.value))  # type: ignore[union-attr]  # the compiler puts a constant there
            case "BINARY_OP" if shown == "[]":
                self._index()
            case "BINARY_OP" if shown in _BINARY:
                put(Operator(shown, tuple(self._taken(2))))
            case "COMPARE_OP" if shown in _COMPARE:
                put(Operator(shown, tuple(self._taken(2))))
            case "IS_OP":
                put(Call(Constant(operator.is_not if number else operator.is_), tuple(self._taken(2))))
            case "BINARY_SUBSCR":
                self._index()
            case "BINARY_SLICE":
                of, start, stop = self._taken(3)
                put(Index(of, Display("slice", (start, stop, Constant(None)))))
            case "BUILD_SLICE":
                parts = self._taken(number)
                put(Display("slice", tuple(parts if number == 3 else (*parts, Constant(None)))))
            case "CONTAINS_OP":
                put(Operator("not in" if number else "in", tuple(self._taken(2))))
            case "UNARY_NOT":
                put(Operator("not", tuple(self._taken(1))))
            case "UNARY_NEGATIVE":
                put(Operator("-", tuple(self._taken(1))))
            case "UNARY_INVERT":
                put(Operator("~", tuple(self._taken(1))))
            case "BUILD_TUPLE":
                self._display("tuple", self._taken(number))
            case "BUILD_LIST":
                self._display("list", self._taken(number))
            case "BUILD_MAP":
                self._display("dict", self._taken(2 * number))
            case _:
                raise NotRead

    def _argument(self, name: str) -> Node:
        found = self._arguments.get(name)
        if found is None:
            raise NotRead  # a local variable
        return found

    def _taken(self, count: int) -> list[Node]:
        """The last entries of the stack, which are values."""
        if count > len(self._stack):
            raise NotRead
        first = len(self._stack) - count
        if self._chains and first < self._chains[-1].depth:
            raise NotRead  # "in" or "is" in a chain
        taken = self._stack[first:]
        del self._stack[first:]
        values = [each for each in taken if each is not None]
        if len(values) != count:
            raise NotRead
        return values

    def _callable(self, node: Node, *, place: bool) -> None:
        self._stack.append(node)
        if place:
            self._stack.append(None)

    def _call(self, count: int, names: tuple[str, ...]) -> Node:
        args = self._taken(count)
        first, second = self._stack.pop(), self._stack.pop()  # the function and the place, in the order of the version
        function = second if first is None else first
        if self._chains and len(self._stack) < self._chains[-1].depth:
            raise NotRead
        if function is None or isinstance(function, Display) or (first is not None and second is not None):
            raise NotRead
        plain = count - len(names)
        return Call(function, tuple(args[:plain]), tuple(zip(names, args[plain:], strict=True)))

    def _index(self) -> None:
        of, index = self._taken(2)
        if isinstance(of, Display):
            raise NotRead  # a compiler may warn of it, and has warned once
        self._stack.append(Index(of, index))

    def _display(self, kind: Literal["tuple", "list", "dict"], items: list[Node]) -> None:
        self._stack.append(Display(kind, tuple(items)))
