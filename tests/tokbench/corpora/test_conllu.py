from __future__ import annotations

import pytest

from tokbench.corpora import blocks
from tokbench.errors import CorpusError

SENTENCES = """\
# sent_id = 1
# text = Vámonos al mar, "¡ya!"
1-2	Vámonos	_	_	_	_	_	_	_	_
1	Vamos	ir	VERB	_	_	0	root	_	_
2	nos	nosotros	PRON	_	_	1	obj	_	_
3-4	al	_	_	_	_	_	_	_	_
3	a	a	ADP	_	_	5	case	_	_
4	el	el	DET	_	_	5	det	_	_
5	mar	mar	NOUN	_	_	1	obl	_	SpaceAfter=No
6	,	,	PUNCT	_	_	1	punct	_	_
6.1	nothing	_	_	_	_	_	_	_	_
7	"	"	PUNCT	_	_	8	punct	_	SpaceAfter=No
8	¡ya!	ya	ADV	_	_	1	advmod	_	Gloss=now|SpaceAfter=No
9	"	"	PUNCT	_	_	8	punct	_	_

# sent_id = 2
1	10 000	10000	NUM	_	_	2	nummod	_	_
2	barcos	barco	NOUN	_	_	0	root	_	SpaceAfter=No
3	.	.	PUNCT	_	_	2	punct	_	_

"""


def words(document):
    return [document.text[start:end] for start, end in document.words]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_gold_words(tmp_path, load, read, end):
    path = tmp_path / "spa_Latn.conllu"
    path.write_bytes(SENTENCES.replace("\n", end).encode())
    dataset = load(f"conllu:{path}")
    first, second = read(dataset)
    assert dataset.word_unit == "gold"
    assert dataset.languages == ["spa_Latn"]
    assert first.text == 'Vámonos al mar, "¡ya!"'
    assert words(first) == ["Vámonos", "al", "mar", ",", '"', "¡ya!", '"']
    assert second.text == "10 000 barcos."
    assert words(second) == ["10 000", "barcos", "."]
    without = read(load(f"conllu:{path},punctuation=false"))
    assert words(without[0]) == ["Vámonos", "al", "mar", "¡ya!"]


def test_sentences_survive_any_cut(tmp_path, load, read, monkeypatch):
    path = tmp_path / "spa_Latn.conllu"
    path.write_text(SENTENCES * 40, "utf-8")
    expected = [words(document) for document in read(load(f"conllu:{path}"))]
    monkeypatch.setattr(blocks.cut, "__kwdefaults__", {"target": 1500})
    dataset = load(f"conllu:{path}")
    assert len(dataset.shards("spa_Latn")) > 5
    assert [words(document) for document in read(dataset)] == expected


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("5\tmar\tmar", "5\tmaar\tmar", r"line 1: the word 'maar' is not at character 11 .*'mar,"),
        ("5\tmar\tmar", "5 mar mar", "line 9: 8 columns between tabs, where CoNLL-U has 10"),
        ("3-4\tal", "3-x\tal", "line 6: '3-x' is no range of words"),
        ("3-4\tal", "3-²\tal", "line 6: '3-²' is no range of words"),
        ("3-4\tal", "x-4\tal", "line 6: 'x-4' is no range of words"),
    ],
)
def test_errors_are_located(tmp_path, load, read, old, new, message):
    path = tmp_path / "spa_Latn.conllu"
    path.write_text(SENTENCES.replace(old, new), "utf-8")
    with pytest.raises(CorpusError, match=message):
        read(load(f"conllu:{path}"))


def test_treebanks_as_published(test_data, load, read):
    folder = test_data / "corpora" / "pud"
    dataset = load(f"conllu:{folder / 'conllu'}")
    assert dataset.languages == ["deu_Latn", "eng_Latn", "jpn_Jpan", "tur_Latn"]
    plain = load(f"parallel:{folder}")
    for language in dataset.languages:
        documents = read(dataset, language)
        assert [d.text for d in documents] == [d.text for d in read(plain, language)]
        for document in documents:
            gaps = zip(document.words, document.words[1:], strict=False)
            assert all(a[1] <= b[0] and not document.text[a[1] : b[0]].strip() for a, b in gaps)
