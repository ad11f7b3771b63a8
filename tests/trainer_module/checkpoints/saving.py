"""A training that does nothing but save, for a test to kill: `saving.py FOLDER`.

Goes on from the newest checkpoint, and prints the number of each update that is on
the disk.
"""

import sys

import numpy as np

from trainer_module.checkpoints.store import Store


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def main(folder: str) -> None:
    store = Store(folder, keep=2, tell=lambda sentence: say("told:", sentence))
    newest = store.newest()
    update = newest.facts["update"] if newest else 0
    say("from", update)
    while True:
        update += 1
        arrays = {"a": np.full(50_000, update), "b": np.full(3, -update)}
        if update % 3 == 0:
            store.save_best(arrays, {"update": update}, update=update)
        store.save(arrays, {"update": update}, update=update)
        store.wait()
        say(update)


main(sys.argv[1])
