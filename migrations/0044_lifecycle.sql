-- Schema storage: unfinished uploads are given up by their age, and rules of a bucket come back to clients of S3 as they were put.

ALTER TABLE storage.bucket
  -- [{"prefix": text, "days": integer}]; null: only uploads without progress are given up
  ADD COLUMN abort_uploads jsonb,
  -- how a client of S3 put the rules that expire and abort_uploads apply: ids, order, disabled ones; null: none did
  ADD COLUMN lifecycle jsonb;

-- Rules of abort_uploads follow those of expire; the last upload of after_key that the rule has seen.
ALTER TABLE storage.expiry ADD COLUMN after_upload text COLLATE "C" NOT NULL DEFAULT '';
