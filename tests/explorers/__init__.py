"""Tests of the lessons' live pictures against the numbers of the library."""
