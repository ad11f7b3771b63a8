"""What the kernel's files say is free."""

import pytest

from trainer_module.loop import free_memory

GB = 2**30
CONTAINER = "the memory limit of this container"


@pytest.fixture
def kernel(tmp_path):
    """Writes /proc and /sys/fs/cgroup, and reads what is free."""

    def read(files, *, cgroup="0::/job\n", available=8):
        files = {
            "proc/meminfo": f"MemTotal: 1 kB\nMemAvailable: {available * 2**20} kB\n",
            "proc/self/cgroup": cgroup,
            **files,
        }
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(str(text))
        return free_memory.read(str(tmp_path / "proc"), str(tmp_path / "cgroup"))

    return read


def v2(folder, limit, used, cache=0):
    return {
        f"cgroup/{folder}/memory.max": limit,
        f"cgroup/{folder}/memory.current": used,
        f"cgroup/{folder}/memory.stat": f"anon 5\ninactive_file {cache}\nshmem 0\n",
    }


def v1(folder, limit, used, cache=0):
    folder = f"cgroup/memory/{folder}"
    return {
        f"{folder}/memory.limit_in_bytes": limit,
        f"{folder}/memory.usage_in_bytes": used,
        f"{folder}/memory.stat": f"inactive_file 1\ntotal_inactive_file {cache}\n",
    }


@pytest.mark.parametrize("layout", [v2, v1])
def test_limit_of_a_container_counts_idle_page_cache_as_free(kernel, layout):
    cgroup = "0::/job\n" if layout is v2 else "9:cpu:/\n4:memory:/job\n0::/\n"
    found = kernel(layout("job", 4 * GB, 3 * GB, GB), cgroup=cgroup)
    assert found == free_memory.Free(2 * GB, CONTAINER)


def test_least_of_all_cgroups_above_is_taken(kernel):
    files = {**v2("a", 3 * GB, GB), **v2("a/b", 7 * GB, GB)}
    assert kernel(files, cgroup="0::/a/b\n").bytes_free == 2 * GB


def test_path_of_the_host_that_is_not_there_falls_back_to_the_root(kernel):
    found = kernel(v2("", 5 * GB, GB), cgroup="0::/kubepods/pod7/abc\n")
    assert found == free_memory.Free(4 * GB, CONTAINER)


@pytest.mark.parametrize(
    "files, cgroup",
    [
        ({}, "0::/\n"),
        (v2("job", "max\n", GB), "0::/job\n"),
        (v1("job", 9223372036854771712, GB), "4:memory:/job\n"),
        (v2("job", 100 * GB, GB), "0::/job\n"),
    ],
    ids=["no_files", "v2_max", "v1_max", "wider_than_the_machine"],
)
def test_without_a_narrower_limit_it_is_the_machine(kernel, files, cgroup):
    found = kernel(files, cgroup=cgroup)
    assert found == free_memory.Free(8 * GB, "this machine")


def test_more_used_than_the_limit_is_nothing_free(kernel):
    assert kernel(v2("job", GB, 2 * GB)).bytes_free == 0


def test_system_without_these_files_gives_none(tmp_path):
    assert free_memory.read(str(tmp_path), str(tmp_path)) is None
