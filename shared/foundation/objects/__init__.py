"""Places for files: a folder, or a bucket of an S3-compatible store."""

from shared.foundation.objects.store import Objects, StoredFile
from shared.foundation.objects.target import open_objects

__all__ = ["Objects", "StoredFile", "open_objects"]
