-- What search and filters look for in an event, as lexemes: a text search finds beginnings of words, an array of texts only whole ones.
-- Each lexeme stands behind the mark of the account, as in `words`. Events of before, and of an older release that still runs, have
-- `words` and no terms. Their rows are not in the index, so it is made as fast as the table is read.
ALTER TABLE errors.event ADD COLUMN terms tsvector;
ALTER TABLE errors.event ALTER COLUMN words SET DEFAULT '{}';
CREATE INDEX event_terms ON errors.event USING gin (terms) WITH (gin_pending_list_limit = 512) WHERE terms IS NOT NULL;
