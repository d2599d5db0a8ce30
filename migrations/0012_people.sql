-- People: mail to them.

-- Mail that is to be sent, or that stands in the outbox of a service without a mail server; a day at most. Known by its id: who asks for a
-- link has no account yet.
CREATE TABLE core.mail (
  mail_id text COLLATE "C" PRIMARY KEY,
  -- whom it is about; null: nobody that is known
  account_id text COLLATE "C",
  recipient text NOT NULL,
  subject text NOT NULL,
  body_text text NOT NULL,
  body_html text NOT NULL,
  created_at timestamptz NOT NULL,
  -- when it is to be sent, or when the lease of who does ends; null: it stands in the outbox, or the mail server refused it
  due_at timestamptz,
  attempt integer NOT NULL DEFAULT 0
);
CREATE INDEX mail_due ON core.mail (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX mail_created ON core.mail (created_at);
