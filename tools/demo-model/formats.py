"""A title and paragraphs as a file of the kind that its name says. Needs Debian's python3-docx and python3-reportlab.

Files are the same, byte for byte, whenever they are written.
"""
import datetime
import html
import io
import zipfile

import docx
from reportlab.lib.pagesizes import A5
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import Paragraph, SimpleDocTemplate

DATE = datetime.datetime(2026, 1, 1)


def write(path, title, paragraphs):
    make = {"md": markdown, "txt": text, "html": page, "docx": word, "pdf": pdf}[path.rsplit(".", 1)[1]]
    with open(path, "wb") as f:
        f.write(make(title, paragraphs))


def markdown(title, paragraphs):
    return ("# " + "\n\n".join([title, *paragraphs]) + "\n").encode()


def text(title, paragraphs):
    return ("= " + "\n\n".join([title, *paragraphs]) + "\n").encode()


def page(title, paragraphs):
    name, body = html.escape(title), "\n".join(f"    <p>{html.escape(p)}</p>" for p in paragraphs)
    return f"""<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>{name}</title>
    <style>body {{ font: 17px/1.6 Georgia, serif; max-width: 38em; margin: 3em auto; padding: 0 1em }}</style>
  </head>
  <body>
    <h1>{name}</h1>
{body}
  </body>
</html>
""".encode()


def word(title, paragraphs):
    document, out = docx.Document(), io.BytesIO()
    document.core_properties.title, document.core_properties.author = title, "Halvard"
    document.core_properties.created = document.core_properties.modified = DATE
    document.add_heading(title, 1)
    for p in paragraphs:
        document.add_paragraph(p)
    document.save(out)
    return undated(out.getvalue())


def undated(archive):
    """The same ZIP archive, its entries from DATE."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(zipfile.ZipInfo(name, DATE.timetuple()[:6]), old.read(name), zipfile.ZIP_DEFLATED)
    return out.getvalue()


def pdf(title, paragraphs):
    body = ParagraphStyle("body", fontName="Times-Roman", fontSize=12, leading=17, spaceAfter=10)
    head = ParagraphStyle("head", fontName="Times-Bold", fontSize=19, leading=24, spaceAfter=14)
    out = io.BytesIO()
    SimpleDocTemplate(out, pagesize=A5, title=title, author="Halvard", invariant=1).build(
        [Paragraph(html.escape(title), head), *(Paragraph(html.escape(p), body) for p in paragraphs)])
    return out.getvalue()
