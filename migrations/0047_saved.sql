-- What people keep under a name: dashboards of metrics, questions of analytics.

CREATE TABLE metrics.dashboard (
  account_id text COLLATE "C" NOT NULL,
  dashboard_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  -- its panels, as JSON
  body text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, dashboard_id)
);
CREATE UNIQUE INDEX dashboard_name ON metrics.dashboard (account_id, name);

CREATE TABLE analytics.question (
  account_id text COLLATE "C" NOT NULL,
  question_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  -- what is asked, as JSON
  body text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, question_id)
);
CREATE UNIQUE INDEX question_name ON analytics.question (account_id, name);

SELECT core.distribute();
