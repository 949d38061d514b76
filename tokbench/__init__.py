"""tokbench compares tokenizers: compression, cost per language, fairness, losslessness, speed.

Every tokenizer is a plugin, in-house ones included. Plugin authors need what is named here and
`tokbench.testing`; users of the Python API need `load`, `load_dataset` and `run`.

Example:
    >>> import tokbench
    >>> tokenizer = tokbench.load("bytes")
    >>> list(tokenizer.encode("hi"))
    [104, 105]
"""

from tokbench.api import load, load_dataset, run
from tokbench.batch import Ids, TokenBatch
from tokbench.capabilities import (
    BatchDecoder,
    BatchEncoder,
    BatchOffsetEncoder,
    BatchTokenByter,
    Describable,
    EncoderWithOffsets,
    OffsetEncoder,
    Sampler,
    Savable,
    Step,
    TokenByter,
    Traceable,
    Utf8Encoder,
)
from tokbench.corpus import Dataset, DatasetFamily, Document, Shard
from tokbench.errors import (
    CorpusError,
    FormatError,
    PluginError,
    ResultsError,
    SpecError,
    TokbenchError,
    TokenizerError,
    Undefined,
    UnknownNameError,
)
from tokbench.extension import Command, Engine, Plot, ReportWriter
from tokbench.family import LoadContext, Progress, TokenizerFamily
from tokbench.hookspecs import hookimpl
from tokbench.lint.check import Check, Finding, Outcome
from tokbench.metrics.counts import Counts
from tokbench.metrics.metric import Metric
from tokbench.spec import Option, Spec
from tokbench.tokenizer import Tokenizer
from tokbench.training_corpus import TrainingCorpus

__version__ = "0.1.0"

__all__ = [
    "BatchDecoder",
    "BatchEncoder",
    "BatchOffsetEncoder",
    "BatchTokenByter",
    "Check",
    "Command",
    "CorpusError",
    "Counts",
    "Dataset",
    "DatasetFamily",
    "Describable",
    "Document",
    "EncoderWithOffsets",
    "Engine",
    "Finding",
    "FormatError",
    "Ids",
    "LoadContext",
    "Metric",
    "OffsetEncoder",
    "Option",
    "Outcome",
    "Plot",
    "PluginError",
    "Progress",
    "ReportWriter",
    "ResultsError",
    "Sampler",
    "Savable",
    "Shard",
    "Spec",
    "SpecError",
    "Step",
    "TokbenchError",
    "TokenBatch",
    "TokenByter",
    "Tokenizer",
    "TokenizerError",
    "TokenizerFamily",
    "Traceable",
    "TrainingCorpus",
    "Undefined",
    "UnknownNameError",
    "Utf8Encoder",
    "hookimpl",
    "load",
    "load_dataset",
    "run",
]
