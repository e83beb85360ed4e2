"""Makes text that others wrote safe to print: names, records, paths, messages."""

JOINERS = "\u200c\u200d"  # part of how names in Persian and Hindi are written

FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # also as wide signs of Chinese and Japanese


def printable(text: object) -> str:
    """The text with everything that cannot be seen shown as an escape, such as \\x1b; one line, whatever it held.

    So nothing in it can move the cursor, erase what stands there, feign another line or turn the order of letters.
    """
    return "".join(c if c.isprintable() or c in JOINERS else ascii(c)[1:-1] for c in str(text))


def cell(text: str) -> str:
    """The same for a cell of a table in CSV, which no spreadsheet takes for a formula."""
    shown = printable(text)
    return "'" + shown if shown.lstrip()[:1] in FORMULA else shown
