-- Who gave an invitation: it holds only as long as that person owns the account. Invitations of before name nobody, and hold no more.
ALTER TABLE core.mail_sign_in ADD COLUMN invited_by text COLLATE "C";
