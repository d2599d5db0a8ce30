-- Schema storage: what S3 tells of uploads in parts and of buckets.

-- Of the single parts of an object that was uploaded in parts: at most 10,000 of 32 bytes.
-- The first byte is the algorithm (objects/part-checksums.ts), the digests follow in the order of the parts; null: none were sent.
ALTER TABLE storage.blob ADD COLUMN part_checksums bytea;

-- The region that a client of S3 named for it; null: the service's own.
ALTER TABLE storage.bucket ADD COLUMN region text;
