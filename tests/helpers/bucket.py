"""A filesystem of fsspec, shared by processes, that copies files where others rename them.

Its files are on the local disk: ``bucket://`` is followed by the path of a local file.
"""

import fsspec
from fsspec.implementations.local import LocalFileSystem

from sklearn_rankscore.streaming import remote_lock


class Bucket(LocalFileSystem):
    """A filesystem in which a process can be killed between two steps, also of a copy."""

    protocol = "bucket"
    before_each_step = staticmethod(int)

    @classmethod
    def _strip_protocol(cls, path):
        return super()._strip_protocol(path.removeprefix("bucket://"))

    def unstrip_protocol(self, name):
        return f"bucket://{name}"

    def open(self, path, mode="rb", **options):
        if mode == "wb":
            self.before_each_step()
        return super().open(path, mode, **options)

    def mv(self, path1, path2, **options):
        content = self.cat_file(path1)
        with self.open(path2, "wb") as file:
            for part in (content[: len(content) // 2], content[len(content) // 2 :]):
                file.write(part)
                file.flush()
                self.before_each_step()
        self.rm_file(path1)

    def rm_file(self, path):
        self.before_each_step()
        super().rm_file(path)


def register():
    """Let URIs name the filesystem; its locks are abandoned soon, so that tests need not wait."""
    fsspec.register_implementation("bucket", Bucket, clobber=True)
    remote_lock.RENEWED_SECONDS, remote_lock.ABANDONED_SECONDS = 0.02, 0.2
    remote_lock.POLLED_SECONDS = 0.01
