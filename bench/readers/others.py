"""What other libraries read of the documents of a folder: one line of JSON for each, {"path", "text"}.

pip install python-docx python-pptx openpyxl pdfminer.six odfpy
python3 others.py FOLDER > others.jsonl
"""
import json
import logging
import pathlib
import re
import sys

logging.disable(logging.CRITICAL)


def docx(path):
    import docx
    document = docx.Document(path)
    def of(part):
        yield from (paragraph.text for paragraph in part.paragraphs)
        for table in part.tables:
            for row in table.rows:
                for cell in row.cells:
                    yield from of(cell)
    return of(document)


def pptx(path):
    import pptx
    def of(shapes):
        for shape in shapes:
            if shape.shape_type == 6:
                yield from of(shape.shapes)
            if shape.has_text_frame:
                yield shape.text_frame.text
            if getattr(shape, "has_table", False):
                yield from (cell.text for row in shape.table.rows for cell in row.cells)
    for slide in pptx.Presentation(path).slides:
        yield from of(slide.shapes)
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame:
            yield slide.notes_slide.notes_text_frame.text


def xlsx(path):
    import openpyxl
    for sheet in openpyxl.load_workbook(path, data_only=True).worksheets:
        for row in sheet.iter_rows(values_only=True):
            yield from (str(value) for value in row if isinstance(value, str))


def pdf(path):
    from pdfminer.high_level import extract_text
    # What it writes for letters without a code.
    yield re.sub(r"\(cid:\d+\)", "", extract_text(path))


def odf(path):
    from odf import opendocument, teletype, text
    body = opendocument.load(path)
    for kind in (text.H, text.P):
        yield from (teletype.extractText(element) for element in body.getElementsByType(kind))


READERS = {".docx": docx, ".pptx": pptx, ".xlsx": xlsx, ".pdf": pdf, ".odt": odf, ".ods": odf, ".odp": odf}

for path in sorted(pathlib.Path(sys.argv[1]).rglob("*")):
    reader = READERS.get(path.suffix.lower())
    if reader is None or not path.is_file():
        continue
    try:
        said = "\n".join(reader(str(path)))
    except Exception as error:  # Whatever it fails with, it did not read the file.
        print(json.dumps({"path": str(path), "error": type(error).__name__}))
        continue
    print(json.dumps({"path": str(path), "text": said}))
