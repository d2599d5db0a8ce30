-- The process that took the latest step of a job: its metadata names it. Null: taken by an earlier release.
ALTER TABLE video.job ADD COLUMN worker_id text;
-- Processes that died, one after the other, while they rendered the job, or fetched its film.
ALTER TABLE video.job ADD COLUMN deaths integer DEFAULT 0 NOT NULL;
