"""The messages of mail, which only tell workers to look.

Mail has its own queue, and so its own threads: a mail server that hangs delays nothing else.
"""

from shared.queue import Task

SEND_MAIL = Task(actor="send_mail", queue="mail")
TIDY_MAILS = Task(actor="tidy_mails", queue="mail")
