"""How something is shown: shapes, pictures, messages and live controls. Knows nothing of what it shows."""
