"""The SavedModel: self-contained, small, and the same answers in every batch."""

import json
import os
import pathlib
import shutil

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from trainer_module import export
from trainer_module.tasks import building

pytestmark = pytest.mark.slow

LABEL_NAMES = [
    " leading",
    "Refund_not_showing_up",
    "fee, fee",
    "reverted?",
    "退款 未到",
]
TEXTS = [
    "my card is late",
    "",
    "where are you ? 😀",
    "the fee was too high . " * 60,
    "lost",
]
OUTPUTS = {
    "classification": {
        "label": (tf.string, [None]),
        "score": (tf.float32, [None]),
        "labels": (tf.string, [None, 5]),
        "scores": (tf.float32, [None, 5]),
    },
    "summarization": {"text": (tf.string, [None])},
}
KINDS = list(OUTPUTS)


def make(kind, settings_for, checkpoint, folder):
    """A task from a copy of the checkpoint, its export, and the copy taken away."""
    copy, names = folder / "checkpoint", folder / "label_names"
    shutil.copytree(checkpoint, copy)
    names.write_bytes("".join(f"{name}\n" for name in LABEL_NAMES).encode())
    tf.keras.utils.set_random_seed(0)
    task = building.build(
        settings_for(kind, str(copy)),
        str(names) if kind == "classification" else None,
    )
    export.save(task, str(folder / "export"))
    copy.rename(folder / "checkpoint-away")
    names.rename(folder / "label_names-away")
    return task, str(folder / "export")


@pytest.fixture(scope="module")
def exported(settings_for, tiny_bert_dir, lively_t5_dir, tmp_path_factory):
    """For each kind the task and the folder of its export."""
    folders = {"classification": tiny_bert_dir, "summarization": lively_t5_dir}
    return {
        kind: make(kind, settings_for, path, tmp_path_factory.mktemp(kind))
        for kind, path in folders.items()
    }


@pytest.fixture(scope="module")
def served(exported):
    """For each kind the loaded SavedModel."""
    return {kind: tf.saved_model.load(path) for kind, (_, path) in exported.items()}


def examples(texts) -> tf.Tensor:
    def example(text):
        value = tf.train.BytesList(value=[text.encode()])
        feature = {"text": tf.train.Feature(bytes_list=value)}
        return tf.train.Example(features=tf.train.Features(feature=feature))

    return tf.constant([example(t).SerializeToString() for t in texts], tf.string)


def ask(model, texts):
    answer = model.signatures["serving_default"](text=tf.constant(texts, tf.string))
    return {name: values.numpy() for name, values in answer.items()}


