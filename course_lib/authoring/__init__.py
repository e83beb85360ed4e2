"""How a lesson is made: its notebook run, stored and solved."""
