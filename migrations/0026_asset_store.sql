-- Which store keeps the files of all modules; one row. It was that of videos alone: video.asset_store goes in a later release.
CREATE TABLE core.asset_store (
  id integer PRIMARY KEY CHECK (id = 1),
  mark text NOT NULL
);
INSERT INTO core.asset_store (id, mark) SELECT id, mark FROM video.asset_store;
