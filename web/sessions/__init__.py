"""Sessions: listed, exported, evaluated again."""
