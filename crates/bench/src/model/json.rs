//! Runs as JSON: samples flat, each with all that tells what it is, so that any reader can filter them.

use super::{Point, Run, Series};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

impl Serialize for Run {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(None)?;
        map.serialize_entry("id", &self.id())?;
        map.serialize_entry("kind", self.kind.name())?;
        for (key, value) in [("tool", &self.tool), ("version", &self.version)] {
            if let Some(value) = value {
                map.serialize_entry(key, value)?;
            }
        }
        map.serialize_entry("params", &self.params)?;
        map.serialize_entry("hosts", &self.hosts)?;
        if let Some(began) = self.began {
            map.serialize_entry("began", &began)?;
        }
        map.serialize_entry("valid", &self.is_valid())?;
        map.serialize_entry("faults", &self.faults)?;
        map.serialize_entry("notes", &self.notes)?;
        map.serialize_entry("source", &self.source)?;
        map.serialize_entry("samples", &Samples(&self.series))?;
        map.end()
    }
}

struct Samples<'a>(&'a [Series]);

impl Serialize for Samples<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut list = s.serialize_seq(Some(self.0.iter().map(|s| s.points.len()).sum()))?;
        for series in self.0 {
            for point in series.points.iter() {
                list.serialize_element(&Sample { series, point })?;
            }
        }
        list.end()
    }
}

struct Sample<'a> {
    series: &'a Series,
    point: Point,
}

impl Serialize for Sample<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let (metric, point) = (&self.series.metric, self.point);
        let mut map = s.serialize_map(None)?;
        map.serialize_entry("metric", &metric.name)?;
        map.serialize_entry("unit", &metric.unit)?;
        map.serialize_entry("stat", &metric.stat)?;
        if let Some(size) = point.size {
            map.serialize_entry("size", &size)?;
        }
        if let Some(at) = point.at {
            map.serialize_entry("at", &at)?;
        }
        map.serialize_entry("value", &point.value)?;
        map.serialize_entry("valid", &point.valid)?;
        if !self.series.labels.is_empty() {
            map.serialize_entry("labels", &Labels(self.series))?;
        }
        map.end()
    }
}

struct Labels<'a>(&'a Series);

impl Serialize for Labels<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_map(self.0.labels.iter().map(|l| (&l.key, &l.value)))
    }
}
