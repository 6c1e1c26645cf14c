"""What other packages ask of incidents.

Who opens or resolves one uses `shared.incidents.firing`, which announces it besides.
"""

from shared.incidents.folding import Opened, open_or_fold
from shared.incidents.lifecycle import resolve
from shared.incidents.listing import open_counts

__all__ = ["Opened", "open_counts", "open_or_fold", "resolve"]
