"""Built-in texts for checks: one sentence in eighteen languages, and texts that are hard to give back."""

from __future__ import annotations

# The first sentence of article 1 of the Universal Declaration of Human Rights (United Nations, 1948).
SENTENCES: dict[str, str] = {
    "English": "All human beings are born free and equal in dignity and rights.",
    "German": "Alle Menschen sind frei und gleich an Würde und Rechten geboren.",
    "French": "Tous les êtres humains naissent libres et égaux en dignité et en droits.",
    "Spanish": "Todos los seres humanos nacen libres e iguales en dignidad y derechos.",
    "Vietnamese": "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi.",
    "Russian": "Все люди рождаются свободными и равными в своём достоинстве и правах.",
    "Greek": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.",
    "Hebrew": "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם.",
    "Arabic": "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق.",
    "Hindi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।",
    "Bengali": "সমস্ত মানুষ স্বাধীনভাবে সমান মর্যাদা এবং অধিকার নিয়ে জন্মগ্রহণ করে।",
    "Tamil": "மனிதப் பிறவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர்; அவர்கள் மதிப்பிலும் உரிமைகளிலும் சமமானவர்கள்.",
    "Thai": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ",
    "Chinese": "人人生而自由，在尊严和权利上一律平等。",
    "Japanese": "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。",
    "Korean": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
    "Georgian": "ყველა ადამიანი იბადება თავისუფალი და თანასწორი თავისი ღირსებითა და უფლებებით.",
    "Armenian": "Բոլոր մարդիկ ծնվում են ազատ ու հավասար իրենց արժանապատվությամբ ու իրավունքներով։",
}

ROUND_TRIPS: tuple[str, ...] = (
    *SENTENCES.values(),
    "The QUICK brown fox, it's John's; WE'LL see! (3.14 + 1,000) x y",
    "def f(x):\n    return {'a': [1, 2]}\t# no\r\n\n\n",
    " leading", "trailing ", "two  spaces", "   ", "a\tb", "line\nbreak", "a\u00a0b\u3000c",
    "café cafe\u0301 ﬁ ① ½ ＡＢＣ K Å", "Straße İI ΣΊΣΥΦΟΣ", "naïve–“quoted”…™",
    "\N{THUMBS UP SIGN}\N{EMOJI MODIFIER FITZPATRICK TYPE-4} \N{WOMAN}\N{ZERO WIDTH JOINER}\N{GIRL}",
    "a\u200bb\u00adc", "▁a▁b", "##a Ġb <0x41>", "龘 𠮷 \U00012000 ᚠ",
)  # fmt: skip

PRINTABLE = "".join(map(chr, range(0x20, 0x7F)))
"""Printable ASCII: no tokenizer may lack any of it."""
