//! The documents of iperf3, as far as they are read.

use super::intervals::Intervals;
use crate::json_loose::{Num, Text, loose};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;
loose! {
    pub(super) struct Document {
        start b"start": Part,
        intervals b"intervals": Intervals,
        end b"end": Part,
        error b"error": Option<Text>,
        event b"event": Option<Text>,
        data b"data": Option<Data>,
    }
}

/// What an event carries: an object whose names depend on the event, or a text.
#[derive(Debug)]
pub(super) enum Data {
    Text(Text),
    Object(Box<Part>),
    Other,
}

loose! {
/// The start, the end, or what an event carries: their names do not collide.
    pub(super) struct Part {
        connected b"connected": Vec<Connected>,
        version b"version": Text,
        timestamp b"timestamp": Timestamp,
        connecting_to b"connecting_to": Option<Target>,
        accepted_connection b"accepted_connection": Option<Target>,
        tcp_mss b"tcp_mss": Num,
        tcp_mss_default b"tcp_mss_default": Num,
        sock_bufsize b"sock_bufsize": Num,
        test_start b"test_start": TestStart,
        streams b"streams": Vec<Values>,
        sum b"sum": Option<Box<Values>>,
        sum_bidir_reverse b"sum_bidir_reverse": Option<Box<Values>>,
        sum_sent b"sum_sent": Option<Box<Values>>,
        sum_received b"sum_received": Option<Box<Values>>,
        sum_sent_bidir_reverse b"sum_sent_bidir_reverse": Option<Box<Values>>,
        sum_received_bidir_reverse b"sum_received_bidir_reverse": Option<Box<Values>>,
        cpu_utilization_percent b"cpu_utilization_percent": Option<CpuValues>,
        sender_tcp_congestion b"sender_tcp_congestion": Text,
        receiver_tcp_congestion b"receiver_tcp_congestion": Text,
    }
}

loose! {
    pub(super) struct Connected {
        socket b"socket": Num,
        local_host b"local_host": Text,
        local_port b"local_port": Num,
        remote_host b"remote_host": Text,
        remote_port b"remote_port": Num,
    }
}

loose! {
    pub(super) struct Timestamp {
        timesecs b"timesecs": Num,
        timemillisecs b"timemillisecs": Num,
    }
}

loose! {
    pub(super) struct Target {
        host b"host": Text,
        port b"port": Num,
    }
}

loose! {
    pub(super) struct TestStart {
        protocol b"protocol": Text,
        num_streams b"num_streams": Num,
        blksize b"blksize": Num,
        omit b"omit": Num,
        duration b"duration": Num,
        bytes b"bytes": Num,
        reverse b"reverse": Num,
        bidir b"bidir": Num,
        tos b"tos": Num,
        target_bitrate b"target_bitrate": Num,
    }
}

loose! {
    pub(super) struct Interval {
        streams b"streams": Vec<Values>,
        sum b"sum": Option<Box<Values>>,
        sum_bidir_reverse b"sum_bidir_reverse": Option<Box<Values>>,
    }
    // The sum of one stream says nothing new.
    skip |interval| interval.streams.len() == 1
}

loose! {
    pub(super) struct CpuValues {
        host_total b"host_total": Num,
        host_user b"host_user": Num,
        host_system b"host_system": Num,
        remote_total b"remote_total": Num,
        remote_user b"remote_user": Num,
        remote_system b"remote_system": Num,
    }
}

loose! {
/// Of an interval, a stream or a sum.
    pub(super) struct Values {
        socket b"socket": Num,
        start b"start": Num,
        end b"end": Num,
        bytes b"bytes": Num,
        bits_per_second b"bits_per_second": Num,
        retransmits b"retransmits": Num,
        snd_cwnd b"snd_cwnd": Num,
        rtt b"rtt": Num,
        rttvar b"rttvar": Num,
        pmtu b"pmtu": Num,
        mean_rtt b"mean_rtt": Num,
        omitted b"omitted": Num,
        sender b"sender": Side,
        receiver b"receiver": Side,
        udp b"udp": Side,
        jitter_ms b"jitter_ms": Num,
        lost_packets b"lost_packets": Num,
        packets b"packets": Num,
        out_of_order b"out_of_order": Num,
    }
}

/// `true` in an interval, an object at the end.
#[derive(Debug, Default)]
pub(super) enum Side {
    #[default]
    Missing,
    Flag(bool),
    Values(Box<Values>),
}

macro_rules! visit {
    ($name:ident, $value:ty, $what:literal, $map:expr, $text:expr, $flag:expr, $other:expr) => {
        struct $name;
        impl<'de> Visitor<'de> for $name {
            type Value = $value;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($what)
            }
            fn visit_bool<E>(self, v: bool) -> Result<$value, E> {
                Ok($flag(v))
            }
            fn visit_i64<E>(self, v: i64) -> Result<$value, E> {
                Ok($flag(v != 0))
            }
            fn visit_u64<E>(self, v: u64) -> Result<$value, E> {
                Ok($flag(v != 0))
            }
            fn visit_f64<E>(self, _: f64) -> Result<$value, E> {
                Ok($other)
            }
            fn visit_unit<E>(self) -> Result<$value, E> {
                Ok($other)
            }
            fn visit_str<E>(self, v: &str) -> Result<$value, E> {
                Ok($text(v))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<$value, A::Error> {
                while seq.next_element::<serde::de::IgnoredAny>()?.is_some() {}
                Ok($other)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<$value, A::Error> {
                Ok($map(Box::new(Deserialize::deserialize(MapAccessDeserializer::new(map))?)))
            }
        }
        impl<'de> Deserialize<'de> for $value {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                d.deserialize_any($name)
            }
        }
    };
}

visit!(SideVisitor, Side, "a flag or an object", Side::Values, |_| Side::Missing, Side::Flag, Side::Missing);
visit!(
    DataVisitor,
    Data,
    "an object or a text",
    Data::Object,
    |v: &str| Data::Text(Text(Some(v.chars().take(300).collect()))),
    |_| Data::Other,
    Data::Other
);
