"""Slides of the lessons, made with reveal.js: one page of HTML a lesson, which needs no network."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from course_lib.classroom import teaching
from course_lib.classroom.places import ClassError, chosen_lessons, free, naming, written
from course_lib.exercises import find, find_question
from course_lib.exercises.lessons import LESSONS, Lesson
from course_lib.quiz import LETTERS
from course_lib.setup.printable import printable
from course_lib.showing.fonts import font_faces

HERE = Path(__file__).parent
WIDTH, HEIGHT = 1160, 550  # pixels of a slide of 1280 × 720 inside its borders and below its heading
TEXT_SIZES, CODE_SIZES = (34, 30, 26, 22, 20), (24, 22, 20, 18, 16)  # of letters, in pixels
READABLE = 26, 18  # the smallest of each where a slide could be divided in place of shrinking it
WIDEST = 96  # characters that a printed line may have before it is broken; no line of code has more
LETTER, CODE_LETTER = 0.53, 0.61  # mean width of a letter, as a share of its size, with what the ends of lines lose
LINE, CODE_LINE = 1.4, 1.25  # height of a line, likewise
LAST = "What people get wrong"  # the section in which every lesson ends; its questions open the slides
SPACE, CELL, FRAME = 16, 9, 40  # pixels behind a paragraph, in a cell of a table and around code


@dataclass
class Slide:
    """Heading, what is seen below it and what only the speaker sees; the latter two are HTML."""

    heading: str
    body: str
    notes: str = ""
    kind: str = "text"


def slides(folder: Path, only: list[str], force: bool) -> list[Path]:
    """Write each lesson as slides, one page that holds everything; the pages written.

    ClassError for a lesson that does not exist or is damaged, and for files that are there.
    """
    chosen = chosen_lessons(only)
    targets = [folder / f"{path.stem}.slides.html" for path in chosen]
    free(targets, force)
    with written(folder):
        there = {target.name for target in [*targets, *folder.glob("*.slides.html")]}
        for (path, notebook), target in zip(chosen.items(), targets, strict=True):
            with naming(path):
                made = deck(notebook, path.name, there)
            target.write_text(made, encoding="utf-8")
            print(printable(target), flush=True)
    return targets


def deck(notebook: Any, file: str, there: set[str]) -> str:
    """The slides of the lesson in `file` as a page; its links lead to the pages of other lessons that are `there`."""
    lesson = next(one for one in LESSONS if one.file == file)
    sections = dict(_sections(notebook))
    asked = teaching.asked_in(file, list(sections))
    if LAST not in sections:
        raise ClassError(f'{file}: expected a section "## {LAST}", got {", ".join(sections)}')
    stacks = [_opening(notebook, lesson, sections[LAST])]
    for heading, parts in sections.items():
        stack = list(_section(heading, parts))
        for row in asked.get(heading, []):
            next((slide for slide in stack if slide.kind == "question"), stack[0]).notes += _ask(*row)
        stacks.append(stack)
    foot = escape(f"{lesson.number} {lesson.title}")
    seen = (f"<section>{''.join(_slide(slide, foot) for slide in stack)}</section>" for stack in stacks)
    return _page(foot, _links("\n".join(seen), there))


# ---------------------------------------------------------------- a notebook's cells as slides


def _sections(notebook: Any) -> Iterator[tuple[str, list[tuple[str, Any]]]]:
    """Each section of a lesson and its parts: (heading, text) for prose, ("", cell) for code."""
    heading, parts = "", []
    for cell in notebook.cells[1:]:
        if cell.cell_type == "code":
            parts.append(("", cell))
            continue
        for piece in re.split(r"^(?=##)", cell.source, flags=re.MULTILINE):
            head, _, rest = piece.partition("\n")
            level, _, title = head.partition(" ") if re.match("##+ .", head) else ("", "", "")
            text = rest if level else piece
            if level == "##":
                if heading:
                    yield heading, parts
                heading, parts = title, []
            if text.strip() and heading:
                parts.append((title or heading, text.strip()))
    yield heading, parts


def _section(heading: str, parts: list[tuple[str, Any]]) -> Iterator[Slide]:
    """The slides of one section: prose waits for the cell behind it, in case both fit on one slide."""
    title, text = heading, ""
    for name, part in parts:
        if name:
            yield from _fitted(title, text, "", "")
            title, text = name, part
            continue
        if part.id == "setup" or re.fullmatch(r"check\(\w+\)", part.source):
            continue
        asks = re.fullmatch(r'quiz\("(\w+)"\)', part.source)
        yield from _question(title, text, asks[1]) if asks else _code(title, text, part)
        title, text = heading, ""  # an exercise has its heading for itself
    yield from _fitted(title, text, "", "")


def _opening(notebook: Any, lesson: Lesson, wrong: list[tuple[str, Any]]) -> list[Slide]:
    """The title, whose notes prepare the speaker, and what the lesson is for."""
    notes = _html(notebook.cells[0].source.partition("\n")[2])
    notes += "<p><b>What people get wrong</b></p>" + "".join(_html(text) for name, text in wrong if name)
    body = (
        f'<p class="number">{lesson.number}</p><h1>{escape(lesson.title)}</h1>'
        f'<p class="asks">{escape(lesson.question)}</p><p>{lesson.minutes} minutes</p>'
    )
    head, _, aims = notebook.cells[1].source.partition("\n")
    return [Slide("", body, notes, "title"), *(_fitted(head, aims, "", "") if head.startswith("After") else [])]


def _code(heading: str, text: str, cell: Any) -> Iterator[Slide]:
    """A cell: prose in front of it, code and what it prints, then each of its pictures and tables."""
    printed = "".join(output.text for output in cell.outputs if output.output_type == "stream").rstrip()
    notes = _expected(cell) if "exercise" in cell.metadata.get("tags", []) else ""
    for slide in _fitted(heading, text, cell.source, printed):
        slide.notes, notes = notes, ""
        yield slide
    for output in cell.outputs:
        data = output.data if output.output_type == "execute_result" else {}  # what is displayed are progress bars
        if "image/png" in data:
            alt = escape(data["text/plain"])
            live = re.match(r"\w+\(", cell.source.splitlines()[-1])  # explorers are called by their bare name
            notes = "<p>In the notebook this picture is live: show it there.</p>" if live else ""
            image = f'<img src="data:image/png;base64,{data["image/png"].strip()}" alt="{alt}">'
            yield Slide(heading, image, notes, "picture")
        elif "text/html" in data:
            yield Slide(heading, data["text/html"], kind="table")


def _question(heading: str, text: str, name: str) -> Iterator[Slide]:
    """A question with its options, and the prose in front of it; the notes tell which is right, and why."""
    question = find_question(name)
    options = "".join(f"<li>{_inline(option.text)}</li>" for option in question.options)
    lettered = sorted(zip(LETTERS, question.options, strict=False), key=lambda pair: not pair[1].right)
    notes = "".join(
        f"<p><b>{letter}) {'right' if option.right else 'not quite'}.</b> {_inline(option.because)}</p>"
        for letter, option in lettered
    )
    asked = "\n".join([question.text, *(option.text for option in question.options)])
    if _sizes(f"{text}\n{asked}", "", "")[0] < READABLE[0]:
        yield from _fitted(heading, text, "", "")
        text = ""
    size, _ = _sizes(f"{text}\n{asked}", "", "")
    body = f'{_html(text)}<p><strong>{_inline(question.text)}</strong></p><ol type="a">{options}</ol>'
    yield Slide(heading, f'<div style="font-size: {size}px">{body}</div>', notes, "question")


def _expected(cell: Any) -> str:
    """Notes for an exercise: the wrong answers that are known, what their check says, and what helps beside it."""
    from course_lib.authoring.notebooks import exercise_definition

    exercise, helps = find(exercise_definition(cell).name), teaching.helps()
    told = [(wrong.name, wrong.because, helps.get((exercise.name, wrong.name), "")) for wrong in exercise.wrong]
    items = "".join(f"<li><b>{escape(name)}</b>: {_inline(f'{because} {help}')}</li>" for name, because, help in told)
    return f"<p><b>Wrong answers to expect</b></p><ul>{items}</ul>"


def _ask(question: str, answers: str, after: str) -> str:
    """Notes for an experiment, from TEACHING.md."""
    parts = {"Ask": question, "You will hear": answers, "After the run": after}
    return "".join(f"<p><b>{name}:</b> {_inline(text)}</p>" for name, text in parts.items())


# ---------------------------------------------------------------- what fits on a slide


def _fitted(heading: str, text: str, code: str, printed: str) -> Iterator[Slide]:
    """Prose, code and what it prints, on as few slides as hold them in letters that can be read at the back."""
    ways = [
        [(text, code, printed)],
        [(text, "", ""), ("", code, printed)],
        [(text, code, ""), ("", "", printed)],
        [(text, "", ""), ("", code, ""), ("", "", printed)],
    ]
    fullest = [max(_height(*parts, *READABLE) for parts in way) for way in ways]
    fitting = [(len(way), full, way) for way, full in zip(ways, fullest, strict=True) if full <= HEIGHT]
    for parts in min(fitting)[2] if fitting else ways[-1]:
        if any(parts):
            yield Slide(heading, _body(*parts, *_sizes(*parts)))


def _sizes(text: str, code: str, printed: str) -> tuple[int, int]:
    """The largest letters for prose and for code with which a slide is not overfull, or the smallest there are."""
    pairs = [(size, code_size) for size in TEXT_SIZES for code_size in CODE_SIZES]
    pairs.sort(key=lambda pair: (min(pair[0] / TEXT_SIZES[0], pair[1] / CODE_SIZES[0]), sum(pair)), reverse=True)
    fits = (pair for pair in pairs if _height(text, code, printed, *pair) <= HEIGHT)
    return next(fits, pairs[-1])


def _height(text: str, code: str, printed: str, size: int, code_size: int) -> float:
    """About how high a slide is below its heading, in pixels; infinite where a line of code is too wide."""
    columns = (WIDTH - FRAME) / (CODE_LETTER * code_size)
    lines = [*code.splitlines(), *(line for line in printed.splitlines() if len(line) <= WIDEST)]
    if max(map(len, lines), default=0) > columns:
        return math.inf
    rows = sum(max(1, math.ceil(len(line) / columns)) for line in (code + "\n" + printed).strip("\n").splitlines())
    frames = FRAME * (bool(code) + bool(printed))
    return sum(_line_height(line, size) for line in text.splitlines()) + rows * CODE_LINE * code_size + frames


def _line_height(line: str, size: int) -> float:
    """About how high one line of markdown, a paragraph or a row of a table, is."""
    plain = re.sub(r"\]\([^)]*\)|[*`\[]", "", line).strip()
    if not plain.strip("|- "):
        return 0
    if not plain.startswith("|"):
        return math.ceil(len(plain) * LETTER * size / WIDTH) * LINE * size + SPACE
    cells = plain.strip("|").split("|")
    return max(math.ceil(len(cell) * LETTER * size * len(cells) / WIDTH) for cell in cells) * LINE * size + CELL


def _body(text: str, code: str, printed: str, size: int, code_size: int) -> str:
    """What is seen below the heading; where the code is there too, what it prints comes with the next key."""
    from nbconvert.filters import Highlight2HTML

    parts = [f'<div style="font-size: {size}px">{_html(text)}</div>'] if text else []
    if code:
        lines = Highlight2HTML(pygments_lexer="python")(code)
        parts.append(f'<div class="code" style="font-size: {code_size}px">{lines}</div>')
    if printed:
        later = " fragment" if code else ""
        parts.append(f'<pre class="printed{later}" style="font-size: {code_size}px">{escape(printed)}</pre>')
    return "".join(parts)


# ---------------------------------------------------------------- HTML


def _html(markdown: str) -> str:
    from nbconvert.filters import markdown2html

    return markdown2html(markdown).replace("<th></th>", "<td></td>")  # an empty heading would be read out


def _inline(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _slide(slide: Slide, foot: str) -> str:
    heading = f"<h2>{_inline(slide.heading)}</h2>" if slide.heading else ""
    notes = f'<aside class="notes">{slide.notes}</aside>' if slide.notes else ""
    inside = f'{heading}<div class="body">{slide.body}</div><p class="foot">{foot}</p>'
    return f'<section><div class="slide {slide.kind}">{inside}</div>{notes}</section>'


def _links(html: str, there: set[str]) -> str:
    """Links lead to slides of other lessons or, in a tab of their own, to the web; of others the words stay."""
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(html, "html.parser")
    for link in soup.find_all("a"):
        address = str(link["href"])
        lesson = re.sub(r"\.ipynb(#.*)?$", ".slides.html", address)
        if lesson in there:
            link["href"] = lesson
        elif re.match("https?:", address):
            link["target"] = "_blank"
        else:
            link.unwrap()
    return str(soup)


def _page(title: str, slides: str) -> str:
    """The page that holds slides, style and scripts."""
    from pygments.formatters import HtmlFormatter

    reveal = HERE / "reveal"
    licences = "\n".join((reveal / name).read_text(encoding="utf-8") for name in ("LICENSE", "LICENSE-marked.md"))
    styles = "\n".join(path.read_text(encoding="utf-8") for path in (reveal / "reset.css", reveal / "reveal.css"))
    styles += HtmlFormatter(style="vs").get_style_defs(".code") + (HERE / "slides.css").read_text(encoding="utf-8")
    scripts = [(reveal / name).read_text(encoding="utf-8") for name in ("reveal.js", "notes.js")]
    # In a script of a page these three would end or confuse it; the escape means the same in JavaScript.
    scripts = [re.sub(r"<(?=!--|/?script)", r"\\x3C", script) for script in scripts]
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<!-- Holds reveal.js:
{licences}-->
<style>{font_faces(title + slides)}{styles}</style>
</head>
<body>
<main><div class="reveal"><div class="slides">
{slides}
</div></div></main>
<script>{scripts[0]}</script>
<script>{scripts[1]}</script>
<script>
Reveal.initialize({{
  width: 1280, height: 720, margin: 0, center: false, hash: true, transition: "none",
  slideNumber: "c/t", plugins: [RevealNotes],
}});
</script>
</body>
</html>
"""
