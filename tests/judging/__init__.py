"""Tests of what a check makes of an answer."""
