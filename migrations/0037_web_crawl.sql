-- Module web: crawls and their pages.

-- A crawl is read page by page: its row is due whenever the next page may be. wish: JSON, what was asked for. next_no: the number that the next
-- page gets. Kept for a day after its end.
CREATE TABLE web.crawl (
  account_id text COLLATE "C" NOT NULL,
  crawl_id text COLLATE "C" NOT NULL,
  -- the key or session that began it, and pays
  key_id text COLLATE "C" NOT NULL,
  url text COLLATE "C" NOT NULL,
  wish text NOT NULL,
  status text COLLATE "C" NOT NULL,
  -- why it failed
  reason text COLLATE "C",
  next_no integer NOT NULL,
  -- pages that were read, and that could not be
  pages integer NOT NULL,
  failures integer NOT NULL,
  cost_nanos bigint NOT NULL,
  created_at timestamptz NOT NULL,
  finished_at timestamptz,
  due_at timestamptz,
  attempt integer NOT NULL,
  PRIMARY KEY (account_id, crawl_id)
);
CREATE INDEX crawl_due ON web.crawl (account_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX crawl_finished ON web.crawl (finished_at) WHERE finished_at IS NOT NULL;

-- status: queued, read or failed. page: JSON of what was read.
CREATE TABLE web.page (
  account_id text COLLATE "C" NOT NULL,
  crawl_id text COLLATE "C" NOT NULL,
  page_no integer NOT NULL,
  url text COLLATE "C" NOT NULL,
  -- links that lead to it from the first page
  depth smallint NOT NULL,
  status text COLLATE "C" NOT NULL,
  page text,
  error_code text COLLATE "C",
  read_at timestamptz,
  PRIMARY KEY (account_id, crawl_id, page_no)
);
CREATE UNIQUE INDEX page_url ON web.page (account_id, crawl_id, url);
CREATE INDEX page_queued ON web.page (account_id, crawl_id, page_no) WHERE status = 'queued';
