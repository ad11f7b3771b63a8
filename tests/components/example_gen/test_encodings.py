"""Files that are not UTF-8: read in the encoding that they have, or a refusal."""

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from components.example_gen import encodings, reading
from trainer_module.progress import DataRefused

GERMAN = "Können Sie mir sagen, warum die Überweisung an Müller zurückgewiesen wurde?"
TABLE = f'text,label\n"{GERMAN}",größer\r\n"zwei\r\nZeilen – ähnlich",b\n'
ROWS = [(GERMAN, "größer"), ("zwei\r\nZeilen – ähnlich", "b")]
WIDE = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be")


def in_json(rows):
    lines = (f'{{"text": "{t}", "label": "{n}"}}' for t, n in rows)
    return "[\n" + ",\n".join(lines).replace("\r\n", "\\r\\n") + "]"


@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz"])
@pytest.mark.parametrize(
    "encoding", ["cp1252", "windows-1252", "CP1250", "mac_roman", "gb18030", *WIDE]
)
def test_file_is_read_in_the_encoding_that_is_named(pairs, encoding, name):
    assert pairs(TABLE.encode(encoding), name, encoding=encoding) == ROWS


@pytest.mark.parametrize("name", ["data.json", "data.txt"])
@pytest.mark.parametrize("encoding", ["cp1252", *WIDE])
def test_json_is_read_in_the_encoding_that_is_named(pairs, encoding, name):
    array = in_json(ROWS)
    assert pairs(array.encode(encoding), name, encoding=encoding) == ROWS
    lines = array.strip("[\n]").replace(",\n", "\n")
    assert pairs(lines.encode(encoding), "data.jsonl", encoding=encoding) == ROWS


