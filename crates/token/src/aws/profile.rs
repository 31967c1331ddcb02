//! The files that AWS's own tools share: `~/.aws/credentials` and
//! `~/.aws/config`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pgdyno_wire::conninfo::Env;

/// Where the files are, and which profile counts.
#[derive(Debug, Clone, Default)]
pub(super) struct Files {
    credentials: Option<PathBuf>,
    config: Option<PathBuf>,
}

/// The settings of one profile, of both files; those of the credentials file
/// win, as with AWS's own tools.
#[derive(Default)]
pub(super) struct Profile {
    values: BTreeMap<String, String>,
    /// False where no file has a profile of this name.
    pub(super) exists: bool,
}

impl Profile {
    /// A setting that is not empty.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The first of these settings that is there.
    pub(super) fn first_of<'a>(&self, keys: &[&'a str]) -> Option<&'a str> {
        keys.iter().copied().find(|key| self.get(key).is_some())
    }
}

impl Files {
    /// `AWS_SHARED_CREDENTIALS_FILE` and `AWS_CONFIG_FILE`, or the usual ones.
    pub(super) fn find(env: &dyn Env) -> Self {
        let home = env.home();
        let file = |variable: &str, name: &str| {
            let set = env.var(variable).filter(|path| !path.is_empty()).map(PathBuf::from);
            set.or_else(|| home.as_ref().map(|home| home.join(".aws").join(name)))
        };
        Self {
            credentials: file("AWS_SHARED_CREDENTIALS_FILE", "credentials"),
            config: file("AWS_CONFIG_FILE", "config"),
        }
    }

    /// Reads a profile; one that is in no file has no settings.
    ///
    /// # Errors
    /// A file is there and cannot be read.
    pub(super) fn profile(&self, name: &str) -> Result<Profile, String> {
        let mut profile = Profile::default();
        let in_config = if name == "default" {
            vec!["default".to_owned(), "profile default".to_owned()]
        } else {
            vec![format!("profile {name}")]
        };
        for (file, sections) in
            [(&self.config, in_config), (&self.credentials, vec![name.to_owned()])]
        {
            let Some(text) = file.as_deref().map(read).transpose()?.flatten() else { continue };
            for section in sections {
                let Some(values) = section_of(&text, &section) else { continue };
                profile.exists = true;
                profile.values.extend(values);
            }
        }
        Ok(profile)
    }

    /// Where profiles were sought, for people.
    pub(super) fn shown(&self) -> String {
        let files: Vec<String> = [&self.credentials, &self.config]
            .into_iter()
            .flatten()
            .map(|file| file.display().to_string())
            .collect();
        if files.is_empty() { "no file".to_owned() } else { files.join(" and ") }
    }
}

fn read(file: &Path) -> Result<Option<String>, String> {
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{} could not be read: {error}", file.display())),
    }
}

/// The settings below `[section]`, if it is there. Keys are in lower case.
fn section_of(text: &str, section: &str) -> Option<BTreeMap<String, String>> {
    let mut values = None;
    let mut inside = false;
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = trimmed.strip_prefix('[') {
            let name = name.split(']').next().unwrap_or_default();
            let words: Vec<&str> = name.split_whitespace().collect();
            inside = words.join(" ") == section;
            if inside {
                values.get_or_insert_with(BTreeMap::new);
            }
            continue;
        }
        // What is indented belongs to the setting above it.
        if !inside || line.starts_with(char::is_whitespace) {
            continue;
        }
        if let (Some(values), Some((key, value))) = (&mut values, trimmed.split_once('=')) {
            let value = value.split_once(" #").map_or(value, |(value, _)| value).trim();
            values.insert(key.trim().to_ascii_lowercase(), value.to_owned());
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# a comment\n[default]\nregion = eu-west-1  # here\n\
        s3 =\n  region = nowhere\n[profile  two]\nRegion=us-east-1\n; another\n\
        credential_process = /bin/x --a=b\n";

    /// Sections, comments, nested settings and blanks are read as AWS's own
    /// tools write them.
    #[test]
    fn sections() {
        let default = section_of(TEXT, "default").unwrap();
        assert_eq!(default.get("region").map(String::as_str), Some("eu-west-1"));
        let two = section_of(TEXT, "profile two").unwrap();
        assert_eq!(two.get("region").map(String::as_str), Some("us-east-1"));
        let process = two.get("credential_process").map(String::as_str);
        assert_eq!(process, Some("/bin/x --a=b"));
        assert!(section_of(TEXT, "two").is_none());
    }
}
