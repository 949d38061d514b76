"""What is known of languages: name, family and script by tag, for grouping figures and labelling plots.

Tags are those of FLORES-200 (``tha_Thai``: ISO 639-3 and ISO 15924) or BCP 47 (``th``, ``zh-Hant``,
``pt-BR``). Names, codes and families are public facts, written down here; families are the top level of the
usual classifications.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Language:
    """One language as it is written in one script.

    `code` is ISO 639-3, `short` ISO 639-1 or empty, `script` ISO 15924. `spaced` says whether its words are
    written with spaces between them.

    Example:
        >>> thai = lookup("tha_Thai")
        >>> thai.name, thai.family, thai.spaced
        ('Thai', 'Kra-Dai', False)
    """

    code: str
    short: str
    name: str
    family: str
    script: str

    @property
    def tag(self) -> str:
        """The tag as FLORES-200 writes it."""
        return f"{self.code}_{self.script}"

    @property
    def script_name(self) -> str:
        """The script's name in English."""
        return SCRIPTS.get(self.script, self.script)

    @property
    def spaced(self) -> bool:
        """Whether words are written with spaces between them."""
        return self.script not in UNSPACED


SCRIPTS: dict[str, str] = {
    "Arab": "Arabic", "Armn": "Armenian", "Beng": "Bengali", "Cans": "Canadian Aboriginal",
    "Cher": "Cherokee", "Cyrl": "Cyrillic", "Deva": "Devanagari", "Ethi": "Ethiopic", "Geor": "Georgian",
    "Grek": "Greek", "Gujr": "Gujarati", "Guru": "Gurmukhi", "Hang": "Hangul", "Hans": "Han (simplified)",
    "Hant": "Han (traditional)", "Hebr": "Hebrew", "Jpan": "Japanese", "Khmr": "Khmer", "Knda": "Kannada",
    "Laoo": "Lao", "Latn": "Latin", "Mlym": "Malayalam", "Mong": "Mongolian", "Mtei": "Meetei Mayek",
    "Mymr": "Myanmar", "Nkoo": "Nko", "Olck": "Ol Chiki", "Orya": "Oriya", "Sinh": "Sinhala",
    "Syrc": "Syriac", "Taml": "Tamil", "Telu": "Telugu", "Tfng": "Tifinagh", "Thaa": "Thaana", "Thai": "Thai",
    "Tibt": "Tibetan",
}  # fmt: skip
"""ISO 15924 codes and English names of the scripts used here."""

UNICODE_SCRIPTS: dict[str, tuple[str, ...]] = {
    "Hans": ("Han",),
    "Hant": ("Han",),
    "Jpan": ("Han", "Hiragana", "Katakana"),
}
"""The Unicode scripts that make up a writing system, where they are not the one of the same name."""

UNSPACED = frozenset({"Hans", "Hant", "Jpan", "Khmr", "Laoo", "Mymr", "Thai", "Tibt"})
"""Scripts in which words are not set apart by spaces."""


def unicode_scripts(script: str) -> tuple[str, ...]:
    """The names of the Unicode scripts that an ISO 15924 code stands for.

    Example:
        >>> unicode_scripts("Jpan"), unicode_scripts("Olck")
        (('Han', 'Hiragana', 'Katakana'), ('Ol_Chiki',))
    """
    return UNICODE_SCRIPTS.get(script, (SCRIPTS.get(script, script).replace(" ", "_"),))


def lookup(tag: str) -> Language | None:
    """The language of a tag, or None where it is not in the table; a script in the tag wins over the usual one.

    Example:
        >>> lookup("zh-Hant").tag, lookup("pt-BR").tag, lookup("srp_Latn").script, lookup("all")
        ('zho_Hant', 'por_Latn', 'Latn', None)
    """
    head, *rest = re.split(r"[-_]", tag.strip())
    known = _by_code().get(head.lower())
    if known is None:
        return None
    for part in rest:
        if part.title() in SCRIPTS:
            return Language(known.code, known.short, known.name, known.family, part.title())
    if known.code in ("zho", "cmn") and any(part.upper() in ("TW", "HK", "MO") for part in rest):
        return Language(known.code, known.short, known.name, known.family, "Hant")
    return known


