"""Sending mail: the SMTP client, and the loop that works through due mails."""
