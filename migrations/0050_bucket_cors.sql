-- Schema storage: which pages of other origins may use the objects of a bucket.

-- A preflight names a bucket and no account: the rules by the bucket's name, of every account that has one. A directory.
-- origins: of all rules, as patterns of LIKE. rules: as in storage.bucket.
CREATE TABLE storage.cors_bucket (
  bucket text COLLATE "C" NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  origins text[] NOT NULL,
  rules jsonb NOT NULL,
  PRIMARY KEY (bucket, account_id)
);

SELECT core.distribute();

-- [{"origins": […], "methods": […], "headers": […], "expose": […], "max_age_seconds": integer or null, "id": text or null}]; null: none may
ALTER TABLE storage.bucket ADD COLUMN cors jsonb;
