-- One row for each run. `at` is when it began, else when it was stored: what lists and bands are ordered by. Seconds of the Unix epoch.
CREATE TABLE run (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  tool TEXT,
  version TEXT,
  began REAL,
  stored REAL NOT NULL,
  at REAL NOT NULL,
  valid INTEGER NOT NULL,
  source TEXT NOT NULL,
  line INTEGER NOT NULL,
  -- Where it stands in an experiment: its session, the side that it belongs to, its place in the order of execution.
  session TEXT,
  side TEXT,
  position INTEGER
) STRICT;
CREATE INDEX run_at ON run (at);
CREATE INDEX run_session ON run (session) WHERE session IS NOT NULL;

CREATE TABLE run_host (
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  place INTEGER NOT NULL,
  host TEXT NOT NULL,
  PRIMARY KEY (run, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_host_host ON run_host (host, run);

-- `form` tells a switch from a number: flag, int, real, text.
CREATE TABLE run_param (
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  key TEXT NOT NULL,
  form TEXT NOT NULL,
  value ANY,
  PRIMARY KEY (run, key)
) STRICT, WITHOUT ROWID;

-- `form`: fault (of the whole run), flaw (of some of its points), note.
CREATE TABLE run_remark (
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  place INTEGER NOT NULL,
  form TEXT NOT NULL,
  what TEXT NOT NULL,
  line INTEGER,
  PRIMARY KEY (run, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_label (
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  label TEXT NOT NULL,
  PRIMARY KEY (run, label)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_label_label ON run_label (label, run);

-- Texts from which runs were read, by digest: the same text read again, by whatever version, is nothing new.
CREATE TABLE text (
  digest TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  PRIMARY KEY (digest, ordinal, run)
) STRICT, WITHOUT ROWID;
CREATE INDEX text_run ON text (run);

-- Snapshots are referred to, not kept: `digest` finds the archive again, `facts` is a JSON object of what mattered in it.
CREATE TABLE snapshot (
  key INTEGER PRIMARY KEY,
  digest TEXT NOT NULL,
  host TEXT NOT NULL,
  label TEXT,
  path TEXT,
  taken REAL,
  facts TEXT NOT NULL,
  UNIQUE (digest, host)
) STRICT;
CREATE TABLE run_snapshot (
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  snapshot INTEGER NOT NULL REFERENCES snapshot,
  PRIMARY KEY (run, snapshot)
) STRICT, WITHOUT ROWID;

-- What can be compared: `labels` is a JSON array of [key, value], sorted, without those that name one of many (ranks, streams).
CREATE TABLE subject (
  key INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  tool TEXT,
  metric TEXT NOT NULL,
  unit TEXT NOT NULL,
  stat TEXT NOT NULL,
  better TEXT NOT NULL,
  labels TEXT NOT NULL
) STRICT;
CREATE INDEX subject_metric ON subject (metric, stat);

-- The values themselves, exactly, as columns of at most 65,536 points (points.rs); `labels` is a JSON array of [key, value], all of them.
-- With row numbers: a search among rows without them reads their values, which are long here.
CREATE TABLE series (
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  place INTEGER NOT NULL,
  part INTEGER NOT NULL,
  subject INTEGER NOT NULL REFERENCES subject,
  labels TEXT NOT NULL,
  n INTEGER NOT NULL,
  points BLOB NOT NULL,
  PRIMARY KEY (run, place, part)
) STRICT;

-- What a run says of a subject at a size (-1: none), of its valid points: the values that bands, bests and targets are made of.
-- `median` is NULL where it is the mean. There are as many cells as samples in sweeps, so they are kept small.
CREATE TABLE cell (
  subject INTEGER NOT NULL,
  size INTEGER NOT NULL,
  run INTEGER NOT NULL,
  n INTEGER NOT NULL,
  mean REAL NOT NULL,
  median REAL,
  PRIMARY KEY (subject, size, run)
) STRICT, WITHOUT ROWID;

-- What is expected of a metric.
CREATE TABLE target (
  name TEXT PRIMARY KEY,
  kind TEXT,
  tool TEXT,
  metric TEXT NOT NULL,
  stat TEXT,
  labels TEXT NOT NULL,
  size INTEGER,
  params TEXT NOT NULL,
  unit TEXT NOT NULL,
  low REAL,
  high REAL,
  source TEXT NOT NULL,
  stored REAL NOT NULL
) STRICT, WITHOUT ROWID;