def languages() -> tuple[Language, ...]:
    """Every language of the table, once for each of its scripts."""
    return _table()


def label(tag: str) -> str:
    """The name to show for a tag: with the script where the language has several; the tag itself if unknown.

    Example:
        >>> label("fra_Latn"), label("srp_Latn"), label("xx")
        ('French', 'Serbian (Latin)', 'xx')
    """
    known = lookup(tag)
    if known is None:
        return tag
    several = sum(each.code == known.code for each in _table()) > 1
    return f"{known.name} ({known.script_name})" if several else known.name


def groups(tags: Iterable[str], by: str) -> Mapping[str, list[str]]:
    """The tags by ``"script"`` (its name) or ``"family"``; those not in the table are under ``"unknown"``.

    Example:
        >>> groups(["fra_Latn", "rus_Cyrl", "deu_Latn"], "script")
        {'Latin': ['fra_Latn', 'deu_Latn'], 'Cyrillic': ['rus_Cyrl']}
    """
    found: dict[str, list[str]] = {}
    for tag in tags:
        known = lookup(tag)
        name = "unknown" if known is None else known.script_name if by == "script" else known.family
        found.setdefault(name, []).append(tag)
    return found


@cache
def _table() -> tuple[Language, ...]:
    rows: list[Language] = []
    family = ""
    for line in _LANGUAGES.strip().splitlines():
        if line.startswith("#"):
            family = line[2:]
            continue
        codes, scripts, name = line.split(" ", 2)
        code, _, short = codes.partition("/")
        rows += [Language(code, short, name, family, script) for script in scripts.split(",")]
    return tuple(rows)


@cache
def _by_code() -> dict[str, Language]:
    """The first row of each language by ISO 639-3, ISO 639-1 and the codes that tags use for the same."""
    found: dict[str, Language] = {}
    for row in _table():
        found.setdefault(row.code, row)
        if row.short:
            found.setdefault(row.short, row)
    for other, code in _ALIASES.items():
        found.setdefault(other, found[code])
    return found


_ALIASES = {
    "ara": "arb", "aze": "azj", "aym": "ayr", "fas": "pes", "ful": "fuv", "iw": "heb", "in": "ind",
    "jw": "jav", "kau": "knc", "kur": "kmr", "mlg": "plt", "mon": "khk", "msa": "zsm", "nep": "npi",
    "no": "nob", "nor": "nob", "ori": "ory", "orm": "gaz", "pus": "pbt", "que": "quy", "fil": "tgl",
    "sqi": "als", "swa": "swh", "uzb": "uzn", "yid": "ydd", "din": "dik", "kok": "gom", "sr": "srp",
    "tw": "twi",
}  # fmt: skip
"""Macrolanguages and older codes, and the code in the table that they mean."""

