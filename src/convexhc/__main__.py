"""`python -m convexhc`: the command line."""

import sys

from convexhc.cli import main

sys.exit(main())
