"""What text in each legacy encoding looks like: a small unigram model per candidate, in natural logarithms.

Statistical detectors need a page of text; a note can be two characters long. A candidate is a way to read the bytes,
and the total log-likelihood of the characters it yields is comparable between candidates, as all explain the same
bytes. Each model spreads masses over tiers: frequent characters by rank, then the "level 1" (common) and "level 2"
(rare) sets of the national standard itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import log

_SIMPLIFIED = (
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所"
    "然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与"
    "长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己"
    "制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系"
    "气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社"
    "便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉"
    "格望觉术领共确传师观清今切院让识候带导争运笔错误密码词语句索引检查询档案排序段落答测试配置服器网络库线存编模"
    "型混融召准阈值标录议纪划草稿整项版修改删除添备份恢复启停止志步骤参考链注装令默选择功显示输搜键字匹算速优缓读"
    "写硬盘软户限登钥昨早晚午吃饭喝茶买校城京"
)
_TRADITIONAL = (
    "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所"
    "然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日軍者意無力它與"
    "長把機十民第公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己"
    "制身果加西斯月話合回特代內信表化老給世位次度門任常先海通教兒原東聲提立及比員解水名真論處走義各入幾口認條平系"
    "氣題活爾更別打女變四神總何電數安少報才結反受目太量再感建務做接必場件計管期市直德資命山金指克許統區保至隊形社"
    "便空決治展馬科司五基眼書非則聽白卻界達光放強即像難且權思王象完設式色路記南品住告類求據程北邊死張該交規萬取拉"
    "格望覺術領共確傳師觀清今切院讓識候帶導爭運筆錯誤密碼詞語句索引檢查詢檔案排序段落答測試配置服器網絡庫線存編模"
    "型混融召準閾值標錄議紀劃草稿整項版修改刪除添備份恢復啟停止志步驟參考鏈注裝令默選擇功顯示輸搜鍵字匹算速優緩讀"
    "寫硬盤軟戶限登鑰昨早晚午吃飯喝茶買校城京"
)
_HIRAGANA = (
    "のにはをたがでてとしれさいあるなもからくりこそうまきよっおえやみつめけせわちどすじだばびべぼろずげごぎぐね"
    "ほひふへむゆ"
)
_KANJI = (
    "日一国会人年大十二本中長出三同時政事自行社見月分議後前民生連五発間対上部東者党地合市業内相方四定今"
    "回新場金員九入選立開手米力学問高代明実円関決子動京全目表戦経通外最言氏現理調体化田当八六約主題下首"
    "意法不来作性的要用制治度務強気小七成期公野協取都和統以機平総加山思家話世受区領多県続進正安設保改数"
    "記院女初北午指権心界支第産結百派点教報済書府活原先共得解名交資予川向際査勝面委告軍文反元重近千考判"
    "認画海参売利組検索語変更案電車駅漢字読何私好食"
)
_HANGUL = (
    "이다는을가의에고하지로한기도자은사리를인어그나서아해시들과대일스만라정수여있전부으장상보제주오구것원조"
    "동게성공국무선세신화소중모안습비니유경요거내미위마더연관분당회방때말우계했적와민문되업까생저면양진년학"
    "었름용재않검색글파알"
)
_LATIN = "éèàüöäßñçíóáêâîôûúïëåæøÉÄÖÜÇÅØœ’‘“”–—…•·«»°©®€£§¡¿\u00a0ãõìòù"
_CJK_MARKS = "，。、；：？！“”‘’（）《》〈〉—…·「」『』【】\u3000～"

FLOOR = log(1e-9)
"""Log-probability of a character that no text in the encoding should hold, control characters among them."""
_REPLACED = log(1e-11)  # a reading without errors beats one with

_ASCII = log(1e-2)
_AFTER_NON_ASCII = log(0.02)  # western languages: an accented letter rarely follows another
_RARE_HAN = log(2e-7)


def _ranked(characters: str, mass: float) -> dict[str, float]:
    """Zipf over the ranks, flattened at the top: p(r) = c / (r + 8), summing to `mass`."""
    unique = list(dict.fromkeys(characters))
    total = sum(1 / (rank + 8) for rank in range(len(unique)))
    return {character: log(mass / total / (rank + 8)) for rank, character in enumerate(unique)}


def _flat(characters: str, mass: float) -> dict[str, float]:
    return dict.fromkeys(characters, log(mass / len(characters)))


_MARKS = _flat(_CJK_MARKS, 0.12)
_ZH_HANS = _ranked(_SIMPLIFIED, 0.6) | _MARKS | {"€": log(1e-5)}  # in GB 18030, not in GB 2312
_ZH_HANT = _ranked(_TRADITIONAL, 0.6) | _MARKS
_JA = _ranked(_KANJI, 0.22) | _ranked(_HIRAGANA, 0.45) | _flat("、。「」ー・（）！？　〜～", 0.1)
_KO = _ranked(_HANGUL, 0.7)
_WEST = _ranked(_LATIN, 0.6)


def _code(character: str, codec: str) -> int:
    """The character's double-byte code, 0 if the codec has none."""
    try:
        raw = character.encode(codec)
    except UnicodeEncodeError:
        return 0
    return int.from_bytes(raw, "big") if len(raw) == 2 else 0


