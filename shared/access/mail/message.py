"""The message of a mail: headers, and the text and the HTML as alternatives."""

import uuid
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP

from shared.access.mail.rendering import MailContent

# Not every mail server accepts 8-bit bodies.
_POLICY = SMTP.clone(cte_type="7bit")


class Unaddressable(Exception):
    """The recipient is not a single address that a mail can be sent to."""


def compose(
    mail_id: uuid.UUID, content: MailContent, *, sender: str, recipient: str, at: datetime
) -> EmailMessage:
    """Creates the message.

    Its Message-ID is the mail's id, so a receiver recognizes a repeated one.

    `sender` is one address, with or without a name. Raises `Unaddressable`.
    """
    message = EmailMessage(policy=_POLICY)
    message["From"] = sender
    try:
        message["To"] = recipient
        found = [address.addr_spec for address in message["To"].addresses if address.domain]
    except (ValueError, IndexError):  # Line breaks, and input that breaks the parser.
        found = []
    if found != [recipient]:
        raise Unaddressable("the recipient is not one address")
    message["Subject"] = content.subject
    message["Date"] = at
    message["Message-ID"] = f"<{mail_id}@{message['From'].addresses[0].domain}>"
    # Asks automatic replies to stay away (RFC 3834).
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(content.text)
    message.add_alternative(content.html, subtype="html")
    return message
