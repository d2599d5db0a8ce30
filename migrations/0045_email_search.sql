-- Mail of one recipient, the newest first.
CREATE INDEX recipient_address ON email.recipient (account_id, lower(address), email_id);
