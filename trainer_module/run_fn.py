"""The Trainer's entry point: reads, builds, trains, exports. One screen."""

import json
import os

import tensorflow as tf
import tensorflow_transform as tft
import tf_keras

from trainer_module import export, features
from trainer_module.input import batching, records
from trainer_module.loop import optimizers, strategies
from trainer_module.loop.controller import Controller, TrainingDiverged
from trainer_module.loop.evaluator import Evaluator
from trainer_module.loop.trainer import Trainer
from trainer_module.progress import Refusal, report
from trainer_module.settings import TrainerSettings
from trainer_module.tasks import base

HISTORY_FILE = "history.json"


def run_fn(fn_args) -> None:
    """Trains on `fn_args.train_files` and writes `fn_args.serving_model_dir`.

    Beside it goes `Format-HF`, the same weights for the Hugging Face libraries, and
    in `fn_args.model_run_dir` the loss of every epoch.
    """
    settings = TrainerSettings.from_custom_config(fn_args.custom_config)
    transform = tft.TFTransformOutput(fn_args.transform_output)
    train = records.read(fn_args.train_files, transform)
    held_out = records.read(fn_args.eval_files, transform)

    tf.keras.utils.set_random_seed(settings.train.seed)
    tf_keras.mixed_precision.set_global_policy(settings.train.precision)
    strategy = strategies.build(settings.strategy)
    with strategy.scope():
        task = base.build(settings, _label_names(settings, transform))
    history = _train(settings, strategy, task, train, held_out)

    report("exporting")
    export.save(task, fn_args.serving_model_dir)
    export.save_hugging_face(
        task,
        settings.checkpoint_dir,
        os.path.join(os.path.dirname(fn_args.serving_model_dir), "Format-HF"),
    )
    tf.io.gfile.makedirs(fn_args.model_run_dir)
    with tf.io.gfile.GFile(os.path.join(fn_args.model_run_dir, HISTORY_FILE), "w") as f:
        f.write(json.dumps(history))


def _train(settings, strategy, task, train: records.Rows, held_out: records.Rows):
    replicas = strategy.num_replicas_in_sync
    batch_size = -(-settings.train.batch_size // replicas) * replicas
    updates_per_epoch = -(-len(train) // batch_size)
    total_updates = updates_per_epoch * settings.train.epochs
    with strategy.scope():
        optimizer = optimizers.build(settings.train, total_updates=total_updates)
    trainer = Trainer(
        task=task,
        optimizer=optimizer,
        strategy=strategy,
        clip_norm=settings.train.clip_norm,
        xla=bool(tf.config.list_physical_devices("GPU")),
    )
    evaluator = Evaluator(task=task, strategy=strategy)
    width_of = batching.exact_length if strategies.on_cpu() else batching.padded_length

    def distributed(rows, plan):
        dataset = records.batches(rows, plan, pad_id=task.pad_id)
        return strategy.experimental_distribute_dataset(dataset)

    def train_epoch(epoch):
        plan = batching.plan_training(
            train.lengths,
            batch_size=batch_size,
            seed=settings.train.seed,
            epoch=epoch,
            width_of=width_of,
        )
        batches = distributed(train, plan)
        for loss_sum, weight_sum in trainer.train(batches, batches.element_spec):
            yield float(loss_sum), float(weight_sum)

    def evaluate():
        plan = batching.plan_validation(
            held_out.lengths, batch_size=batch_size, width_of=width_of
        )
        batches = distributed(held_out, plan)
        return evaluator.evaluate(batches, batches.element_spec)

    controller = Controller(
        train_epoch=train_epoch,
        evaluate=evaluate,
        updates_per_epoch=updates_per_epoch,
        examples_per_update=batch_size,
        listen=lambda kind, fields: report(kind, **fields),
    )
    report("training", rows=len(train), updates=total_updates, replicas=replicas)
    try:
        return controller.run(epochs=settings.train.epochs)
    except TrainingDiverged as error:
        raise Refusal(str(error)) from error


def _label_names(settings, transform: tft.TFTransformOutput) -> str | None:
    if settings.task != "classification":
        return None
    return transform.vocabulary_file_by_name(features.LABEL_NAMES_ASSET)
