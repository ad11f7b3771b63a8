"""Publishing: all or nothing, and always a higher number. Real files, no mocks."""

import os
import pathlib
import resource
import signal
import subprocess
import sys
import threading
import time

import pytest

from serving import promotion
from tests.serving.models import leftovers, make_large_model, make_model, tree

ROOT = pathlib.Path(__file__).parents[2]


def publish_in_subprocess(model: str, base_dir, *, before: str = "", **options):
    code = f"{before}\nfrom serving import promotion\nimport sys\n" + (
        "try:\n    print(promotion.publish(sys.argv[1], sys.argv[2]).version)\n"
        "except promotion.PromotionError as error:\n"
        "    sys.exit(f'{type(error).__name__}: {error}')\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code, model, str(base_dir)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


# Versions


def test_first_publication_makes_base_dir_and_is_version_1(tmp_path):
    model = make_model(tmp_path / "model")
    base_dir = tmp_path / "serving" / "intents"

    publication = promotion.publish(model, str(base_dir))

    assert publication == promotion.Publication(version=1, created=True)
    assert tree(base_dir / "1") == tree(model)
    assert (base_dir / "1" / "assets").is_dir()
    assert leftovers(base_dir) == []


def test_versions_of_a_missing_folder_are_none(tmp_path):
    assert promotion.versions(str(tmp_path / "nowhere")) == []


def test_versions_are_numeric_folders_in_numeric_order(tmp_path):
    for name in ("10", "9", "007", ".incoming-11", "v12", "１３", "9" * 30):
        (tmp_path / name).mkdir()
    (tmp_path / "14").write_text("a file is no version")
    assert promotion.versions(str(tmp_path)) == [9, 10]


def test_a_new_version_is_above_every_number_in_the_folder(tmp_path):
    base_dir = tmp_path / "base"
    for name in ("1700000000", "08"):
        (base_dir / name).mkdir(parents=True)
    (base_dir / "1700000005").write_text("a stray file")
    model = make_model(tmp_path / "model")
    assert promotion.publish(model, str(base_dir)).version == 1700000006


def test_two_publications_in_one_second_are_two_versions(tmp_path):
    base_dir = str(tmp_path / "base")
    first = promotion.publish(make_model(tmp_path / "a", "a"), base_dir)
    second = promotion.publish(make_model(tmp_path / "b", "b"), base_dir)
    assert (first.version, second.version) == (1, 2)
    assert tree(tmp_path / "base" / "2") == tree(tmp_path / "b")


@pytest.mark.parametrize("clock", [lambda: 0.0, lambda: -1e9], ids=["frozen", "back"])
def test_the_clock_has_no_say(tmp_path, monkeypatch, clock):
    base_dir = str(tmp_path / "base")
    promotion.publish(make_model(tmp_path / "a", "a"), base_dir)
    monkeypatch.setattr(time, "time", clock)
    monkeypatch.setattr(time, "time_ns", lambda: int(clock() * 1e9))
    monkeypatch.setattr(time, "monotonic", clock)
    assert promotion.publish(make_model(tmp_path / "b", "b"), base_dir).version == 2


def test_a_deleted_version_is_never_given_again(tmp_path):
    base_dir = tmp_path / "base"
    for content in "abc":
        promotion.publish(make_model(tmp_path / content, content), str(base_dir))
    for name in ("2", "3"):
        (base_dir / name).rename(tmp_path / f"deleted-{name}")
    model = make_model(tmp_path / "d", "d")
    assert promotion.publish(model, str(base_dir)).version == 4
    assert promotion.versions(str(base_dir)) == [1, 4]


def test_going_back_by_publishing_the_old_model_is_a_new_version(tmp_path):
    base_dir = str(tmp_path / "base")
    old, new = make_model(tmp_path / "a", "a"), make_model(tmp_path / "b", "b")
    published = [promotion.publish(model, base_dir) for model in (old, new, old)]
    assert [p.version for p in published] == [1, 2, 3]
    assert tree(tmp_path / "base" / "3") == tree(old)


def test_a_record_without_a_number_is_refused(tmp_path):
    base_dir = tmp_path / "base"
    base_dir.mkdir()
    (base_dir / promotion.HIGHEST_VERSION_FILE).write_bytes(b"\xffseven\n")
    model = make_model(tmp_path / "model")
    with pytest.raises(promotion.RecordDamaged, match="seven.*Write that number"):
        promotion.publish(model, str(base_dir))
    assert promotion.versions(str(base_dir)) == []


# The same content


def test_the_same_content_again_copies_nothing(tmp_path):
    base_dir = tmp_path / "base"
    promotion.publish(make_model(tmp_path / "a"), str(base_dir))
    before = os.stat(base_dir / "1").st_ino
    again = promotion.publish(make_model(tmp_path / "b"), str(base_dir))
    assert again == promotion.Publication(version=1, created=False)
    assert promotion.versions(str(base_dir)) == [1]
    assert os.stat(base_dir / "1").st_ino == before


@pytest.mark.parametrize(
    "change",
    [
        lambda m: (m / "variables" / "variables.index").write_text("index b"),
        lambda m: (
            (m / "saved_model.pb").rename(m / "saved_model.pb.old")
            and (m / "saved_model.pb").write_text("graph a")
        ),
        lambda m: (m / "variables" / "extra").write_text(""),
        lambda m: (m / "variables" / "variables.index").unlink(),
    ],
    ids=["same_size_other_byte", "one_file_more", "empty_file_more", "one_file_less"],
)
def test_any_difference_in_content_is_a_new_version(tmp_path, change):
    base_dir = str(tmp_path / "base")
    model = make_model(tmp_path / "model")
    promotion.publish(model, base_dir)
    change(pathlib.Path(model))
    assert promotion.publish(model, base_dir) == promotion.Publication(2, True)


def test_digest_tells_where_a_name_ends(tmp_path):
    for folder, name, content in (("a", "x", "yz"), ("b", "xy", "z")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(content)
    digests = {promotion.content_digest(str(tmp_path / f)) for f in "ab"}
    assert len(digests) == 2


def test_links_are_copied_as_what_they_point_to(tmp_path):
    model = make_model(tmp_path / "model")
    (tmp_path / "vocabulary").write_text("words")
    os.symlink(tmp_path / "vocabulary", tmp_path / "model" / "assets" / "vocabulary")
    promotion.publish(model, str(tmp_path / "base"))
    copy = tmp_path / "base" / "1" / "assets" / "vocabulary"
    assert not copy.is_symlink()
    assert copy.read_text() == "words"


def test_a_server_of_another_user_may_read_what_was_published(tmp_path):
    promotion.publish(make_model(tmp_path / "model"), str(tmp_path / "base"))
    umask = os.umask(0)
    os.umask(umask)
    assert os.stat(tmp_path / "base" / "1").st_mode & 0o777 == 0o777 & ~umask


# All or nothing


def test_a_reader_never_sees_an_incomplete_version(tmp_path):
    base_dir = tmp_path / "base"
    base_dir.mkdir()
    model = make_large_model(tmp_path / "model", files=60, file_bytes=20_000)
    whole = {**{p: len(c) for p, c in tree(model).items()}}
    seen, done = [], threading.Event()

    def read():
        while not done.is_set():
            for name in filter(str.isdigit, os.listdir(base_dir)):
                files = tree_sizes(base_dir / name)
                seen.append((name, files == whole))
            time.sleep(0.001)

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(3):
        (tmp_path / "model" / "variables" / "part-0000").write_bytes(
            bytes([number]) * 20_000
        )
        promotion.publish(model, str(base_dir))
    time.sleep(0.05)
    done.set()
    reader.join()
    assert {name for name, _ in seen} == {"1", "2", "3"}
    assert all(complete for _, complete in seen)


def tree_sizes(folder: pathlib.Path) -> dict[str, int]:
    return {
        str(path.relative_to(folder)): path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_kill_in_mid_copy_leaves_no_version_and_the_next_publish_clears_up(tmp_path):
    base_dir = tmp_path / "base"
    model = make_large_model(tmp_path / "model", files=3000, file_bytes=2_000)
    publisher = publish_in_subprocess(model, base_dir)
    staging = base_dir / ".incoming-1" / "variables"
    deadline = time.monotonic() + 30
    while not (staging.is_dir() and len(os.listdir(staging)) > 5):
        assert time.monotonic() < deadline and publisher.poll() is None
        time.sleep(0.001)
    publisher.send_signal(signal.SIGKILL)
    publisher.communicate()

    assert publisher.returncode == -signal.SIGKILL
    assert promotion.versions(str(base_dir)) == []
    assert 5 < len(os.listdir(staging)) < 3000
    small = make_model(tmp_path / "small")
    assert promotion.publish(small, str(base_dir)).version == 1
    assert leftovers(base_dir) == []


def test_two_publishers_at_once_both_succeed_with_different_versions(tmp_path):
    base_dir = tmp_path / "base"
    models = [make_model(tmp_path / str(n), f"model {n}") for n in range(6)]
    publishers = [publish_in_subprocess(model, base_dir) for model in models]
    given = {}
    for model, publisher in zip(models, publishers, strict=True):
        out, err = publisher.communicate(timeout=60)
        assert publisher.returncode == 0, err
        given[int(out)] = model
    assert sorted(given) == promotion.versions(str(base_dir)) == [1, 2, 3, 4, 5, 6]
    for version, model in given.items():
        assert tree(base_dir / str(version)) == tree(model)
    assert leftovers(base_dir) == []


def test_a_publisher_waits_no_longer_than_it_was_told(tmp_path):
    base_dir = tmp_path / "base"
    model = make_model(tmp_path / "model")
    base_dir.mkdir()
    with (
        promotion._locked(str(base_dir), timeout_seconds=1),
        pytest.raises(promotion.PublisherBusy, match=rf"process \(id {os.getpid()}\)"),
    ):
        promotion.publish(model, str(base_dir), lock_timeout_seconds=0.1)
    assert promotion.publish(model, str(base_dir)).version == 1


# Refusals


@pytest.mark.parametrize("make", [True, False], ids=["empty", "missing"])
def test_a_folder_without_a_saved_model_is_refused(tmp_path, make):
    folder = tmp_path / "model"
    if make:
        (folder / "Format-Serving").mkdir(parents=True)
    with pytest.raises(promotion.NotASavedModel) as caught:
        promotion.publish(str(folder), str(tmp_path / "base"))
    message = str(caught.value)
    assert "saved_model.pb" in message and repr(str(folder)) in message
    assert ("['Format-Serving']" if make else "no such folder") in message
    assert not (tmp_path / "base").exists()


def test_base_dir_below_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    base_dir = str(tmp_path / "file" / "intents")
    model = make_model(tmp_path / "model")
    with pytest.raises(promotion.DestinationNotWritable, match="Not a directory"):
        promotion.publish(model, base_dir)


def test_base_dir_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    model = make_model(tmp_path / "model")
    with pytest.raises(promotion.DestinationNotWritable, match="File exists"):
        promotion.publish(model, str(tmp_path / "file"))


def test_a_bucket_is_refused_with_the_way_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = make_model(tmp_path / "model")
    with pytest.raises(promotion.DestinationNotWritable, match="gs://b/m.*Mount"):
        promotion.publish(model, "gs://b/m")
    assert os.listdir(tmp_path) == ["model"]


def test_read_only_base_dir_is_refused(tmp_path, mounted):
    model = make_model(tmp_path / "model")
    disk = mounted("size=1m")
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    with pytest.raises(promotion.DestinationNotWritable, match="Read-only"):
        promotion.publish(model, str(disk))


def test_a_model_larger_than_the_free_space_is_refused_before_the_copy(
    tmp_path, mounted
):
    model = make_large_model(tmp_path / "model", files=3, file_bytes=1_000_000)
    disk = mounted("size=2m")
    promotion.publish(make_model(tmp_path / "old", "old"), str(disk))
    with pytest.raises(promotion.NoSpaceLeft, match=r"3\.0 MB needed, 2\.1 MB fre"):
        promotion.publish(model, str(disk))
    assert promotion.versions(str(disk)) == [1]
    assert leftovers(disk) == []


def test_a_disk_that_fills_up_in_mid_copy_leaves_nothing(tmp_path, mounted):
    model = make_large_model(tmp_path / "model", files=50, file_bytes=10)
    # Out of inodes: free bytes remain, so only the copy itself can find out.
    disk = mounted("size=4m,nr_inodes=30")
    with pytest.raises(promotion.NoSpaceLeft, match="No space left.*inodes"):
        promotion.publish(model, str(disk))
    assert promotion.versions(str(disk)) == []
    assert leftovers(disk) == []
    assert promotion.publish(make_model(tmp_path / "s"), str(disk)).version == 1


def test_a_file_size_limit_in_mid_copy_leaves_nothing(tmp_path):
    base_dir = tmp_path / "base"
    model = make_large_model(tmp_path / "model", files=2, file_bytes=300_000)
    publisher = publish_in_subprocess(
        model,
        base_dir,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000,) * 2),
    )
    _, err = publisher.communicate(timeout=60)
    assert publisher.returncode == 1
    assert err.startswith("NoSpaceLeft:") and "File too large" in err
    assert "0.6 MB needed" in err and "free" in err
    assert promotion.versions(str(base_dir)) == []
    assert leftovers(base_dir) == []
