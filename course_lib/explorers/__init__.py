"""Live pictures: controls above a drawing that follows them."""
