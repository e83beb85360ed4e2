"""What a check makes of an answer: running it, naming its fault, and the verdict."""
