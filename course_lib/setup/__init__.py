"""How the course comes onto a computer and is started. Standard library only: it runs before anything is installed."""
