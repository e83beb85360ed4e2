"""Tests of the exercises: what each has to have, and the notation of wrong answers."""
