"""Which encoding a file of text has. Pure; it guesses only where it has to.

UTF-8 comes first: a file that is valid UTF-8 is read as that, whatever the setting.
Text in another encoding needs `data.encoding`: its name, or "auto".
"""

import codecs
import dataclasses
import difflib
import re
from encodings.aliases import aliases

from components.example_gen import files, normalisation
from trainer_module.progress import DataRefused

UTF_8, AUTO = "utf-8", "auto"
_ALLOWED = "it is `utf-8`, `auto`, or a name like `cp1252`, `utf-16` or `shift_jis`"

# Codecs of Python that are no encodings of files.
_OF_OTHER_THINGS = frozenset(
    ("idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape")
)
# All of their bytes are ASCII, so that everything in them is valid UTF-8 too.
_OF_SEVEN_BITS = ("iso2022", "hz", "utf-7")
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Where the zeros are in text of Western letters.
_ZEROS = (
    ((0, 1, 1, 1), "utf-32-le"),
    ((1, 1, 1, 0), "utf-32-be"),
    ((0, 1, 0, 1), "utf-16-le"),
    ((1, 0, 1, 0), "utf-16-be"),
)

# What files are in, in practice; of those that read a file alike the first is named.
_IN_USE = (
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257"),
    *("cp1258", "cp874", "iso8859_2", "iso8859_15", "koi8_r", "koi8_u", "mac_roman"),
    *("cp850", "cp852", "cp866", "cp932", "euc_jp", "gb18030", "big5", "cp949"),
)
_OF_EAST_ASIA = frozenset(("cp932", "euc_jp", "gb18030", "big5", "cp949"))
_BLOCK_BYTES = 1 << 20
_SAMPLE_BYTES = 1 << 14
_ENOUGH_BYTES = 20  # Beyond ASCII; fewer fit several encodings.
# By how much the best guess must beat each other one. Of 900 samples in 32 languages
# and 19 encodings, 266 are clear by this, and 2 of those are wrong.
_LESS_MESS, _MORE_LANGUAGE = 0.1, 0.15
_GUESSES_SHOWN = 3
_LINE_END = re.compile(rb"[\r\n]+")
_CONTROL = re.compile(r"[\x80-\x84\x86-\x9f]")  # What no text has.
_WORD_BEYOND_ASCII = re.compile(r"\S*[^\x00-\x7f]\S*")


def codec_name(name: str) -> str:
    """Python's name of an encoding; "auto" stays.

    Raises:
      ValueError: if there is no such encoding, or it is none of text.
    """
    if name.strip().lower() == AUTO:
        return AUTO
    codec = _lookup(name)
    if codec is None:
        wanted = re.sub(r"\W+", "_", name.lower())
        usable = [alias for alias in aliases if _lookup(alias)]
        near = difflib.get_close_matches(wanted, _IN_USE, n=2)
        near = near or difflib.get_close_matches(wanted, usable, n=2)
        guess = f" (did you mean {' or '.join(near)}?)" if near else ""
        raise ValueError(f"there is no encoding {name!r}{guess}; {_ALLOWED}")
    if not codec._is_text_encoding or codec.name in _OF_OTHER_THINGS:
        raise ValueError(f"{name!r} is no encoding of text files; {_ALLOWED}")
    return UTF_8 if codec.name == "utf-8-sig" else codec.name


def _lookup(name: str) -> codecs.CodecInfo | None:
    try:
        return codecs.lookup(name)
    except (LookupError, ValueError):  # A name with a NUL is no value.
        return None


# Deciding


def of_file(path: str, head: bytes, wanted: str) -> str:
    """The encoding that a file is read in.

    Args:
      path: a file of text, plain or gzip'ed.
      head: its first bytes, unpacked.
      wanted: `data.encoding`.

    Raises:
      DataRefused: for UTF-16 and UTF-32 that `wanted` does not allow, and where "auto"
        finds no encoding, or several.
    """
    wide = _wide(head)
    if wide:
        family = wide[:6]
        if wanted != AUTO and not wanted.startswith(family):
            raise _other_than_wanted(path, wide, wanted)
        return wide
    if wanted == UTF_8 or _is_utf8(path, wanted):
        return UTF_8
    if wanted == AUTO:
        return _detected(path)
    if wanted in ("utf-16", "utf-32"):  # Without a mark Python does not read these.
        return f"{wanted}-{'le' if _zeros(head, 1) >= _zeros(head, 0) else 'be'}"
    return wanted