def _chinese(character: str, code: int, first: int, rare: int, sizes: tuple[int, int]) -> float:
    """By the standard's planes: symbols below `first`, level 1 up to `rare`, level 2 from there."""
    if code >= rare:
        return log(0.01 / sizes[1])
    if code >= first:
        return log(0.25 / sizes[0])
    if code:
        return log(1e-5)
    if "\u3400" <= character <= "\u9fff":
        return _RARE_HAN
    return log(1e-6) if _code(character, "gbk") else FLOOR


@lru_cache(maxsize=16_384)
def simplified(character: str) -> float:
    if (known := _ZH_HANS.get(character)) is not None:
        return known
    return _chinese(character, _code(character, "gb2312"), 0xB0A1, 0xD8A1, (3755, 3008))


@lru_cache(maxsize=16_384)
def traditional(character: str) -> float:
    if (known := _ZH_HANT.get(character)) is not None:
        return known
    return _chinese(character, _code(character, "big5"), 0xA440, 0xC940, (5401, 7652))


@lru_cache(maxsize=16_384)
def japanese(character: str) -> float:
    if (known := _JA.get(character)) is not None:
        return known
    if "\u3041" <= character <= "\u3096":
        return log(1e-3)
    if "\u30a1" <= character <= "\u30fc":
        return log(0.12 / 90)
    if "\uff61" <= character <= "\uff9f":  # half-width katakana
        return log(0.02 / 63)
    code = _code(character, "shift_jis")
    if 0x889F <= code <= 0x9872:
        return log(0.15 / 2965)
    if code > 0x9872:
        return log(0.01 / 3390)
    if code:
        return log(1e-5)
    return _RARE_HAN if _code(character, "cp932") else FLOOR


@lru_cache(maxsize=16_384)
def korean(character: str) -> float:
    if (known := _KO.get(character)) is not None:
        return known
    code = _code(character, "euc_kr")
    if 0xB0A1 <= code <= 0xC8FE:
        return log(0.2 / 2350)
    if code:
        return log(1e-6)
    return log(1e-7) if "\uac00" <= character <= "\ud7a3" else FLOOR


@lru_cache(maxsize=1_024)
def western(character: str) -> float:
    if (known := _WEST.get(character)) is not None:
        return known
    if "\u00a0" <= character <= "\u00ff" and character.isalpha():
        return log(3e-4)
    try:
        character.encode("cp1252")
    except UnicodeEncodeError:
        return FLOOR
    return log(3e-5)


@lru_cache(maxsize=16_384)
def any_language(character: str) -> float:
    """For Unicode encodings: the best of all models; letters of other alphabets are likely, other signs are rare."""
    best = max(model(character) for model in (simplified, traditional, japanese, korean, western))
    if "\u0370" <= character <= "\u1fff" and character.isalpha():
        return max(best, log(2e-3))
    return max(best, log(1e-6)) if character.isprintable() else best


@dataclass(frozen=True, slots=True)
class Candidate:
    """A way to read bytes: codecs from the strictest to the widest, the model of its text, the log of its prior.

    `accents`: characters outside ASCII are accented letters and signs, which seldom stand next to each other.
    `plausible`: an average log-likelihood per character outside ASCII below this is no text of the language.
    """

    codecs: tuple[str, ...]
    model: Callable[[str], float]
    prior: float = 0.0
    accents: bool = False
    plausible: float = -11.5


CANDIDATES = (
    Candidate(("utf-8",), any_language, 4.0, plausible=-14.0),
    Candidate(("gb18030",), simplified, 1.0),
    Candidate(("big5", "big5hkscs", "cp950"), traditional),
    Candidate(("shift_jis", "cp932"), japanese),
    Candidate(("euc_jp",), japanese, -4.0),
    Candidate(("euc_kr", "cp949"), korean, -6.0),
    Candidate(("cp1252",), western, accents=True, plausible=-6.6),
    Candidate(("utf-16-le",), any_language, -3.0, plausible=-8.8),
    Candidate(("utf-16-be",), any_language, -3.0, plausible=-8.8),
)


def likelihood(counts: Mapping[str, int], neighbours: int, candidate: Candidate) -> tuple[float, float]:
    """Log-likelihood of a text under a candidate, and its average over the characters outside ASCII.

    `counts`: how often each character occurs; `neighbours`: how many outside ASCII follow another such character.
    """
    plain = special = 0.0
    size = 0
    for character, count in counts.items():
        if " " <= character <= "~" or character in "\t\n\r\f\x1b":
            plain += _ASCII * count
        elif character < " ":
            plain += FLOOR * count
        else:
            size += count
            if character == "\ufffd":
                special += _REPLACED * count
            elif character < "\xa0":
                special += FLOOR * count
            else:
                special += candidate.model(character) * count
    if candidate.accents:
        special += _AFTER_NON_ASCII * neighbours
    return candidate.prior + plain + special, special / size if size else 0.0
