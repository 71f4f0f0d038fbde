"""Texts of many kinds: languages, scripts, emoji, code, numbers, control characters, long ones and empty ones."""
import random

SENTENCES = """
The cat sat on the mat.
A quick brown fox jumps over the lazy dog, twice a day, unless it rains.
What is the capital of France?
Paris is the capital and most populous city of France.
User prefers Python over Rust for small scripts; Rust for daemons.
I moved from Berlin to Lisbon in March 2021.
Remember that my daughter's birthday is on the 4th of July.
He didn't say "never"; he said 'rarely' -- and meant it...
The invoice no. 2024-00317 over 1,299.00 € is due on 2024-12-31.
E = mc² and a² + b² = c²; ½ of ¾ is ⅜.
+1 (555) 010-9999, user.name+tag@example.co.uk, https://example.com/a/b?c=d&e=%20f#g
fn main() { let x: Vec<u32> = (0..10).map(|i| i * i).collect(); println!("{x:?}"); }
SELECT name, COUNT(*) FROM users WHERE age >= 18 AND city <> 'Berlin' GROUP BY 1 ORDER BY 2 DESC;
def f(a, *b, **c): return {k: v for k, v in c.items() if k not in b}  # a comment
for (i = 0; i < n; ++i) { a[i] ^= 0xDEADBEEF; }
{"key": [1, 2.5, -3e10, null, true], "nested": {"a": "b\\n"}}
rm -rf ./target && cargo build --release 2>&1 | tee build.log
<p class="x">Hello &amp; goodbye</p><!-- nothing -->
supercalifragilisticexpialidocious antidisestablishmentarianism pneumonoultramicroscopicsilicovolcanoconiosis
ALL CAPS TEXT IS SHOUTING, isn't IT? camelCase snake_case kebab-case SCREAMING_SNAKE_CASE
Die Straße ist naß; der Fuß schmerzt, und Österreich grüßt die Schweiz. STRASSE ẞ
Où est la bibliothèque ? L'été dernier, j'ai mangé des crêpes à Orléans — délicieux !
El niño comió piñas en España; ¿cuándo volverás? ¡Qué lástima!
Não há razão para não irmos à praia amanhã, disse o avô à avó.
Perché no? Così è la vita, più o meno; città, virtù, caffè.
Zażółć gęślą jaźń. Łódź, Kraków, Gdańsk i Wrocław.
Příliš žluťoučký kůň úpěl ďábelské ódy.
Árvíztűrő tükörfúrógép; őszi szél fúj.
İstanbul'da yaşıyorum; ışık ılık, ağaç yeşil, gün güneşli.
Съешь же ещё этих мягких французских булок, да выпей чаю.
Їжак їсть яблуко; ґанок, об'їзд, Київ.
Ελληνικά: Η γρήγορη αλεπού πηδά πάνω από το τεμπέλικο σκυλί. ΟΔΥΣΣΕΥΣ ΣΑΣ
שלום עולם, מה שלומך היום? בְּרֵאשִׁית בָּרָא אֱלֹהִים
مرحبا بالعالم، كيف حالك اليوم؟ السَّلَامُ عَلَيْكُمْ
سلام دنیا، حال شما چطور است؟ می‌خواهم بروم
नमस्ते दुनिया, आप कैसे हैं? क्षत्रिय ज्ञान
বাংলা ভাষা খুব সুন্দর। আমি ভাত খাই।
தமிழ் மொழி மிகவும் பழமையானது. க்ஷ
తెలుగు భాష చాలా మధురమైనది.
สวัสดีชาวโลก วันนี้อากาศดีมาก น้ำ
ສະບາຍດີ ຊາວໂລກ
မင်္ဂလာပါ ကမ္ဘာလောက
ខ្ញុំ​រៀន​ភាសា​ខ្មែរ
გამარჯობა მსოფლიო, როგორ ხარ? ᲗᲑᲘᲚᲘᲡᲘ
Բարեւ աշխարհ, ինչպե՞ս ես։
አማርኛ ሰላም ለዓለም፡፡
你好,世界!今天天气怎么样?我在北京大学读书。
繁體中文：臺灣的夜市很熱鬧，尤其是士林夜市。
東京タワーは一九五八年に完成した。カタカナ、ひらがな、漢字。ﾊﾝｶｸ パーティー
안녕하세요 세계, 오늘 날씨가 어때요? 한국어를 공부합니다.
Tiếng Việt: Hôm nay trời đẹp quá, chúng ta đi dạo nhé! Nguyễn Thị Ánh
𠀀𠀁𪜀𫠝𫠠 𠮷野家 豈更車
😀😃 I love pizza 🍕❤️ and 👨‍👩‍👧‍👦 families 🏳️‍🌈 👍🏽👍🏿 🇩🇪🇫🇷
¯\\_(ツ)_/¯ (╯°□°)╯︵ ┻━┻ ʕ•ᴥ•ʔ
♔♕♖ ☃☂ ✓✗ → ⇒ ∀x∈ℝ: ∃y≥0 √2 ∞ ∑∏∫ ≠≤≥ ± × ÷
“Curly quotes”, ‘single’, «guillemets», ‹one›, „low“, … – — ‐ ‑ ‒ ―
ﬁrst oﬀer ﬂuﬀy ﬃ ＦＵＬＬＷＩＤＴＨ １２３ Ⅷ ⅷ ™ © ® ª º µ
n̈ó̧ẅ c̸ö̶m̷b̴i̵n̸i̴n̷g̶ Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘!
[MASK] is a [mask]; [CLS] a [SEP] b [UNK] [PAD] [unused1] x[SEP]y
##ing ## # hash ##tag #hashtag
a.b,c;d:e!f?g(h)i[j]k{l}m<n>o|p\\q/r~s`t@u#v$w%x^y&z*0-1_2=3+4
1234567890 3.14159 -42 1e-10 0x7fff 1_000_000 12:34:56 99% $5.99 £3 ¥100 ₹50 ₿
""".strip("\n").split("\n")

