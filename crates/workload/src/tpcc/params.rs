//! The parameters of `tpcc`: names, values, defaults.

use crate::entry::{MakeError, Param};
use crate::params::{Chosen, PIECES};

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
    PIECES,
];

/// More partitions than this cost more in planning than they give.
const PARTITIONS_MAX: u32 = 1024;

impl Params {
    /// Takes those that were given.
    ///
    /// # Errors
    /// A value is not one that its parameter takes.
    pub(crate) fn chosen(chosen: &Chosen<'_>) -> Result<Self, MakeError> {
        const PROFILES: [Profile; 2] = [Profile::Faithful, Profile::Hammerdb];
        let switch = |name| {
            let place = chosen.word(name, &["0", "1"])?;
            Ok::<bool, MakeError>(place == Some(1))
        };
        let profile = chosen.word("profile", &PROFILES.map(Profile::name))?;
        Ok(Self {
            procs: switch("procs")?,
            think: switch("think")?,
            allwarehouse: switch("allwarehouse")?,
            profile: profile.map_or(Profile::default(), |place| PROFILES[place]),
            partitions: chosen.small("partitions", 2..=PARTITIONS_MAX)?,
            foreign_keys: switch("foreign-keys")?,
            pieces: chosen.pieces()?,
        })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::Choice;

    fn chosen(name: &str, value: &str) -> Result<Params, MakeError> {
        let params = [(name.to_owned(), value.to_owned())];
        Params::chosen(&Chosen::new("tpcc", &Choice { name: "tpcc", scale: 1, params: &params }))
    }

    /// Every listed parameter takes a value that is told again, and refuses
    /// nonsense.
    #[test]
    fn listed_parameters_are_taken() {
        let values = ["1", "1", "1", "hammerdb", "8", "1", "16"];
        assert_eq!(values.len(), PARAMS.len());
        for (param, value) in PARAMS.iter().zip(values) {
            assert!(chosen(param.name, "maybe").is_err(), "{}", param.name);
            let told = chosen(param.name, value).unwrap().told();
            assert!(told.contains(&(param.name, value.to_owned())), "{told:?}");
        }
        for (name, value) in [("partitions", "1"), ("partitions", "1025"), ("pieces", "0")] {
            assert!(chosen(name, value).is_err(), "{name} {value}");
        }
    }
}
