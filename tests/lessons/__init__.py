"""Tests of the notebooks as wholes: their form, solved, in a browser, on bad days."""
