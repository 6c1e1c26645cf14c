"""Files of other programs, such as transcripts of coding agents, that become events."""
