"""Questions about the recording, whose true answers SQL knows."""
