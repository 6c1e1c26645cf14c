"""From what an operator writes to a place for files."""

from pathlib import Path

from shared.foundation.core.errors import ConfigurationError
from shared.foundation.objects.folder import Folder
from shared.foundation.objects.store import Objects

_S3 = "s3://"


def open_objects(target: str) -> Objects:
    """Returns the place that `target` names: a folder, or `s3://BUCKET/PREFIX`.

    Raises `ConfigurationError` for another scheme, a missing bucket, or if the extra `s3` is not
    installed.
    """
    if not target.startswith(_S3):
        _, found, _ = target.partition("://")
        if found or not target:
            raise ConfigurationError(f"cannot use {target!r}: pass a folder or s3://BUCKET/PREFIX")
        return Folder(Path(target))
    bucket, _, prefix = target.removeprefix(_S3).partition("/")
    if not bucket:
        raise ConfigurationError(f"{target!r} has no bucket: pass s3://BUCKET/PREFIX")
    try:
        from shared.foundation.objects.s3 import Bucket  # the only module that needs the extra
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"{target!r} needs the package obstore: run `pip install .[s3]`"
        ) from error
    return Bucket(bucket, prefix.strip("/"))
