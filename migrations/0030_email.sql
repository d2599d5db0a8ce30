-- E-mail: what an account sends, what it receives in inboxes of its own, and the domains that it has proved.

CREATE SCHEMA email;

-- The key that signs an account's mail (DKIM): private_key is PKCS #8, encrypted; public_key stands in the domain's record.
CREATE TABLE email.signing_key (
  account_id text COLLATE "C" PRIMARY KEY,
  selector text COLLATE "C" NOT NULL,
  private_key bytea NOT NULL,
  public_key text NOT NULL,
  created_at timestamptz NOT NULL
);

-- due_at: when its records are looked at again, or when the lease of the look under way ends. attempt: looks begun, and the fence of what
-- they say. missing_since: for how long the required records have not been there.
CREATE TABLE email.domain (
  account_id text COLLATE "C" NOT NULL,
  domain text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  -- JSON: the records as the last look found them
  records text NOT NULL,
  checked_at timestamptz,
  verified_at timestamptz,
  missing_since timestamptz,
  due_at timestamptz,
  attempt integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, domain)
);
CREATE INDEX domain_due ON email.domain (account_id, due_at) WHERE due_at IS NOT NULL;

-- Addresses that get no mail of the account.
CREATE TABLE email.suppression (
  account_id text COLLATE "C" NOT NULL,
  -- in lower case
  address text COLLATE "C" NOT NULL,
  reason text NOT NULL,
  -- the mail that led to it
  email_id text COLLATE "C",
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, address)
);

-- due_at: when the next attempt is due, or when the lease of the one under way ends; null once nothing is left to do. attempt: attempts
-- begun, and the fence of their outcomes.
CREATE TABLE email.message (
  account_id text COLLATE "C" NOT NULL,
  email_id text COLLATE "C" NOT NULL,
  -- the call that made it
  key_id text COLLATE "C" NOT NULL,
  request_id text NOT NULL,
  capability text NOT NULL,
  -- as the headers have them; from_domain in lower case
  from_header text NOT NULL,
  from_address text NOT NULL,
  from_domain text COLLATE "C" NOT NULL,
  to_header text[] NOT NULL,
  subject text NOT NULL,
  message_id text COLLATE "C" NOT NULL,
  tags text[] NOT NULL,
  unsubscribe boolean NOT NULL,
  track_opens boolean NOT NULL,
  track_clicks boolean NOT NULL,
  status text COLLATE "C" NOT NULL,
  captured boolean NOT NULL,
  vendor text COLLATE "C" NOT NULL,
  -- chosen by the call: no other is tried
  vendor_pinned boolean NOT NULL,
  -- the mail without its signature: here, or in the asset store under its id; both null once it is too old
  source bytea,
  source_bytes bigint NOT NULL,
  source_stored boolean NOT NULL,
  -- mails of one call share a hold, which is settled when the last of them has ended
  hold_id text COLLATE "C" NOT NULL,
  unit_nanos bigint NOT NULL,
  send_at timestamptz NOT NULL,
  due_at timestamptz,
  attempt integer NOT NULL DEFAULT 0,
  -- attempts that ended with somebody deferred: the next pause follows from it
  deferrals integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  sent_at timestamptz,
  PRIMARY KEY (account_id, email_id)
) WITH (fillfactor = 70);
CREATE INDEX message_due ON email.message (account_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX message_hold ON email.message (account_id, hold_id);
-- bounces name the mail alone
CREATE INDEX message_id ON email.message (email_id);
CREATE INDEX message_age ON email.message (created_at) WHERE due_at IS NULL;

-- sending: it may have been handed over; a process that finds it so, and did not send it itself, knows no more than `indeterminate`.
CREATE TABLE email.recipient (
  account_id text COLLATE "C" NOT NULL,
  email_id text COLLATE "C" NOT NULL,
  number integer NOT NULL,
  -- to, cc or bcc
  kind text NOT NULL,
  address text NOT NULL,
  status text COLLATE "C" NOT NULL,
  sending boolean NOT NULL DEFAULT false,
  -- the relay took it, or may have: it is charged, whatever a report says later
  taken boolean NOT NULL DEFAULT false,
  -- of the reply or the report: an enhanced status code, or the reply's, and its words
  code text,
  detail text,
  changed_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, email_id, number)
) WITH (fillfactor = 70);

-- Recipients of mail that an account has ordered in a minute.
CREATE TABLE email.minute (
  account_id text COLLATE "C" PRIMARY KEY,
  minute timestamptz NOT NULL,
  recipients bigint NOT NULL
) WITH (fillfactor = 50);

-- Bounces of an address that come to nothing by themselves: three in 30 days suppress it.
CREATE TABLE email.bounce (
  account_id text COLLATE "C" NOT NULL,
  address text COLLATE "C" NOT NULL,
  email_id text COLLATE "C" NOT NULL,
  bounced_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, address, email_id)
);
CREATE INDEX bounce_age ON email.bounce (bounced_at);

CREATE TABLE email.inbox (
  account_id text COLLATE "C" NOT NULL,
  inbox_id text COLLATE "C" NOT NULL,
  -- in lower case
  address text COLLATE "C" NOT NULL,
  domain text COLLATE "C" NOT NULL,
  -- each mail also becomes a message there
  queue text,
  -- mail received and not yet removed
  message_count bigint NOT NULL DEFAULT 0,
  -- of the mail received last
  last_seq bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, inbox_id)
);

-- Whose an address is: it exists once in the service, and mail arrives for it without an account.
CREATE TABLE email.inbox_address (
  address text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL,
  inbox_id text COLLATE "C" NOT NULL
);

CREATE TABLE email.received (
  account_id text COLLATE "C" NOT NULL,
  inbound_id text COLLATE "C" NOT NULL,
  inbox_id text COLLATE "C" NOT NULL,
  -- orders the mail of the inbox
  seq bigint NOT NULL,
  from_header text NOT NULL,
  from_address text NOT NULL,
  to_header text[] NOT NULL,
  subject text NOT NULL,
  -- JSON: text, html, attachments, auth, and what a reply needs
  content text NOT NULL,
  -- SHA-256 of the mail as it was handed over, to know it again
  digest bytea NOT NULL,
  message_id text COLLATE "C",
  in_reply_to text COLLATE "C",
  thread_id text COLLATE "C" NOT NULL,
  source bytea,
  source_bytes bigint NOT NULL,
  source_stored boolean NOT NULL,
  -- the message of its inbox's queue is still to be published; null: there is none, or it is
  due_at timestamptz,
  attempt integer NOT NULL DEFAULT 0,
  received_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, inbound_id)
);
CREATE UNIQUE INDEX received_order ON email.received (account_id, inbox_id, seq);
CREATE INDEX received_message ON email.received (account_id, message_id);
CREATE INDEX received_due ON email.received (account_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX received_age ON email.received (received_at);

SELECT core.distribute();
