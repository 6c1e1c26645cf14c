"""The messages of mail; both only say "look".

Mail has a queue, and so threads, of its own: a mail server that hangs delays nothing else.
"""

from shared.queue import Task

SEND_MAIL = Task(actor="send_mail", queue="mail")
TIDY_MAILS = Task(actor="tidy_mails", queue="mail")