# ISO 639-3/ISO 639-1, scripts (the usual one first), name; by family.
_LANGUAGES = """
# Austronesian
ace Arab,Latn Acehnese
ban Latn Balinese
bjn Arab,Latn Banjar
bug Latn Buginese
ceb Latn Cebuano
fij/fj Latn Fijian
ilo Latn Ilocano
ind/id Latn Indonesian
jav/jv Latn Javanese
min Arab,Latn Minangkabau
mri/mi Latn Maori
pag Latn Pangasinan
plt/mg Latn Malagasy
smo/sm Latn Samoan
sun/su Latn Sundanese
tgl/tl Latn Tagalog
war Latn Waray
zsm/ms Latn Malay
haw Latn Hawaiian
ton/to Latn Tongan
tah/ty Latn Tahitian
cha/ch Latn Chamorro
mah/mh Latn Marshallese
# Afro-Asiatic
aeb Arab Tunisian Arabic
acm Arab Mesopotamian Arabic
acq Arab Taizzi-Adeni Arabic
ajp Arab South Levantine Arabic
apc Arab North Levantine Arabic
arb/ar Arab,Latn Arabic
ars Arab Najdi Arabic
ary Arab Moroccan Arabic
arz Arab Egyptian Arabic
amh/am Ethi Amharic
gaz/om Latn Oromo
hau/ha Latn Hausa
heb/he Hebr Hebrew
kab Latn Kabyle
mlt/mt Latn Maltese
som/so Latn Somali
taq Latn,Tfng Tamasheq
tir/ti Ethi Tigrinya
tzm Tfng Central Atlas Tamazight
syr Syrc Syriac
zgh Tfng Standard Moroccan Tamazight
# Indo-European
afr/af Latn Afrikaans
als/sq Latn Albanian
asm/as Beng Assamese
ast Latn Asturian
awa Deva Awadhi
bel/be Cyrl Belarusian
ben/bn Beng Bengali
bho Deva Bhojpuri
bos/bs Latn Bosnian
bul/bg Cyrl Bulgarian
cat/ca Latn Catalan
ces/cs Latn Czech
ckb Arab Central Kurdish
cym/cy Latn Welsh
dan/da Latn Danish
deu/de Latn German
ell/el Grek Greek
eng/en Latn English
fao/fo Latn Faroese
fra/fr Latn French
fur Latn Friulian
gla/gd Latn Scottish Gaelic
gle/ga Latn Irish
glg/gl Latn Galician
guj/gu Gujr Gujarati
hin/hi Deva Hindi
hne Deva Chhattisgarhi
hrv/hr Latn Croatian
hye/hy Armn Armenian
isl/is Latn Icelandic
ita/it Latn Italian
kas/ks Arab,Deva Kashmiri
kmr/ku Latn Northern Kurdish
lav/lv Latn Latvian
lvs Latn Latvian
lij Latn Ligurian
lim/li Latn Limburgish
lit/lt Latn Lithuanian
lmo Latn Lombard
ltg Latn Latgalian
ltz/lb Latn Luxembourgish
mag Deva Magahi
mai Deva Maithili
mar/mr Deva Marathi
mkd/mk Cyrl Macedonian
nld/nl Latn Dutch
nno/nn Latn Norwegian Nynorsk
nob/nb Latn Norwegian Bokmål
npi/ne Deva Nepali
oci/oc Latn Occitan
ory/or Orya Odia
pan/pa Guru,Arab Punjabi
pbt/ps Arab Pashto
pes/fa Arab Persian
pol/pl Latn Polish
por/pt Latn Portuguese
prs Arab Dari
ron/ro Latn Romanian
rus/ru Cyrl Russian
san/sa Deva Sanskrit
scn Latn Sicilian
sin/si Sinh Sinhala
slk/sk Latn Slovak
slv/sl Latn Slovenian
snd/sd Arab,Deva Sindhi
spa/es Latn Spanish
srd/sc Latn Sardinian
srp/sr Cyrl,Latn Serbian
swe/sv Latn Swedish
szl Latn Silesian
tgk/tg Cyrl Tajik
ukr/uk Cyrl Ukrainian
urd/ur Arab Urdu
vec Latn Venetian
ydd/yi Hebr Yiddish
lat/la Latn Latin
bre/br Latn Breton
fry/fy Latn Western Frisian
gsw Latn Swiss German
nds Latn Low German
sco Latn Scots
roh/rm Latn Romansh
oss/os Cyrl Ossetian
div/dv Thaa Dhivehi
hsb Latn Upper Sorbian
csb Latn Kashubian
cor/kw Latn Cornish
glv/gv Latn Manx
gom Deva Konkani
doi Deva Dogri
arg/an Latn Aragonese
cos/co Latn Corsican
wln/wa Latn Walloon
pnb Arab Western Punjabi
rue Cyrl Rusyn
# Niger-Congo
aka/ak Latn Akan
bem Latn Bemba
cjk Latn Chokwe
dyu Latn Dyula
ewe/ee Latn Ewe
fon Latn Fon
fuv/ff Latn Fulfulde
ibo/ig Latn Igbo
kam Latn Kamba
kbp Latn Kabiyè
kik/ki Latn Kikuyu
kin/rw Latn Kinyarwanda
kmb Latn Kimbundu
kon/kg Latn Kongo
lin/ln Latn Lingala
lua Latn Luba-Kasai
lug/lg Latn Ganda
mos Latn Mossi
nso Latn Northern Sotho
nya/ny Latn Chichewa
run/rn Latn Rundi
sag/sg Latn Sango
sna/sn Latn Shona
sot/st Latn Southern Sotho
ssw/ss Latn Swati
swh/sw Latn Swahili
tsn/tn Latn Tswana
tso/ts Latn Tsonga
tum Latn Tumbuka
twi/tw Latn Twi
umb Latn Umbundu
wol/wo Latn Wolof
xho/xh Latn Xhosa
yor/yo Latn Yoruba
zul/zu Latn Zulu
ven/ve Latn Venda
nbl/nr Latn Southern Ndebele
gaa Latn Ga
# Mande
bam/bm Latn Bambara
nqo Nkoo N'Ko
# Nilo-Saharan
dik Latn Dinka
knc Arab,Latn Central Kanuri
luo Latn Luo
nus Latn Nuer
# Turkic
azb Arab South Azerbaijani
azj/az Latn North Azerbaijani
bak/ba Cyrl Bashkir
crh Latn Crimean Tatar
kaz/kk Cyrl Kazakh
kir/ky Cyrl Kyrgyz
tat/tt Cyrl Tatar
tuk/tk Latn Turkmen
tur/tr Latn Turkish
uig/ug Arab Uyghur
uzn/uz Latn Uzbek
chv/cv Cyrl Chuvash
sah Cyrl Yakut
tyv Cyrl Tuvan
# Sino-Tibetan
bod/bo Tibt Tibetan
dzo/dz Tibt Dzongkha
kac Latn Jingpho
lus Latn Mizo
mni Beng,Mtei Meitei
mya/my Mymr Burmese
yue Hant Cantonese
zho/zh Hans,Hant Chinese
cmn Hans,Hant Mandarin Chinese
nan Hant,Latn Min Nan Chinese
wuu Hans Wu Chinese
lzh Hant Classical Chinese
hak Hant Hakka Chinese
brx Deva Bodo
# Uralic
est/et Latn Estonian
ekk Latn Standard Estonian
fin/fi Latn Finnish
hun/hu Latn Hungarian
sme/se Latn Northern Sami
myv Cyrl Erzya
mhr Cyrl Meadow Mari
udm Cyrl Udmurt
kpv Cyrl Komi-Zyrian
krl Latn Karelian
vro Latn Võro
# Dravidian
kan/kn Knda Kannada
mal/ml Mlym Malayalam
tam/ta Taml Tamil
tel/te Telu Telugu
tcy Knda Tulu
# Austroasiatic
khm/km Khmr Khmer
sat Olck Santali
vie/vi Latn Vietnamese
kha Latn Khasi
# Kra-Dai
lao/lo Laoo Lao
shn Mymr Shan
tha/th Thai Thai
zha/za Latn Zhuang
# Japonic
jpn/ja Jpan Japanese
# Koreanic
kor/ko Hang Korean
# Kartvelian
kat/ka Geor Georgian
# Mongolic
khk/mn Cyrl,Mong Mongolian
bxr Cyrl Buryat
xal Cyrl Kalmyk
# Language isolate
eus/eu Latn Basque
# Aymaran
ayr/ay Latn Aymara
# Quechuan
quy/qu Latn Ayacucho Quechua
# Tupian
grn/gn Latn Guarani
# Creole
hat/ht Latn Haitian Creole
kea Latn Kabuverdianu
pap Latn Papiamento
tpi Latn Tok Pisin
mfe Latn Mauritian Creole
pcm Latn Nigerian Pidgin
bis/bi Latn Bislama
# Northwest Caucasian
abk/ab Cyrl Abkhazian
ady Cyrl Adyghe
kbd Cyrl Kabardian
# Northeast Caucasian
che/ce Cyrl Chechen
ava/av Cyrl Avar
lez Cyrl Lezgian
# Eskimo-Aleut
kal/kl Latn Greenlandic
iku/iu Cans Inuktitut
# Algic
cre/cr Cans Cree
oji/oj Cans Ojibwe
# Na-Dene
nav/nv Latn Navajo
# Iroquoian
chr Cher Cherokee
# Uto-Aztecan
nah Latn Nahuatl
# Mayan
yua Latn Yucatec Maya
quc Latn K'iche'
# Constructed
epo/eo Latn Esperanto
ina/ia Latn Interlingua
ido/io Latn Ido
tok Latn Toki Pona
vol/vo Latn Volapük
"""
