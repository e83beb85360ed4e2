"""Tests of how the course comes onto a machine, and of what it says there."""
