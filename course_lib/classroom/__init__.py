"""For teachers: editions of the lessons, and an overview of a class. The commands are in commands.py."""
