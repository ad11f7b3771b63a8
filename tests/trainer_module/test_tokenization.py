"""Ids in the graph, equal to Hugging Face's but for the differences listed here."""

import pytest
import tensorflow as tf
import transformers

from trainer_module import tokenization
from trainer_module.settings import ModelSettings

pytestmark = pytest.mark.slow

EVERYDAY = [
    "My card has not arrived yet.",
    "I'm still waiting on my card; it's been 2 weeks!",
    "Why was I charged $5.00 (or €4,50) for a £10 top-up?",
    "HELP!!! The ATM swallowed my card :-(",
    "e-mail me at jane.doe@example.com or call +44 20 7946 0958",
    "See https://example.com/help?id=3&lang=en#top",
    "Don't you think it's 100% unfair? I do...",
    '"Quoted", ‘curly’, “double” – en dash — em dash',
    "naïve café, crème brûlée, São Paulo, Zürich, Łódź, señor",
    "two  spaces,\ttab,\nnew line\r\n and trailing  ",
    "snake_case, #hashtag, @mention, C++, 3.14, 1/2, 50%",
    "unbelievably antidisestablishmentarianism",
    "I love it 😀👍🏽 and 👩‍👩‍👧",
    "non-breaking\u00a0space, soft\u00adhyphen, zero\u200dwidth",
    "Привет, мир! Ελληνικά. 你好 世界 カード ไทย العربية हिन्दी 한국어",
    "iPhone v1.2.3-beta",
    "[bracketed] {braces} <angles> ~tilde^ |pipe| `tick`",
    "a" * 100,
    "a" * 120,
    "",
    "   ",
    "?",
]
# (text, our tokens, Hugging Face's). Training and serving agree, so they cost little:
# the vocabulary's own character where Hugging Face has it, its plain form with us.
BERT_DIFFERENCES = {
    "ellipsis": ("wait…", "wait . . .", "wait …"),
    "sharp_s": ("ß", "ss", "ß"),
    "superscript": ("m²", "m2", "m²"),
    "fraction": ("½", "1 ##⁄ ##2", "½"),
    "circled": ("①", "1", "[UNK]"),
    "trade_mark": ("™", "t ##m", "™"),
    "numero": ("№", "no", "№"),
    "celsius": ("℃", "°c", "[UNK]"),
    "ligature": ("ﬁne", "fine", "ﬁ ##ne"),
    "full_width": ("ＡＢＣ１２", "abc ##12", "[UNK]"),
    "long_s": ("ſ", "s", "[UNK]"),
    "replacement": ("a\ufffdb", "[UNK]", "ab"),
    "nul": ("nul\x00x", "nu ##l x", "nu ##l ##x"),
    # A user's text never makes control tokens with us.
    "special": ("[SEP] [MASK]", "[ sep ] [ mask ]", "[SEP] [MASK]"),
    # A word may have 100 bytes with us, 100 characters with Hugging Face.
    "long_word": ("и" * 51, "[UNK]", "и" + " ##ии" * 25),
}
# Texts of the same kinds on which there is no difference.
ODD_BUT_EQUAL = [
    *("bell\x07", "line\u2028separator", "\ufeffmark", "\u202eright to left"),
    *("İstanbul", "e\u0301", "Ω", "®", "©", "€", "•", "🇩🇪", "a\u3000b", "\x85"),
    *("x" * 101, "и" * 50, "\u200bzero", "don’t", "1⁄2"),
]


def ids(tokenizer, text) -> list[int]:
    return tokenizer.encode(tf.constant([text])).to_list()[0]


def bert_ids(path, text) -> list[int]:
    return ids(tokenization.load(path, ModelSettings(checkpoint=path)), text)


@pytest.fixture(scope="module")
def minilm(minilm_dir):
    return tokenization.load(minilm_dir, ModelSettings(checkpoint=minilm_dir))


@pytest.fixture(scope="module")
def bert(minilm_dir):
    return transformers.BertTokenizerFast.from_pretrained(minilm_dir)


@pytest.mark.parametrize("max_tokens", [128, 8, 4])
def test_bert_ids_of_everyday_text_equal_hugging_face(minilm_dir, bert, max_tokens):
    settings = ModelSettings(checkpoint=minilm_dir, max_source_tokens=max_tokens)
    ours = tokenization.load(minilm_dir, settings).encode(tf.constant(EVERYDAY))
    theirs = bert(EVERYDAY, truncation=True, max_length=max_tokens)["input_ids"]
    assert ours.to_list() == theirs


