-- Module web: when each host may be asked again.

CREATE SCHEMA web;

-- One request a second and host, whoever asks: of no account. A row whose time is past says nothing, and is swept.
CREATE TABLE web.host (
  host text COLLATE "C" PRIMARY KEY,
  -- when the next request may go out, epoch milliseconds
  next_ms bigint NOT NULL
);
