-- A subject is looked up by all that it is: one of many with the same metric (a job file's thousand jobs) was a search among all of them.
DROP INDEX subject_metric;
CREATE INDEX subject_whole ON subject (metric, stat, labels);