def _wide(head: bytes) -> str | None:
    """UTF-16 or UTF-32, by its mark or by the zeros among Western letters."""
    for mark, name in _BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return name
    start = [int(byte == 0) for byte in head[:8]]
    for pattern, name in _ZEROS:
        if len(start) >= 4 and start == [*pattern, *pattern][: len(start)]:
            return name
    even, odd = _zeros(head, 0), _zeros(head, 1)
    if max(even, odd) > 0.4 * len(head) / 2 and min(even, odd) == 0:
        return "utf-16-le" if odd else "utf-16-be"
    return None


def _zeros(head: bytes, first: int) -> int:
    return head[first::2].count(0)


def _is_utf8(path: str, wanted: str) -> bool:
    """One pass over the bytes, of which it keeps none."""
    decoder = codecs.getincrementaldecoder(UTF_8)()
    is_ascii = True
    with files.open_bytes(path) as file:
        try:
            while block := file.read(_BLOCK_BYTES):
                is_ascii = is_ascii and block.isascii()
                decoder.decode(block)
                if wanted.startswith(("utf-16", "utf-32")) and b"\0" in block:
                    return False
            decoder.decode(b"", True)
        except UnicodeDecodeError:
            return False
    return not (is_ascii and wanted.startswith(_OF_SEVEN_BITS))


# Guessing


@dataclasses.dataclass(frozen=True)
class _Guess:
    """An encoding, how its text scores, and a word that shows what it makes of it.

    `mess` and `language` are charset_normalizer's "chaos" and "coherence".
    """

    name: str
    mess: float
    language: float
    word: str

    def __str__(self) -> str:
        return f"{self.name} ({self.word!r})"


def _guesses(sample: bytes) -> list[_Guess]:
    """The best first; of encodings that give the same text only one."""
    import charset_normalizer

    texts: list[tuple[str, charset_normalizer.CharsetMatch]] = []
    for match in charset_normalizer.from_bytes(sample, cp_isolation=list(_IN_USE)):
        names = [name for name in _IN_USE if name in match.could_be_from_charset]
        if names and not _CONTROL.search(str(match)):
            texts.append((names[0], match))
    lines = [str(match).splitlines() for _, match in texts]
    words = [_word_that_differs(own, lines) for own in lines]
    return [
        _Guess(name, match.chaos, match.coherence, word)
        for (name, match), word in zip(texts, words, strict=True)
    ]


def _word_that_differs(own: list[str], all_lines: list[list[str]]) -> str:
    """A word that not all of the first guesses read alike, to judge them by."""
    for line, *others in zip(own, *all_lines[:_GUESSES_SHOWN], strict=False):
        words = [other.split() for other in others]
        for index, word in enumerate(line.split()):
            if any(index >= len(other) or other[index] != word for other in words):
                return normalisation.excerpt(word, 30)
    found = _WORD_BEYOND_ASCII.search("\n".join(own))
    return normalisation.excerpt(found.group(), 30) if found else ""


def _is_clear(sample: bytes, guesses: list[_Guess]) -> bool:
    beyond_ascii = len(sample) - len(sample.translate(None, bytes(range(128, 256))))
    if not guesses or beyond_ascii < _ENOUGH_BYTES:
        return False
    best = guesses[0]
    if best.name in _OF_EAST_ASIA:  # These read each other's files, into nonsense.
        return False
    return all(
        other.mess - best.mess > _LESS_MESS
        or (other.mess >= best.mess and best.language - other.language > _MORE_LANGUAGE)
        for other in guesses[1:]
    )


