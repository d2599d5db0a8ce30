-- People: mail to them, who they are, what they may act for, and their sessions. All found without an account, so every node has it whole.

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

-- Somebody who signs in. account_id: the account that a new session is for.
CREATE TABLE core.person (
  person_id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL,
  -- where mail to the person goes; somebody has shown that it is theirs
  email text,
  name text,
  created_at timestamptz NOT NULL
);

-- How a person is known: (issuer, subject) of an identity provider, or issuer `email` and the address. Equal addresses link nothing.
CREATE TABLE core.identity (
  issuer text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  person_id text COLLATE "C" NOT NULL,
  -- that was made at its first sign-in; null: none was
  account_id text COLLATE "C",
  created_at timestamptz NOT NULL,
  PRIMARY KEY (issuer, subject)
);
CREATE INDEX identity_person ON core.identity (person_id);

-- Whose people may act for which account: owner or viewer. Read by both, so every node has it whole.
CREATE TABLE core.member (
  person_id text COLLATE "C" NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  role text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (person_id, account_id)
);
CREATE INDEX member_account ON core.member (account_id);

-- Of a browser: of a person, of a key (by the hash of its secret), or the operator's.
CREATE TABLE core.session (
  session_id text COLLATE "C" PRIMARY KEY,
  -- that it acts for now
  account_id text COLLATE "C" NOT NULL,
  -- person, key, operator
  kind text NOT NULL,
  person_id text COLLATE "C",
  secret_hash bytea,
  token_hash bytea NOT NULL,
  -- the token before this one, which lives on for a minute
  previous_hash bytea,
  previous_until timestamptz,
  signed_in_at timestamptz NOT NULL,
  rotated_at timestamptz NOT NULL,
  seen_at timestamptz NOT NULL,
  -- where it was opened, for the eyes of its person
  remote_address text NOT NULL,
  agent text NOT NULL
);
CREATE UNIQUE INDEX session_token ON core.session (token_hash);
CREATE INDEX session_previous ON core.session (previous_hash) WHERE previous_hash IS NOT NULL;
CREATE INDEX session_person ON core.session (person_id) WHERE person_id IS NOT NULL;
CREATE INDEX session_account ON core.session (account_id);
CREATE INDEX session_seen ON core.session (seen_at);

-- A sign-in by mail, or an invitation (account_id and role), that waits for its link or code. It is used once.
CREATE TABLE core.mail_sign_in (
  link_hash bytea PRIMARY KEY,
  -- that it invites to; null: it invites nowhere
  account_id text COLLATE "C",
  role text,
  email text NOT NULL,
  -- of the browser that asked, in which alone the code works; null: there is none
  browser_hash bytea,
  code_hash bytea,
  tries integer NOT NULL DEFAULT 0,
  return_to text NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX mail_sign_in_browser ON core.mail_sign_in (browser_hash) WHERE browser_hash IS NOT NULL;
CREATE INDEX mail_sign_in_account ON core.mail_sign_in (account_id) WHERE account_id IS NOT NULL;
CREATE INDEX mail_sign_in_expires ON core.mail_sign_in (expires_at);

-- How often something was asked for in a window of time: mails to an address, for example. Keys are hashes.
CREATE TABLE core.asked (
  key_hash text COLLATE "C" PRIMARY KEY,
  -- none: what is asked without an account
  account_id text COLLATE "C",
  started_at timestamptz NOT NULL,
  times integer NOT NULL
);
CREATE INDEX asked_started ON core.asked (started_at);
