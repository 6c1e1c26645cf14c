"""Places for files: a folder, or a bucket of an S3-compatible store."""

from shared.foundation.objects.store import Entry, Objects
from shared.foundation.objects.target import open_objects

__all__ = ["Entry", "Objects", "open_objects"]
