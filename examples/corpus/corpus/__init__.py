"""One reactive pipeline over real text: which identifiers does each package of a body of Python source use?

The program is an ordinary package in a folder of its own, so that worker processes can import it: whatever travels
to them (``read_entries``, ``combine``, ...) is a module-level function here and pickles by name.  A cluster needs
``PACKAGE_FOLDER`` on its import path.
"""

from pathlib import Path
from typing import Final

PACKAGE_FOLDER: Final = Path(__file__).resolve().parent.parent
"""The folder that must be on the import path for ``import corpus`` to work."""
