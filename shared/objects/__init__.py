"""Places for files: a folder, or a bucket of an S3-compatible store."""

from shared.objects.store import Entry, Objects
from shared.objects.target import open_objects

__all__ = ["Entry", "Objects", "open_objects"]