@pytest.mark.parametrize(
    "text, ours, theirs", BERT_DIFFERENCES.values(), ids=BERT_DIFFERENCES
)
def test_bert_differs_from_hugging_face_as_listed(minilm, bert, text, ours, theirs):
    tokens = bert.convert_ids_to_tokens(ids(minilm, text))
    assert tokens[1:-1] == ours.split()
    assert bert.tokenize(text) == theirs.split()


@pytest.mark.parametrize("text", ODD_BUT_EQUAL)
def test_bert_differs_from_hugging_face_on_nothing_else(minilm, bert, text):
    assert ids(minilm, text) == bert(text)["input_ids"]


def test_bert_vocabulary_may_hold_line_separators(tmp_path):
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "\u2028", "\x85", "card"]
    (tmp_path / "vocab.txt").write_text("".join(f"{w}\n" for w in words), "utf-8")
    assert bert_ids(str(tmp_path), "card") == [2, 6, 3]


def test_bert_vocabulary_may_have_windows_line_ends(tmp_path):
    (tmp_path / "vocab.txt").write_bytes(
        b"[PAD]\r\n[UNK]\r\n[CLS]\r\n[SEP]\r\ncard\r\n"
    )
    assert bert_ids(str(tmp_path), "card") == [2, 4, 3]


@pytest.mark.parametrize("lower, want", [(True, [2, 4, 4, 3]), (False, [2, 4, 5, 3])])
def test_bert_keeps_case_if_its_checkpoint_does(tmp_path, lower, want):
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "pin", "PIN"]
    (tmp_path / "vocab.txt").write_text("".join(f"{w}\n" for w in words))
    (tmp_path / "tokenizer_config.json").write_text(
        f'{{"do_lower_case": {str(lower).lower()}}}'
    )
    assert bert_ids(str(tmp_path), "pin PIN") == want


def test_bert_has_no_target_text(minilm):
    with pytest.raises(TypeError, match="class ids"):
        minilm.encode_target(tf.constant(["a"]))


def t5(path, **settings):
    return tokenization.load(path, ModelSettings(checkpoint=path, **settings))


@pytest.fixture(
    scope="module", params=["T5TokenizerFast", "T5Tokenizer"], ids=["fast", "slow"]
)
def hugging_face_t5(request, tiny_t5_dir):
    return getattr(transformers, request.param).from_pretrained(tiny_t5_dir)


@pytest.mark.parametrize("max_tokens", [64, 8, 4])
def test_t5_ids_equal_hugging_face(tiny_t5_dir, sentences, hugging_face_t5, max_tokens):
    texts = [*sentences[:100], *EVERYDAY, "ﬁne", "½", "ＡＢＣ", "…", "e\u0301"]
    ours = t5(tiny_t5_dir, max_source_tokens=max_tokens).encode(tf.constant(texts))
    theirs = hugging_face_t5(texts, truncation=True, max_length=max_tokens)
    assert ours.to_list() == theirs["input_ids"]


@pytest.mark.filterwarnings("ignore:This sequence already has")
@pytest.mark.parametrize("text", ["</s>", "<pad>", "<unk>", "<extra_id_0>"])
def test_t5_differs_from_hugging_face_on_literal_special_tokens_alone(
    tiny_t5_dir, hugging_face_t5, text
):
    special = hugging_face_t5.convert_tokens_to_ids(text)
    assert special in hugging_face_t5(text)["input_ids"]
    ours = ids(t5(tiny_t5_dir), text)
    assert special not in ours[:-1] or text == "<unk>"
    assert ours[-1] == 1


def test_t5_ends_every_source_and_target_also_a_cut_one(tiny_t5_dir):
    tokenizer = t5(tiny_t5_dir, max_source_tokens=6, max_target_tokens=4)
    texts = tf.constant(["", "my card", "my card was lost in Paris on Monday"])
    for found, most in (
        (tokenizer.encode(texts), 6),
        (tokenizer.encode_target(texts), 4),
    ):
        rows = found.to_list()
        assert [row[-1] for row in rows] == [1, 1, 1]
        assert all(1 not in row[:-1] for row in rows)
        assert [len(rows[0]), len(rows[2])] == [1, most]


@pytest.mark.parametrize(
    "text, prefixed",
    [
        ("my card", "summarize: my card"),
        ("summarize: my card", "summarize: my card"),
        ("summarize:my card", "summarize: summarize:my card"),
        ("summar", "summarize: summar"),
        ("", "summarize: "),
        ("élan vital", "summarize: élan vital"),
    ],
)
def test_t5_prefix_is_there_exactly_once(tiny_t5_dir, text, prefixed):
    with_prefix = ids(t5(tiny_t5_dir, prefix="summarize: "), text)
    assert with_prefix == ids(t5(tiny_t5_dir), prefixed)


