"""The bounds of a turn, and of turns together."""

# Turns that run at once.
MAX_TURNS = 8
MAX_TURNS_OF_PERSON = 2

# A turn ends after so many answers of the model that call tools, and after so long.
MAX_STEPS = 16
MAX_TURN_SECS = 300.0
MAX_CALLS_OF_STEP = 8

# A turn that no worker has begun after this long is given up.
MAX_WAIT_SECS = 30.0
LEASE_SECS = 15.0

# A turn that no client has watched for this long is cancelled. A client that comes back in time
# goes on where it was.
UNWATCHED_SECS = 10.0

# The request of a client.
MAX_REQUEST_BYTES = 512 * 1024
MAX_MESSAGES = 200
MAX_QUESTION_CHARS = 20_000

# The answers of a turn, in characters, and the bytes of one answer of the model's server.
MAX_ANSWER_CHARS = 100_000
MAX_MODEL_BYTES = 4 * 1024 * 1024
# The results of the tools of one call, in characters.
MAX_RESULT_CHARS = 40_000
