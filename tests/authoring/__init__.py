"""Tests of how notebooks are run, stored and compared."""
