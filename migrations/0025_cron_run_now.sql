-- Runs that somebody asked for, outside the schedule.
ALTER TABLE cron.run ADD COLUMN is_manual boolean NOT NULL DEFAULT false;