def _sample(path: str) -> bytes:
    """Lines with bytes beyond ASCII, from wherever they are in the file."""
    found: list[bytes] = []
    size, rest = 0, b""
    with files.open_bytes(path) as file:
        while size < _SAMPLE_BYTES and (block := file.read(_BLOCK_BYTES)):
            *lines, rest = _LINE_END.split(rest + block)
            if len(rest) > _BLOCK_BYTES:
                lines, rest = [*lines, rest], b""
            for line in lines:
                if not line.isascii() and size < _SAMPLE_BYTES:
                    found.append(line)
                    size += len(line)
    if size < _SAMPLE_BYTES and not rest.isascii():
        found.append(rest)
    return b"\n".join(found)


def _detected(path: str) -> str:
    sample = _sample(path)
    guesses = _guesses(sample)
    if _is_clear(sample, guesses):
        return codec_name(guesses[0].name)
    if not guesses:
        raise files.refusal(
            path, "this is not UTF-8, and in no encoding that is in use", _EXPORT_AGAIN
        )
    raise files.refusal(
        path,
        "this is not UTF-8, and `data.encoding=auto` is not sure: it may be "
        f"{_alternatives(guesses)}",
        f"Name the one that reads right, like `--set data.encoding={guesses[0].name}`.",
    )


def _alternatives(guesses: list[_Guess]) -> str:
    return " or ".join(str(guess) for guess in guesses[:_GUESSES_SHOWN])


# Refusals

_EXPORT_AGAIN = "It may be damaged: copy it again, or export it as UTF-8."


def undecodable(path: str, encoding: str) -> DataRefused:
    """The error for a file that is not in the encoding it was to be in."""
    line, byte = _first_wrong_byte(path, encoding)
    found = f"this is not {encoding.upper() if encoding == UTF_8 else encoding}"
    if byte is not None:
        found += f" (byte 0x{byte:02X})"
    sample = _sample(path)
    guesses = [g for g in _guesses(sample) if codec_name(g.name) != encoding]
    if not guesses:
        return files.refusal(path, found, _EXPORT_AGAIN, line=line)
    if _is_clear(sample, guesses):
        found += f"; it looks like {guesses[0]}"
        advice = "Read it as that"
    else:
        found += f"; it may be {_alternatives(guesses)}"
        advice = "Name the one that reads right"
    name = guesses[0].name
    return files.refusal(
        path,
        found,
        f"{advice}, `--set data.encoding={name}`, or save it as UTF-8: "
        f"`{_conversion(path, name)}`.",
        line=line,
    )


def _first_wrong_byte(path: str, encoding: str) -> tuple[int, int | None]:
    """(its line, its value), which the decoder, reading blocks, does not tell."""
    decoder = codecs.getincrementaldecoder(encoding)()
    number, ends_in_cr, last = 1, False, False
    with files.open_bytes(path) as file:
        while not last:
            block = file.read(_BLOCK_BYTES)
            last = not block
            state = decoder.getstate()
            try:
                text, byte = decoder.decode(block, last), None
            except UnicodeDecodeError as error:
                byte = error.object[error.start]
                # `object` begins with what was left over of the block before.
                good = max(error.start - (len(error.object) - len(block)), 0)
                decoder.setstate(state)
                text = decoder.decode(block[:good])
            number += text.count("\n") + text.count("\r") - text.count("\r\n")
            number -= int(ends_in_cr and text.startswith("\n"))
            ends_in_cr = text.endswith("\r") if text else ends_in_cr
            if byte is not None:
                return number, byte
    return number, None


def _other_than_wanted(path: str, wide: str, wanted: str) -> DataRefused:
    family = wide[:6]
    return files.refusal(
        path,
        f"this looks like {family.upper()}, and {wanted.upper()} is read",
        f"Read it as that, `--set data.encoding={family}`, or convert it: "
        # By its mark iconv knows the order of the bytes, else it has to be told.
        f"`{_conversion(path, wide)}`.",
    )


def _conversion(path: str, encoding: str) -> str:
    name = encoding.upper().replace("MAC_ROMAN", "MACINTOSH").replace("_", "-")
    name = re.sub(r"^(UTF-(?:16|32))-([LB]E)$", r"\1\2", name)
    return files.command_on(path, f"iconv -f {name} -t UTF-8")
