"""Sending of mail: the SMTP client, and the loop that works through due mails."""
