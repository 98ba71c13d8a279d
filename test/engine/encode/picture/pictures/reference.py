"""Vectors of the test's pictures by a pipeline that shares nothing with the server's: Pillow, LittleCMS, NumPy and ONNX
Runtime for Python.

    node test/engine/encode/picture/pictures/cases.ts /tmp/cases
    pip install pillow==13.0.0 numpy==2.4.6 onnxruntime==1.31.1
    python test/engine/encode/picture/pictures/reference.py /tmp/cases models/mobilenet-v2/model.onnx test/engine/encode/picture/pictures/reference.json
"""

import base64
import io
import json
import pathlib
import sys

import numpy
import onnxruntime
from PIL import Image, ImageCms, ImageOps

SIDE = 224
SRGB = ImageCms.createProfile("sRGB")


def upright_srgb(path):
    """The picture as a viewer shows it, over white."""
    picture = ImageOps.exif_transpose(Image.open(path))
    alpha = picture.getchannel("A") if "A" in picture.getbands() else None
    profile = picture.info.get("icc_profile")
    colours = picture.convert("RGB") if picture.mode not in ("RGB", "CMYK") else picture
    if profile:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        colours = ImageCms.profileToProfile(
            colours, source, SRGB, renderingIntent=ImageCms.Intent.PERCEPTUAL, outputMode="RGB"
        )
    colours = colours.convert("RGB")
    if alpha is None:
        return colours
    return Image.composite(colours, Image.new("RGB", colours.size, "white"), alpha)


def main(folder, weights, target):
    session = onnxruntime.InferenceSession(weights, providers=["CPUExecutionProvider"])
    vectors = {}
    for path in sorted(pathlib.Path(folder).iterdir()):
        small = upright_srgb(path).resize((SIDE, SIDE), Image.Resampling.BILINEAR)
        pixels = (numpy.asarray(small, dtype=numpy.float32) - 127.5) / 127.5
        feed = {"pixel_values": pixels.transpose(2, 0, 1)[None]}
        (vector,) = session.run(["image_embedding"], feed)
        unit = vector[0] / numpy.linalg.norm(vector[0])
        vectors[path.name] = base64.b64encode(unit.astype("<f4").tobytes()).decode()
    pathlib.Path(target).write_text(json.dumps(vectors, indent=2) + "\n")


main(*sys.argv[1:])
