-- Vectors: the truth. What searches them is derived and kept elsewhere.

CREATE SCHEMA vector;

-- version: of the latest change; every change takes the next one under the lock of this row. Deletions up to forgotten_version
-- are no longer told: who is behind reads everything anew.
CREATE TABLE vector.collection (
  account_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  -- another one each time a name is created
  collection_id text COLLATE "C" NOT NULL,
  dimension integer NOT NULL,
  metric text NOT NULL,
  -- JSON as it was sent
  metadata text,
  version bigint NOT NULL,
  forgotten_version bigint NOT NULL,
  vector_count bigint NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, name)
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX collection_id ON vector.collection (account_id, collection_id);

-- embedding: little-endian f32; never compressed, since floats do not shrink.
CREATE TABLE vector.item (
  account_id text COLLATE "C" NOT NULL,
  collection_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  embedding bytea NOT NULL,
  metadata jsonb,
  PRIMARY KEY (account_id, collection_id, id)
);
ALTER TABLE vector.item ALTER COLUMN embedding SET STORAGE EXTERNAL;
-- A row of up to 8 KB stays in one piece, 1,900 floats: half the WAL records of an upsert.
ALTER TABLE vector.item SET (toast_tuple_target = 8160);
CREATE INDEX item_version ON vector.item (account_id, collection_id, version, id);

-- A deletion, told to those who hold the collection in memory.
CREATE TABLE vector.tombstone (
  account_id text COLLATE "C" NOT NULL,
  collection_id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  deleted_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, collection_id, version, id)
);
CREATE INDEX tombstone_deleted_at ON vector.tombstone (deleted_at);

-- Collections that were deleted, until the background has freed their rows.
CREATE TABLE vector.doomed (
  account_id text COLLATE "C" NOT NULL,
  collection_id text COLLATE "C" NOT NULL,
  doomed_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, collection_id)
);

-- As in 0003: plans of hot statements are made for the worst case, whatever the tables hold at the moment. Without them
-- PostgreSQL 15 read all collections of an account to find one by its name.
INSERT INTO core.worst_case (target, same, columns, example) VALUES ('vector.collection', '{account_id}',
  $$name, collection_id, dimension, metric, version, forgotten_version, vector_count, created_at, updated_at$$,
  $$n::text, n::text, n, 'cosine', n, 0, n, now(), now()$$);

INSERT INTO core.worst_case (target, same, columns, example) VALUES ('vector.item', '{account_id, collection_id}',
  $$collection_id, id, version, embedding$$,
  $$n::text, n::text, n, ''$$);
