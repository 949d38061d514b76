"""The dataset families that tokbench brings: their names, options and examples.

Importing this costs nothing: what a family needs is imported when one of its datasets is loaded.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tokbench.corpus import Dataset, DatasetFamily
from tokbench.spec import LoadContext, Option, Spec

_ERRORS = Option(
    "errors", default="strict", choices=("strict", "replace"),
    help="bytes that are not in the encoding: an error, or U+FFFD in their place",
)  # fmt: skip
_ENCODING = Option(
    "encoding", default="utf-8", help="what the text is encoded in, as cp1252, utf-16, shift_jis"
)
_LANGUAGE = Option("language", help="language tag of all of it, as eng_Latn; else what file names say")
_LANGUAGES = Option("languages", help="only these, as eng_Latn+deu_Latn")
_LINES = Option(
    "lines", default="all", choices=("all", "even", "odd"),
    help="half of aligned lines, so that one half trains what the other measures",
)  # fmt: skip
_LIMIT = Option("max_document_bytes", "int", help="hand out longer documents in parts; bounds memory")

JSON_LINES = (".jsonl", ".ndjson", ".jsonlines")
DELIMITED = (".csv", ".tsv", ".tab")
PARQUET = (".parquet",)
CONLLU = (".conllu",)

_FIELD = Option("field", default="text", help="the field that holds the text")
_MISSING = Option(
    "missing", default="error", choices=("error", "skip"), help="rows without the field, or with null in it"
)
_ROWS = (
    _FIELD,
    Option("language_field", help="the field that holds each row's language tag"),
    Option(
        "cluster",
        help="the field that says which rows belong together, as an article: intervals draw them together",
    ),
    *(_LANGUAGE, _LANGUAGES, _MISSING, _ERRORS),
)
_TEXT_ROWS = (*_ROWS, _ENCODING)


def _family(
    name: str, summary: str, variant: str, *options: Option, load: str = "", **more: Any
) -> DatasetFamily:
    """A family whose datasets `load` loads, MODULE.FUNCTION of this package, imported at the first call.

    By default it is ``load`` of the module of the family's name.
    """
    module, _, function = (load or f"{name}.load").partition(".")

    def loaded(spec: Spec, context: LoadContext) -> Dataset:
        dataset: Dataset = getattr(import_module(f"tokbench.corpora.{module}"), function)(spec, context)
        return dataset

    return DatasetFamily(name=name, summary=summary, load=loaded, variant=variant, options=options, **more)


FAMILIES = (
    _family(
        "bundled", "corpora that come with tokbench: parallel, code, tricky, prose", "NAME",
        _LANGUAGES, _LINES,
        examples=("bundled:parallel", "bundled:parallel,languages=eng_Latn+tha_Thai", "bundled:code"),
    ),
    _family(
        "text", "plain text or source code: a file, a folder, a pattern, a URL", "PATH",
        Option(
            "unit", choices=("line", "paragraph", "file"),
            help="what a document is: line for text, file for code unless said",
        ),
        Option(
            "kind", default="text", choices=("text", "code"),
            help="code: language tags are programming languages, by file ending",
        ),
        Option(
            "cluster", choices=("block", "document"),
            help="what intervals draw together: blocks of consecutive lines or paragraphs, or nothing",
        ),
        _LANGUAGE, _ERRORS, _ENCODING, _LIMIT,
        examples=("text:novel.txt", "text:corpus/**/*.txt.gz,language=eng_Latn", "text:src,kind=code"),
    ),
    _family(
        "jsonl", "JSON lines: an object per line, the text in a field", "PATH",
        *_TEXT_ROWS,
        endings=JSON_LINES,
        examples=("jsonl:dump.jsonl.zst", "jsonl:chat.jsonl,field=content,language_field=lang"),
    ),
    _family(
        "csv", "CSV or TSV with a header, the text in a column", "PATH",
        *_TEXT_ROWS,
        Option("delimiter", help="one character, or tab; else by the file's ending"),
        load="delimited.load", endings=DELIMITED,
        examples=("csv:reviews.csv,field=review", "csv:table.tsv,field=text"),
    ),
    _family(
        "parquet", "Parquet: the text in a column, read by row groups", "PATH",
        *_ROWS,
        endings=PARQUET,
        examples=("parquet:part-*.parquet,field=text", "parquet:s3://bucket/wiki/*.parquet"),
    ),
    _family(
        "parallel", "a folder of LANG.txt files, parallel line by line", "FOLDER",
        _LANGUAGES, _LINES, _ERRORS, _ENCODING,
        load="parallel.load_parallel",
        examples=("parallel:pud", "parallel:pud,languages=eng_Latn+fin_Latn"),
    ),
    _family(
        "flores", "a FLORES-200 folder: dev/LANG.dev, devtest/LANG.devtest", "FOLDER",
        Option("split", choices=("dev", "devtest"), help="dev where there is one, else devtest"),
        _LANGUAGES, _LINES, _ERRORS, _ENCODING,
        load="parallel.load_flores",
        examples=("flores:flores200_dataset", "flores:flores200_dataset,split=devtest"),
    ),
    _family(
        "conllu", "treebanks in CoNLL-U: sentences with gold words", "PATH",
        Option("punctuation", "bool", True, help="whether words tagged PUNCT count as words"),
        _LANGUAGE, _LANGUAGES, _ERRORS, _ENCODING,
        endings=CONLLU,
        examples=("conllu:en_pud-ud-test.conllu,language=eng_Latn",),
    ),
    _family(
        "hub", "Hugging Face `datasets` (installed separately), streamed", "NAME",
        Option("config", help="the configuration, where the set has several"),
        Option("split", default="train", help="the split"),
        Option("revision", help="branch, tag or commit; a commit makes the run repeatable"),
        Option("rows", "int", help="only the first so many rows"),
        Option("streaming", "bool", True, help="stream, or download and read from the cache"),
        _FIELD, _LANGUAGE, _MISSING,
        examples=("hub:wikimedia/wikipedia,config=20231101.sw,language=swh_Latn,rows=10k",),
    ),
    _family(
        "counts", "counted pre-tokens, as `tokbench count` writes them, to train on", "FILE",
        _LANGUAGES,
        Option("alpha", "float", help="a language's share becomes its share to this power; 1: as in the text"),
        Option("weights", help="what languages count more or less, as eng_Latn=0.5+swh_Latn=4"),
        examples=("counts:counts.parquet", "counts:counts.parquet,alpha=0.3"),
    ),
    _family(
        "stdlib", "the running Python's standard library: code (sources), docs (docstrings)", "code|docs",
        load="standard_library.load",
        examples=("stdlib:code", "stdlib:docs"),
    ),
)  # fmt: skip