def assert_same(one, other):
    assert set(one) == set(other)
    for name, values in one.items():
        if values.dtype == object:
            np.testing.assert_array_equal(values, other[name])
        else:
            np.testing.assert_allclose(values, other[name], atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_signatures_have_these_inputs_and_outputs(kind, served):
    signatures = served[kind].signatures
    assert set(signatures) == {"serving_default", "serving_examples"}
    for signature, name in (
        ("serving_default", "text"),
        ("serving_examples", "examples"),
    ):
        spec = signatures[signature].structured_input_signature
        assert spec == ((), {name: tf.TensorSpec([None], tf.string, name=name)})
        outputs = signatures[signature].structured_outputs
        found = {k: (v.dtype, v.shape.as_list()) for k, v in outputs.items()}
        assert found == OUTPUTS[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_export_answers_as_the_trained_model_does(kind, exported, served):
    task, _ = exported[kind]
    answer = {name: v.numpy() for name, v in task.answer(tf.constant(TEXTS)).items()}
    assert_same(ask(served[kind], TEXTS), answer)


@pytest.mark.parametrize("kind", KINDS)
def test_both_signatures_give_the_same_answers(kind, served):
    by_example = served[kind].signatures["serving_examples"](examples=examples(TEXTS))
    by_example = {name: values.numpy() for name, values in by_example.items()}
    assert_same(ask(served[kind], TEXTS), by_example)


@pytest.mark.parametrize("rows", [0, 1, 3, 32, 70])
@pytest.mark.parametrize("kind", KINDS)
def test_any_number_of_rows_is_answered_in_order(kind, rows, served):
    alone = [ask(served[kind], [text]) for text in TEXTS]
    together = ask(served[kind], [TEXTS[n % 5] for n in range(rows)])
    for name, values in together.items():
        assert values.shape[0] == rows
        assert values.shape[1:] == alone[0][name].shape[1:]
    for n in range(rows):
        row = {name: values[n : n + 1] for name, values in together.items()}
        assert_same(row, alone[n % 5])


@pytest.mark.parametrize("kind", KINDS)
def test_empty_batch_of_examples_is_answered_too(kind, served):
    answer = served[kind].signatures["serving_examples"](examples=examples([]))
    assert {name: len(values) for name, values in answer.items()} == {
        name: 0 for name in OUTPUTS[kind]
    }


def test_answers_differ_between_texts(served):
    scores = ask(served["classification"], TEXTS)["scores"]
    assert np.unique(scores.round(4), axis=0).shape[0] >= 4
    assert len(set(ask(served["summarization"], TEXTS)["text"])) >= 4


def test_label_names_come_back_letter_for_letter(served):
    answer = ask(served["classification"], TEXTS)
    for row in answer["labels"]:
        assert [name.decode() for name in row] == LABEL_NAMES
    best = answer["scores"].argmax(axis=1)
    assert [n.decode() for n in answer["label"]] == [LABEL_NAMES[b] for b in best]


def test_summary_has_no_special_token(served):
    for text in ask(served["summarization"], TEXTS)["text"]:
        for token in ("<pad>", "</s>", "<unk>", "<extra_id", "⁇"):
            assert token not in text.decode()


@pytest.mark.parametrize("kind", KINDS)
def test_single_text_without_a_batch_is_refused(kind, served):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"expected shape \[\?\]"):
        served[kind].signatures["serving_default"](text=tf.constant("my card"))


def test_example_without_text_is_refused_by_the_features_name(served):
    empty = tf.constant([tf.train.Example().SerializeToString()])
    with pytest.raises(tf.errors.InvalidArgumentError, match="text"):
        served["classification"].signatures["serving_examples"](examples=empty)


def saved_model(path) -> saved_model_pb2.SavedModel:
    data = pathlib.Path(path, "saved_model.pb").read_bytes()
    return saved_model_pb2.SavedModel.FromString(data)


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_serving_functions_are_traced(kind, exported):
    graph = saved_model(exported[kind][1]).meta_graphs[0]
    functions = {
        name.removeprefix("__inference_").rstrip("0123456789").rstrip("_")
        for name in graph.object_graph_def.concrete_functions
    }
    resources = {"_creator", "_initializer", "_destroyer"}
    assert functions - resources == {
        "serve",
        "serve_examples",
        "encode",
        "signature_wrapper_serve",
        "signature_wrapper_serve_examples",
    } - {"serve", "serve_examples"}
    # The model is in the file once, not once for each signature.
    bodies = [f.signature.name for f in graph.graph_def.library.function]
    assert len([name for name in bodies if "_answer_" in name]) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_variables_are_as_large_as_the_weights(kind, exported):
    task, path = exported[kind]
    weights = sum(4 * v.shape.num_elements() for v in task.model.variables)
    size = os.path.getsize(f"{path}/variables/variables.data-00000-of-00001")
    assert weights <= size <= weights * 1.02 + 16_000


TEXT_OPS = {
    "classification": ["FastBertNormalize", "FastWordpieceTokenizeWithOffsets"],
    "summarization": [
        "SentencepieceDetokenizeOp",
        "SentencepieceOp",
        "SentencepieceTokenizeOp",
        "SentencepieceVocabSizeOp",
    ],
}


@pytest.mark.parametrize("kind", KINDS)
def test_text_ops_that_a_server_must_know_are_these(kind, exported):
    library = saved_model(exported[kind][1]).meta_graphs[0].graph_def.library
    ops = {node.op for function in library.function for node in function.node_def}
    marks = ("TFText", "Bert", "Wordpiece", "Sentencepiece", "PyFunc")
    assert sorted(op for op in ops if any(m in op for m in marks)) == TEXT_OPS[kind]


ASK = """
import json, sys
import tensorflow as tf
import tensorflow_text
found = {}
for kind, path in json.loads(sys.argv[1]).items():
    model = tf.saved_model.load(path)
    answer = model.signatures["serving_default"](tf.constant(json.loads(sys.argv[2])))
    found[kind] = {k: v.numpy().tolist() for k, v in answer.items()}
ours = [m for m in sys.modules if m.split(".")[0] in ("trainer_module", "transformers")]
assert not ours, ours
print(json.dumps(found, default=lambda value: value.decode()))
"""


def test_fresh_process_answers_without_checkpoint_network_and_our_code(
    exported, served, run_alone, tmp_path
):
    moved = {}
    for kind, (_, path) in exported.items():
        moved[kind] = str(tmp_path / f"moved to {kind}")
        shutil.copytree(path, moved[kind])
    found = run_alone(ASK, json.dumps(moved), json.dumps(TEXTS))
    for kind in KINDS:
        want = ask(served[kind], TEXTS)
        for name, values in want.items():
            if values.dtype == object:
                want_texts = np.vectorize(bytes.decode)(values).tolist()
                assert found[kind][name] == want_texts
            else:
                np.testing.assert_allclose(found[kind][name], values, atol=1e-5)


def test_in_chunks_never_gives_more_rows_than_asked_and_never_none():
    def answer(text):
        rows = tf.shape(text)[0]
        with tf.control_dependencies([tf.debugging.assert_positive(rows)]):
            return {"rows": tf.fill([rows], rows), "text": tf.identity(text)}

    for batch, sizes in ((0, []), (2, [2, 2]), (3, [3] * 3), (7, [3] * 6 + [1])):
        texts = tf.constant([f"t{n}" for n in range(batch)], tf.string)
        found = export.in_chunks(answer, texts, rows_per_chunk=3)
        assert found["rows"].numpy().tolist() == sizes
        assert found["text"].numpy().tolist() == texts.numpy().tolist()
