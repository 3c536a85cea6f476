//! The ways to get from some ranks to others: where the ranks of afterwards come from, and how data get to them.

use std::fmt;
use std::str::FromStr;

/// Where the ranks of afterwards come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// All are new; those of before talk to them across two groups.
    Baseline,
    /// All are new; those of before and they become one group.
    BaselineIntra,
    /// Those of before go on, new ones come to them, and those that are too many are left out.
    Merge,
}

/// How data get from the ranks of before to those of afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// By a message for each pair that has something in common.
    Messages,
    /// By one collective.
    Collective,
}

/// One of the twelve ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    pub method: Method,
    pub transport: Transport,
    /// Whether calls come back at once, and are asked whether they are done.
    pub is_async: bool,
}

impl Way {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Way> {
        [Method::Baseline, Method::BaselineIntra, Method::Merge].into_iter().flat_map(|method| {
            [Transport::Messages, Transport::Collective].into_iter().flat_map(move |transport| {
                [false, true].into_iter().map(move |is_async| Way { method, transport, is_async })
            })
        })
    }
}

impl fmt::Display for Way {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let transport = match self.transport {
            Transport::Messages => "P2P",
            Transport::Collective => "COL",
        };
        write!(formatter, "{:?}-{transport}{}", self.method, if self.is_async { 'A' } else { 'S' })
    }
}

impl FromStr for Way {
    type Err = String;

    fn from_str(text: &str) -> Result<Way, String> {
        Way::all().find(|way| way.to_string() == text).ok_or_else(|| {
            let names: Vec<String> = Way::all().map(|way| way.to_string()).collect();
            format!("there is no way {text}; there are {}", names.join(", "))
        })
    }
}
