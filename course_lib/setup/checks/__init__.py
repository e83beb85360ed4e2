"""What the doctor looks at, beside versions. Standard library only at import."""

Fact = tuple[str, str, str]
"""A line of the report: "ok", "note" or "problem"; the name; what is the case and, if need be, what to do."""