@pytest.mark.parametrize("setting", ["utf-8", "cp1252", "auto", "utf-16", "shift_jis"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf", b"\xef\xbb\xbf\xef\xbb\xbf"])
def test_utf8_is_read_as_that_whatever_is_named(write, settings, mark, setting):
    path = write(mark + TABLE.encode())
    job = settings(path, encoding=setting)
    assert [tuple(row.cells.values()) for row in reading.read_rows(path, job)] == ROWS
    assert reading.check_columns(path, job).encoding == "utf-8"


@pytest.mark.parametrize(
    "content, encoding",
    [
        ((TABLE * 3).encode("cp1252"), "cp1252"),
        ("text,label\nПожалуйста, ответьте\n".encode("cp866") * 5, "cp866"),
        (TABLE.encode("utf-16"), "utf-16"),
        (TABLE.encode("utf-16-be"), "utf-16-be"),
        (TABLE.encode("utf-32-le"), "utf-32-le"),
    ],
    ids=["cp1252", "cp866", "utf16", "utf16_no_mark", "utf32_no_mark"],
)
def test_auto_finds_the_encoding_and_names_it(write, settings, content, encoding):
    path = write(content)
    job = settings(path, encoding="auto")
    assert reading.check_columns(path, job).encoding == encoding


def test_auto_that_is_not_sure_names_what_it_may_be(refusal):
    message = refusal("text,label\nhi,a\ncafé,b\n".encode("cp1252"), encoding="auto")
    assert message.startswith(
        "data.csv: this is not UTF-8, and `data.encoding=auto` is not sure: it may be "
        "cp1252 ('café,b') or "
    )
    assert message.endswith("reads right, like `--set data.encoding=cp1252`.")


def test_default_refuses_with_line_byte_what_it_looks_like_and_the_way_out(refusal):
    message = refusal((TABLE * 3).encode("cp1252"))
    assert message == (
        "data.csv, line 2: this is not UTF-8 (byte 0xF6); it looks like cp1252 "
        "('\"Können'). Read it as that, `--set data.encoding=cp1252`, or save it as "
        "UTF-8: `iconv -f CP1252 -t UTF-8 < data.csv > NEW`."
    )


def test_encodings_that_the_message_offers_are_told_apart_by_a_word(refusal):
    french = "texte,label\nelle n'est pas arrivée où je suis,à\n" * 9
    message = refusal(french.encode("cp1252"), text="texte")
    assert "cp1252 ('où')" in message and "cp1250 ('oů')" in message


@pytest.mark.parametrize("name", ["my data.csv", "my data.csv.gz"])
def test_conversion_that_the_message_offers_works(write, settings, pairs, name):
    path = write((TABLE * 3).encode("cp1252"), name)
    with pytest.raises(DataRefused) as error:
        list(reading.read_rows(path, settings(path)))
    command = str(error.value).split("`")[-2].replace("NEW", "'new file.csv'")
    folder = path.rpartition("/")[0]
    subprocess.run(command, shell=True, check=True, cwd=folder)
    with open(f"{folder}/new file.csv", "rb") as file:
        assert file.read().decode("utf-8") == TABLE * 3


@pytest.mark.parametrize(
    "encoding, content, line, byte",
    [
        ("cp1252", b"text,label\nhi,a\r\ncaf\xe9,\x81b\n", 3, "0x81"),
        ("ascii", b"text,label\rhi,a\rcaf\xe9,b\r", 3, "0xE9"),
        ("shift_jis", b"text,label\nhi,a\nx\x81\n,b\n", 3, "0x81"),
        ("utf-16", "text,label\nhi,a\n".encode("utf-16") + b"\0", 3, "0x00"),
    ],
)
def test_byte_that_is_not_of_the_encoding_is_named(
    refusal, encoding, content, line, byte
):
    message = refusal(content, encoding=encoding)
    assert message.startswith(f"data.csv, line {line}: this is not ")
    assert f" (byte {byte})" in message


@pytest.mark.parametrize("encoding", WIDE)
@pytest.mark.parametrize("setting", ["utf-8", "cp1252"])
def test_wide_text_is_refused_by_name_unless_it_is_named(refusal, encoding, setting):
    family = encoding[:6]
    message = refusal(TABLE.encode(encoding), encoding=setting)
    assert message.startswith(
        f"data.csv: this looks like {family.upper()}, and {setting.upper()} is read"
    )
    assert f"`--set data.encoding={family}`" in message


def test_seven_bit_encoding_is_used_though_it_is_valid_utf8(pairs):
    content = "text,label\n私のカード,a\n".encode("iso2022_jp")
    assert pairs(content, encoding="iso2022_jp") == [("私のカード", "a")]


def test_bad_byte_beyond_the_first_block_has_its_line(refusal):
    content = b"text,label\r\n" + b"some text,a\r\n" * 200_000 + b"caf\xe9,b\r\n"
    assert refusal(content).startswith("data.csv, line 200002: this is not UTF-8")


@given(
    text=st.text(st.sampled_from("ab\r\nçé€"), max_size=60),
    at=st.integers(0, 60),
    block=st.sampled_from([1, 2, 3, 7]),
)
def test_line_of_a_bad_byte_is_counted_over_blocks(tmp_path_factory, text, at, block):
    before = text[:at].encode("utf-8")
    path = str(tmp_path_factory.mktemp("bad") / "data.csv")
    with open(path, "wb") as file:
        file.write(before + b"\xff" + text[at:].encode("utf-8"))
    number = len(text[:at].replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encodings, "_BLOCK_BYTES", block)
        assert encodings._first_wrong_byte(path, "utf-8") == (number, 0xFF)


# The setting


@pytest.mark.parametrize(
    "name, kept",
    [
        ("UTF8", "utf-8"), ("utf-8-sig", "utf-8"), ("windows-1252", "cp1252"),
        ("Auto", "auto"), ("UTF-16", "utf-16"),
    ],
)  # fmt: skip
def test_name_of_an_encoding_becomes_the_one_of_python(settings, name, kept):
    assert settings(encoding=name).encoding == kept


@pytest.mark.parametrize(
    "name, said",
    [
        ("cp1522", "there is no encoding 'cp1522' (did you mean cp1252"),
        ("latin-99", "there is no encoding 'latin-99'"),
        ("no\0ne", "there is no encoding"),
        ("hex", "'hex' is no encoding of text files"),
        ("base64", "'base64' is no encoding of text files"),
        ("rot13", "'rot13' is no encoding of text files"),
        ("idna", "'idna' is no encoding of text files"),
        ("unicode_escape", "'unicode_escape' is no encoding of text files"),
    ],
)
def test_name_that_is_no_encoding_is_refused_with_near_ones(settings, name, said):
    with pytest.raises(ValidationError) as error:
        settings(encoding=name)
    assert said in str(error.value)
    assert "it is `utf-8`, `auto`, or a name like" in str(error.value)


def test_every_name_in_use_is_one_of_python_that_iconv_knows():
    for name in encodings._IN_USE:
        encodings.codec_name(name)
        known = encodings._conversion(__file__, name).split(" < ")[0]
        subprocess.run(f"{known} < /dev/null", shell=True, check=True)


@pytest.mark.parametrize("encoding", ["utf-16-be", "utf-16-le"])
def test_conversion_of_wide_text_names_the_order_of_the_bytes(refusal, encoding):
    """Without a mark iconv would take the order of this machine."""
    name = encoding.upper().replace("16-", "16")
    assert f"`iconv -f {name} -t UTF-8 <" in refusal(TABLE.encode(encoding))


def test_encodings_of_east_asia_are_never_told_apart_by_themselves(refusal):
    content = "text,label\n" + "".join(
        f"これは問い合わせ{n}です,ラベル{'ab'[n % 2]}\n" for n in range(60)
    )
    message = refusal(content.encode("euc_jp"), encoding="auto")
    assert "`data.encoding=auto` is not sure" in message
