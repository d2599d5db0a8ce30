-- Module web: when each host may be asked again.
CREATE SCHEMA web;