ODD = [
    "",
    " ",
    "\n\t \r\n",
    "\u00a0\u2003\u3000\u200b\ufeff",
    "\0",
    "a\0b\x01c\x07d\x1be\x7ff\x80g\x9fh\u200bi\u200ej\ufeffk\u2060l\ufffdm\ue000n\U000f0000o",
    "line one\nline two\r\nline three\u2028line four\u2029end\x0bvertical\x0cform\x85next",
    "\x1c\x1d\x1e\x1f",
    ".",
    "...",
    "a",
    "Z",
    "é",
    "e\u0301",
    "\u0301",
    "字",
    "😀",
    "[SEP]",
    "x" * 99,
    "x" * 100,
    "x" * 101,
    "é" * 100,
    "é" * 101,
    "e\u0301" * 100,
    "a" * 5000,
    "ab " * 400,
    "字" * 300,
    "." * 1000,
    "😀" * 300,
    "word " * 253,
    "word " * 254,
    "word " * 255,
    "word " * 509,
    "word " * 510,
    "word " * 511,
    " " * 10000 + "late",
    "\u0300" * 3000 + "z",
    "İ" * 50,
    "\u1e9e\u01c5\u01c8 \ufb03 \u03a3 \u0130 \u2126 \u212a \u212b",
    "\u0958\u0959 \u0340\u0341\u0343 \u2adc \ufb1d \U0001d15e",
]


def texts():
    """200 texts; the same in every run."""
    rng = random.Random(20240607)
    out = SENTENCES + ODD
    words = [word for text in SENTENCES for word in text.split()]
    while len(out) < 190:
        count = rng.choice([3, 5, 8, 13, 21, 34, 60])
        out.append(" ".join(rng.choice(words) for _ in range(count)))
    while len(out) < 200:
        count = rng.choice([150, 200, 300, 600])
        out.append(" ".join(rng.choice(words) for _ in range(count)))
    assert len(out) == 200
    return out


def characters(each=40):
    """Every code point alone and between letters; so many in a text that none is cut off."""
    points = [chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000]
    for at in range(0, len(points), each):
        yield " ".join(f"a{point}b {point}" for point in points[at : at + each])
