-- Schema realtime.

CREATE SCHEMA realtime;
