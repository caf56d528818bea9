"""What is shared has a run; what is copied or pickled is only how it shares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any


class Described(ABC):
    """A publisher with slots and a run of its own: a copy begins without a run, also while there is one."""

    __slots__ = ()

    @abstractmethod
    def _at_first(self) -> dict[str, object]:
        """The slots that belong to the run, as they are when there is none."""

    def __getstate__(self) -> tuple[None, dict[str, object]]:
        state: Any = super().__getstate__()
        return None, state[1] | self._at_first()
