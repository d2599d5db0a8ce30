-- Transformations with a name, and what signed addresses have rendered.
CREATE TABLE image.preset (
  account_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  -- {"resize": …}, as image.transform takes it
  transform jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, name)
);

-- Bytes are in the asset store, under the account and rendered_id, until a day after expires_at.
CREATE TABLE image.rendered (
  account_id text COLLATE "C" NOT NULL,
  -- digest of the source's bytes and of what was done to them
  rendered_id text COLLATE "C" NOT NULL,
  content_type text NOT NULL,
  bytes bigint NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, rendered_id)
);
CREATE INDEX rendered_expiry ON image.rendered (expires_at);

SELECT core.distribute();
