"""``python -m corpus``."""

import sys

try:
    from corpus.cli import main

    code = main()
except KeyboardInterrupt:  # while it is imported, which may take a second; main() itself answers for everything later
    print("corpus: interrupted", file=sys.stderr)
    code = 130
sys.exit(code)
