-- Schema flags.

CREATE SCHEMA flags;
