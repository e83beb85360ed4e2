"""Tests of what teachers run."""
