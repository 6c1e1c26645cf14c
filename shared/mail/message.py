"""A mail as it travels: headers, and the text and the HTML as alternatives."""

import uuid
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP

from shared.mail.rendering import Content

# Not every mail server takes 8-bit bodies.
_POLICY = SMTP.clone(cte_type="7bit")


class Unaddressable(Exception):
    """The recipient is not one address that a mail can be sent to."""


def compose(
    mail_id: uuid.UUID, content: Content, *, sender: str, recipient: str, at: datetime
) -> EmailMessage:
    """The message; its Message-ID is the mail's own, so a receiver knows a repeated one.

    `sender` is one address, with or without a name. Raises `Unaddressable`.
    """
    message = EmailMessage(policy=_POLICY)
    message["From"] = sender
    try:
        message["To"] = recipient
        found = [address.addr_spec for address in message["To"].addresses if address.domain]
    except (ValueError, IndexError):  # Line breaks, and what the parser trips over.
        found = []
    if found != [recipient]:
        raise Unaddressable("the recipient is not one address")
    message["Subject"] = content.subject
    message["Date"] = at
    message["Message-ID"] = f"<{mail_id}@{message['From'].addresses[0].domain}>"
    # Asks out-of-office replies to stay away (RFC 3834).
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(content.text)
    message.add_alternative(content.html, subtype="html")
    return message
