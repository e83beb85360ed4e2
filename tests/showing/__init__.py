"""Tests of drawings, live pictures and their fonts."""
