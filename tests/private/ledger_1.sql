PRAGMA application_id = 1685091945;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE spend (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    dataset TEXT NOT NULL, what TEXT NOT NULL, unit TEXT NOT NULL,
    epsilon TEXT NOT NULL, delta TEXT NOT NULL,
    at TEXT NOT NULL, purpose TEXT NOT NULL, release TEXT NOT NULL UNIQUE,
    outcome TEXT NOT NULL DEFAULT 'paid' CHECK (outcome IN ('paid', 'released', 'failed'))
) STRICT;
INSERT INTO "spend" VALUES(1,'people','privtree','one user','0.5','0.0','2026-01-02T09:00:00+00:00','first map','598080b20aaa4b709e2013462238c6c2','released');
INSERT INTO "spend" VALUES(2,'people','ugrid','one user','0.3','0.0','2026-01-03T09:00:00+00:00','','7fe0784a63954d64a174dbdb3b8f789c','failed');
INSERT INTO "spend" VALUES(3,'people','ugrid','one user','0.1','0.0','2026-01-04T09:00:00+00:00','','ad9c12c16d1149dc9db14b3ced9b78bf','paid');
INSERT INTO "spend" VALUES(4,'café','x','one record','0.5','0.0','2026-01-07T09:00:00+00:00','','417e733f02f5448e8dfdd352afa844a0','paid');
INSERT INTO "spend" VALUES(5,'café','kdtree','one record','0.25','1e-07','2026-01-08T09:00:00+00:00','','d79ab40ff9a3493493d8035bdd350503','paid');
CREATE TABLE total (
    dataset TEXT PRIMARY KEY, epsilon TEXT NOT NULL, delta TEXT NOT NULL, at TEXT NOT NULL
) STRICT;
INSERT INTO "total" VALUES('people','2.0','0.0','2026-01-01T09:00:00+00:00');
INSERT INTO "total" VALUES('café','1.0','0.0','2026-01-05T09:00:00+00:00');
INSERT INTO "total" VALUES('café','3.0','1e-06','2026-01-06T09:00:00+00:00');
CREATE TRIGGER total_once BEFORE UPDATE ON total BEGIN
    SELECT RAISE(ABORT, 'a total is set once'); END;
CREATE TRIGGER total_stays BEFORE DELETE ON total BEGIN
    SELECT RAISE(ABORT, 'a total is set once'); END;
CREATE TRIGGER spend_stays BEFORE DELETE ON spend BEGIN
    SELECT RAISE(ABORT, 'a spend is never removed'); END;
CREATE TRIGGER spend_fixed
    BEFORE UPDATE OF id, dataset, what, unit, epsilon, delta, at, purpose, release ON spend BEGIN
    SELECT RAISE(ABORT, 'a spend is never changed'); END;
CREATE TRIGGER outcome_once BEFORE UPDATE OF outcome ON spend WHEN old.outcome <> 'paid' BEGIN
    SELECT RAISE(ABORT, 'an outcome is written once'); END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('spend',5);
COMMIT;