def test_t5_prefix_with_letters_of_several_bytes_is_recognised(tiny_t5_dir):
    tokenizer = t5(tiny_t5_dir, prefix="résumé : ")
    assert ids(tokenizer, "my card") == ids(tokenizer, "résumé : my card")


def test_t5_targets_have_no_prefix(tiny_t5_dir):
    texts = tf.constant(["my card"])
    with_prefix = t5(tiny_t5_dir, prefix="summarize: ").encode_target(texts)
    assert with_prefix.to_list() == t5(tiny_t5_dir).encode_target(texts).to_list()


def test_t5_decodes_what_it_encoded_and_nothing_after_the_end(tiny_t5_dir):
    tokenizer = t5(tiny_t5_dir)
    texts = ["My friend was charged twice.", "the café", ""]
    found = tf.cast(tokenizer.encode_target(tf.constant(texts)).to_tensor(0), tf.int32)
    padded = tf.concat([tf.zeros([3, 1], tf.int32), found, tf.fill([3, 3], 5)], axis=1)
    assert [t.decode() for t in tokenizer.decode(padded).numpy()] == texts


def test_t5_decodes_without_special_tokens_as_hugging_face_does(
    tiny_t5_dir, hugging_face_t5
):
    sentinel = hugging_face_t5.convert_tokens_to_ids("<extra_id_3>")
    text = [0, *hugging_face_t5("my card")["input_ids"][:-1], 2, sentinel, 0, 9]
    ours = t5(tiny_t5_dir).decode(tf.constant([[*text, 1, 7]])).numpy()[0].decode()
    assert ours == hugging_face_t5.decode(text, skip_special_tokens=True)


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_tokenizers_take_any_number_of_rows(tiny_t5_dir, tiny_bert_dir, rows):
    texts = tf.fill([rows], "my card is late")
    for path in (tiny_t5_dir, tiny_bert_dir):
        settings = ModelSettings(checkpoint=path, prefix="summarize: ")
        found = tokenization.load(path, settings).encode(texts)
        assert found.nrows() == rows
        assert found.dtype == tf.int64


def counted(counts):
    lengths, unknowns = counts
    return lengths.numpy().tolist(), unknowns.numpy().tolist()


def test_bert_counts_what_it_would_cut_off(minilm_dir):
    def load(max_tokens):
        settings = ModelSettings(checkpoint=minilm_dir, max_source_tokens=max_tokens)
        return tokenization.load(minilm_dir, settings)

    whole = load(4096).encode(tf.constant(EVERYDAY))
    lengths, unknowns = counted(load(4).count(tf.constant(EVERYDAY)))
    assert lengths == whole.row_lengths().numpy().tolist()
    assert unknowns == [row.count(100) for row in whole.to_list()]  # [UNK]
    assert sum(unknowns) > 0


def test_bert_tells_what_it_does_not_know(minilm):
    text = tf.constant(["love 😀 it", "all known", "й 😀"])
    found = [piece.decode() for piece in minilm.unknown_pieces(text).numpy()]
    assert found == ["😀", "😀"]


def test_counting_no_text_gives_no_counts(minilm):
    assert counted(minilm.count(tf.constant([], tf.string))) == ([], [])
    assert minilm.unknown_pieces(tf.constant([], tf.string)).shape == (0,)


def test_t5_counts_what_it_would_cut_off(tiny_t5_dir, sentences):
    def load(max_tokens):
        limits = {"max_source_tokens": max_tokens, "max_target_tokens": max_tokens}
        return t5(tiny_t5_dir, prefix="summarize: ", **limits)

    texts = tf.constant([*sentences, "{ ~ }", ""])
    for encode, count in (("encode", "count"), ("encode_target", "count_target")):
        whole = getattr(load(1024), encode)(texts)
        lengths, unknowns = counted(getattr(load(4), count)(texts))
        assert lengths == whole.row_lengths().numpy().tolist()
        assert unknowns == [row.count(2) for row in whole.to_list()]  # <unk>
    assert unknowns[-2] == 3


def test_t5_tells_what_it_does_not_know(tiny_t5_dir):
    found = t5(tiny_t5_dir).unknown_pieces(tf.constant(["{ and ~", "card"]))
    assert [piece.decode().strip() for piece in found.numpy()] == ["{", "~"]
