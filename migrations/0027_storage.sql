-- Objects in buckets. Their bytes are in the asset store; what stands here says which they are, and who pays for holding them.
CREATE SCHEMA storage;

CREATE TABLE storage.bucket (
  account_id text COLLATE "C" NOT NULL,
  bucket text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  object_count bigint NOT NULL DEFAULT 0,
  bytes bigint NOT NULL DEFAULT 0,
  -- [{"prefix": text, "days": integer}]; null: objects never expire
  expire jsonb,
  -- {"queue": text, "events": [text]}; null: nobody is told
  notify jsonb,
  PRIMARY KEY (account_id, bucket)
) WITH (fillfactor = 70);

-- Buckets that are looked through for objects that have expired.
CREATE TABLE storage.expiry (
  account_id text COLLATE "C" NOT NULL,
  bucket text COLLATE "C" NOT NULL,
  due_at timestamptz,
  attempt integer NOT NULL DEFAULT 0,
  -- the rule that is looked at, from 0, and the last key that it has seen
  rule integer NOT NULL DEFAULT 0,
  after_key bytea NOT NULL DEFAULT '',
  PRIMARY KEY (account_id, bucket)
) WITH (fillfactor = 70);
CREATE INDEX expiry_due ON storage.expiry (account_id, due_at) WHERE due_at IS NOT NULL;

CREATE TABLE storage.object (
  account_id text COLLATE "C" NOT NULL,
  bucket text COLLATE "C" NOT NULL,
  -- UTF-8 as it was sent: the order of bytes is that of lists
  key bytea NOT NULL,
  blob_id text COLLATE "C" NOT NULL,
  bytes bigint NOT NULL,
  -- MD5 in hexadecimal; of parts the MD5 of theirs, with their number
  etag text NOT NULL,
  content_type text NOT NULL,
  -- {"cache_control": text, ...}: what is given back as headers
  headers jsonb,
  metadata jsonb,
  -- {"crc32": base64, ..., "type": "FULL_OBJECT" | "COMPOSITE"}
  checksums jsonb,
  tags jsonb,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, bucket, key)
);

-- Bytes that objects, and parts of uploads, are made of. writing: on their way in, and removed when nothing names them by due_at. live: named by
-- refs objects, or by a part. dead: removed at due_at, when whoever reads them is done.
CREATE TABLE storage.blob (
  account_id text COLLATE "C" NOT NULL,
  blob_id text COLLATE "C" NOT NULL,
  state text NOT NULL,
  refs integer NOT NULL,
  bytes bigint NOT NULL,
  -- where the bytes are, in order: for each piece the 16 bytes of its name and 8 of its length
  pieces bytea NOT NULL,
  due_at timestamptz,
  PRIMARY KEY (account_id, blob_id)
) WITH (fillfactor = 80);
CREATE INDEX blob_due ON storage.blob (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE storage.upload (
  account_id text COLLATE "C" NOT NULL,
  upload_id text COLLATE "C" NOT NULL,
  bucket text COLLATE "C" NOT NULL,
  key bytea NOT NULL,
  -- open, completed, aborted: the parts of the last two are removed by a sweep
  state text NOT NULL,
  -- grows with each part
  version integer NOT NULL DEFAULT 0,
  part_count integer NOT NULL DEFAULT 0,
  -- of all parts
  bytes bigint NOT NULL DEFAULT 0,
  content_type text NOT NULL,
  headers jsonb,
  metadata jsonb,
  tags jsonb,
  -- {"algorithm": "crc32", "type": "FULL_OBJECT" | "COMPOSITE"}; null: none is kept
  checksum jsonb,
  -- part numbers that the object is made of, as JSON, where that is not all; of a completed one
  kept text,
  -- what completing it answered
  etag text,
  created_at timestamptz NOT NULL,
  -- when an open one without progress is given up, or the parts of an ended one are removed
  due_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, upload_id)
) WITH (fillfactor = 80);
CREATE INDEX upload_of_bucket ON storage.upload (account_id, bucket, key, upload_id) WHERE state = 'open';
CREATE INDEX upload_due ON storage.upload (due_at);

CREATE TABLE storage.part (
  account_id text COLLATE "C" NOT NULL,
  upload_id text COLLATE "C" NOT NULL,
  part_number integer NOT NULL,
  blob_id text COLLATE "C" NOT NULL,
  bytes bigint NOT NULL,
  etag text NOT NULL,
  checksums jsonb,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, upload_id, part_number)
);

CREATE TABLE storage.share (
  account_id text COLLATE "C" NOT NULL,
  share_id text COLLATE "C" NOT NULL,
  bucket text COLLATE "C" NOT NULL,
  key bytea NOT NULL,
  filename text,
  -- null: no limit
  downloads_max integer,
  downloads integer NOT NULL DEFAULT 0,
  -- who made it: downloads are booked under this id
  key_id text NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, share_id)
);
CREATE INDEX share_expires ON storage.share (expires_at);

-- What an account holds, and for how long it has: charged by the hour. One row an account.
CREATE TABLE storage.held (
  account_id text COLLATE "C" NOT NULL,
  held_id text COLLATE "C" NOT NULL,
  -- of all objects and parts, since since_ms (milliseconds since the Unix epoch)
  bytes bigint NOT NULL DEFAULT 0,
  since_ms bigint NOT NULL,
  -- bytes times milliseconds up to since_ms that are not charged
  byte_ms numeric NOT NULL DEFAULT 0,
  -- the one that wrote last: what is held is booked under its id
  key_id text NOT NULL,
  -- since when an hour could not be charged
  unpaid_since timestamptz,
  due_at timestamptz,
  attempt integer NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, held_id)
) WITH (fillfactor = 70);
CREATE INDEX held_due ON storage.held (account_id, due_at) WHERE due_at IS NOT NULL;

-- What a queue is to be told of an object, written in the commit that changed it.
CREATE TABLE storage.notice (
  account_id text COLLATE "C" NOT NULL,
  notice_id text COLLATE "C" NOT NULL,
  queue text COLLATE "C" NOT NULL,
  payload text NOT NULL,
  key_id text NOT NULL,
  due_at timestamptz,
  attempt integer NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, notice_id)
);
CREATE INDEX notice_due ON storage.notice (account_id, due_at) WHERE due_at IS NOT NULL;

SELECT core.distribute();
