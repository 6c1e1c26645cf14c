"""People's SQL against the guard and the engine: hostile statements and analysts' questions."""
