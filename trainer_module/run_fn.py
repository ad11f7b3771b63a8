"""The Trainer's entry point: reads, builds, trains, exports. One screen."""

import contextlib
import json
import os
import tempfile

import tensorflow as tf
import tensorflow_transform as tft

from trainer_module import (
    adapters,
    embedding,
    export,
    features,
    untuned,
    warm_start,
)
from trainer_module.checkpoints import housekeeping, key
from trainer_module.checkpoints.store import Store
from trainer_module.input import records
from trainer_module.loop import precision, stopping, strategies
from trainer_module.loop.telling import Telling
from trainer_module.loop.training import Data, Training
from trainer_module.monitoring.watch import Watch
from trainer_module.progress import report
from trainer_module.settings import TrainerSettings
from trainer_module.tasks import base, building

HISTORY_FILE = "history.json"


def run_fn(fn_args) -> None:
    """Trains on `fn_args.train_files` and writes `fn_args.serving_model_dir`.

    Beside it goes `Format-HF`, the same weights for the Hugging Face libraries, and
    in `fn_args.model_run_dir` what every epoch told, and TensorBoard's files. A
    training that was ended before goes on from where it was.
    """
    settings = TrainerSettings.from_custom_config(fn_args.custom_config)
    # First of all: several workers can only meet before TensorFlow runs.
    strategy = strategies.build(settings.strategy, tpu=settings.tpu)
    with contextlib.ExitStack() as stack:
        stack.enter_context(stopping.listening())
        data = _read(fn_args, settings)
        folder = _folder(stack, fn_args, settings, data, strategy)
        store = Store(folder, tell=_note)
        stack.callback(store.close)
        training = Training(settings, data, strategy=strategy, store=store)
        resumed = training.resume()
        if not strategies.is_chief(strategy):
            training.run()
            return
        watch = _watch(training, os.path.join(folder, "tensorboard"))
        stack.callback(watch.close)
        _train(training, watch, resumed=resumed)
        report("exporting")
        _export(fn_args, training, watch)


def _read(fn_args, settings: TrainerSettings) -> Data:
    transform = tft.TFTransformOutput(fn_args.transform_output)
    names = None
    if settings.task == "classification":
        names = transform.vocabulary_file_by_name(features.LABEL_NAMES_ASSET)
    base_model = None
    if settings.train.warm_start == "blessed":
        base_model = fn_args.base_model
        if base_model is None:
            _note("No model is blessed yet: the training starts from the checkpoint.")
    return Data(
        train=records.read(fn_args.train_files, transform),
        held_out=records.read(fn_args.eval_files, transform),
        label_names_path=names,
        warm_start_dir=warm_start.folder_of(base_model),
    )


def _folder(stack, fn_args, settings: TrainerSettings, data: Data, strategy) -> str:
    """Where this training is kept: the same for the same weights to come."""
    if settings.training_dir is None:
        return stack.enter_context(tempfile.TemporaryDirectory())
    names = []
    if data.label_names_path:
        with tf.io.gfile.GFile(data.label_names_path, "rb") as f:
            names = f.read().decode("utf-8").split("\n")[:-1]
    name = key.training_key(
        fn_args.custom_config,
        data_digests={"train": data.train.digest(), "eval": data.held_out.digest()},
        label_names=names,
        replicas=strategy.num_replicas_in_sync,
        compiled=not strategies.on_cpu(),
        warm_start=warm_start.content_hash(data.warm_start_dir),
    )
    if strategies.is_chief(strategy):
        housekeeping.remove_abandoned(settings.training_dir, keep=name, tell=_note)
    return os.path.join(settings.training_dir, name)


def _watch(training: Training, folder: str) -> Watch:
    gradients = training.gradients
    if strategies.has_workers(training.strategy):
        # The chief alone is watched, and cannot compute one without the others.
        gradients = list
        if training.settings.train.tensorboard.histograms:
            _note("Histograms of gradients are not written with several workers.")
    return Watch(
        folder,
        training.settings,
        updates_before=training.progress.update,
        weights=lambda: ((v.name, v) for v in training.task.model.variables),
        gradients=gradients,
    )


def _train(training: Training, watch: Watch, *, resumed: bool) -> None:
    updates_before = training.progress.update
    report(
        "training",
        rows=len(training.data.train),
        updates=training.updates,
        updates_before=updates_before,
        replicas=training.strategy.num_replicas_in_sync,
        resumed=resumed,
        folder=training.store.folder,
        tensorboard=watch.folder,
        **adapters.describe(training.task.model),
    )
    telling = Telling(
        lambda kind, fields: report(kind, **fields),
        epochs=training.settings.train.epochs,
        updates_before=updates_before,
    )
    watch.graph(training.trainer.graph)
    training.run([telling, watch])


def _export(fn_args, training: Training, watch: Watch) -> None:
    settings = training.settings
    with training.strategy.scope():
        adapters.finish(training.task.model)
    task = _plain(training)
    export.save(task, fn_args.serving_model_dir)
    export.save_hugging_face(
        task,
        settings.checkpoint_dir,
        os.path.join(os.path.dirname(fn_args.serving_model_dir), "Format-HF"),
    )
    tf.io.gfile.makedirs(fn_args.model_run_dir)
    with tf.io.gfile.GFile(os.path.join(fn_args.model_run_dir, HISTORY_FILE), "w") as f:
        f.write(json.dumps(training.progress.history))
    if settings.train.ask_untuned:
        untuned.write(
            settings,
            training.data.train,
            training.data.held_out,
            label_names_path=training.data.label_names_path,
            folder=fn_args.model_run_dir,
        )
    most = settings.train.tensorboard.embedded_rows
    watch.finished(
        training.best_metrics, embedding.embed(task, training.data.held_out, most=most)
    )
    watch.close()
    watch.copy_to(os.path.join(fn_args.model_run_dir, "tensorboard"))


def _plain(training: Training) -> base.Task:
    """The same weights in a model of float32 on one device, which any server runs."""
    settings, task = training.settings, training.task
    alone = training.strategy is tf.distribute.get_strategy()
    if alone and settings.train.precision == "float32":
        return task
    with precision.policy("float32"):
        plain = building.build(settings, training.data.label_names_path)
    pairs = zip(plain.model.variables, task.model.variables, strict=True)
    for variable, trained in pairs:
        variable.assign(trained.numpy())
    return plain


def _note(text: str) -> None:
    report("note", message=text)
