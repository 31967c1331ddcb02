//! The parameters of `tpcc`: names, values, defaults.

use crate::registry::Param;

/// Which work is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// As the standard says.
    #[default]
    Faithful,
    /// As HammerDB's TPROC-C does it on PostgreSQL, which is less: figures can
    /// be laid beside published ones, and beside nothing else.
    Hammerdb,
}

impl Profile {
    /// By the parameter's value.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        [Self::Faithful, Self::Hammerdb].into_iter().find(|profile| profile.name() == name)
    }

    /// The parameter's value.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Faithful => "faithful",
            Self::Hammerdb => "hammerdb",
        }
    }
}

/// What a person chose by `--param`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Params {
    /// Transactions are functions in the server.
    pub procs: bool,
    /// Keying and think times are kept.
    pub think: bool,
    /// A client uses all warehouses instead of one home.
    pub allwarehouse: bool,
    /// Which work is done.
    pub profile: Profile,
    /// Hash partitions of the order lines by warehouse, at least 2.
    pub partitions: Option<u32>,
    /// The ten foreign keys are enforced.
    pub foreign_keys: bool,
    /// Pieces of each table, where the database lets one say so.
    pub pieces: Option<u32>,
}

/// The parameters as they are listed.
pub const PARAMS: &[Param] = &[
    Param {
        name: "procs",
        help: "0: transactions are SQL sent by the client; 1: each is one call of a function that \
               init makes in the server (PL/pgSQL) [default: 0]",
    },
    Param {
        name: "think",
        help: "1: keying and think times as the standard has them, ten clients to a warehouse; 0: \
               full speed [default: 0]",
    },
    Param {
        name: "allwarehouse",
        help: "0: each client has one home warehouse; 1: it goes over all of its share \
               [default: 0]",
    },
    Param {
        name: "profile",
        help: "faithful (the standard's work) or hammerdb (the lighter work of HammerDB's TPROC-C, \
               to be laid beside its figures only) [default: faithful]",
    },
    Param {
        name: "partitions",
        help: "into how many hash partitions order_line is split by warehouse, 2 to 1024 \
               [default: none]",
    },
    Param { name: "foreign-keys", help: "1: the foreign keys are enforced [default: 0]" },
    Param {
        name: "pieces",
        help: "into how many pieces each table is split, where the database lets one say so: \
               tablets, hash buckets, shards [default: the database's]",
    },
];

/// More partitions than this cost more in planning than they give.
const PARTITIONS_MAX: u32 = 1024;
/// As with pgbench's tables: more is a slip of the finger.
const PIECES_MAX: u32 = 65_536;

impl Params {
    /// Takes one parameter.
    ///
    /// # Errors
    /// What values it takes. A name that is not listed is left to the
    /// registry, which knows the list.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), &'static str> {
        let number = |range: std::ops::RangeInclusive<u32>| {
            value.parse().ok().filter(|number| range.contains(number))
        };
        match name {
            "procs" => self.procs = switch(value)?,
            "think" => self.think = switch(value)?,
            "allwarehouse" => self.allwarehouse = switch(value)?,
            "foreign-keys" => self.foreign_keys = switch(value)?,
            "profile" => self.profile = Profile::by_name(value).ok_or("faithful or hammerdb")?,
            "partitions" => {
                let number = number(2..=PARTITIONS_MAX).ok_or("a number from 2 to 1024")?;
                self.partitions = Some(number);
            }
            "pieces" => {
                let number = number(1..=PIECES_MAX).ok_or("a number from 1 to 65536")?;
                self.pieces = Some(number);
            }
            _ => {}
        }
        Ok(())
    }

    /// All values in effect, for the record.
    #[must_use]
    pub fn told(&self) -> Vec<(&'static str, String)> {
        let switch = |on: bool| u8::from(on).to_string();
        let mut told = vec![
            ("procs", switch(self.procs)),
            ("think", switch(self.think)),
            ("allwarehouse", switch(self.allwarehouse)),
            ("profile", self.profile.name().to_owned()),
            ("foreign-keys", switch(self.foreign_keys)),
        ];
        told.extend(self.partitions.map(|number| ("partitions", number.to_string())));
        told.extend(self.pieces.map(|number| ("pieces", number.to_string())));
        told
    }
}

fn switch(value: &str) -> Result<bool, &'static str> {
    match value {
        "0" | "off" | "false" => Ok(false),
        "1" | "on" | "true" => Ok(true),
        _ => Err("0 or 1"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every listed parameter takes a value that is told again, and refuses
    /// nonsense with words that say what it takes.
    #[test]
    fn listed_parameters_are_taken() {
        let values = ["1", "1", "1", "hammerdb", "8", "1", "16"];
        assert_eq!(values.len(), PARAMS.len());
        let mut params = Params::default();
        for (param, value) in PARAMS.iter().zip(values) {
            assert!(params.set(param.name, "maybe").is_err(), "{}", param.name);
            params.set(param.name, value).unwrap();
            let told = params.told();
            assert!(told.contains(&(param.name, value.to_owned())), "{told:?}");
        }
        for (name, value) in [("partitions", "1"), ("partitions", "1025"), ("pieces", "0")] {
            assert!(params.set(name, value).unwrap_err().starts_with("a number from "));
        }
    }
}
