"""Sources of plugins that more than one file of this folder tries."""

DATASET = """
from tokbench import DatasetFamily, Document, Shard

class Mine:
    name, languages, parallel = "mine", ("eng",), False
    def shards(self, language):
        {shards}
        return [Shard(language, "mine", n_bytes=10)]
    def read(self, shard):
        {read}
        yield Document("some words of a text")
    def digest(self, shard):
        return "constant"

@tokbench.hookimpl
def tokbench_datasets():
    return [DatasetFamily(name="mine", summary="", load=lambda spec, context: Mine())]
"""
"""A dataset of one document: `shards` and `read` are what its two methods do before."""
