//! Whatever options hold, they can be written and read again.

use std::path::PathBuf;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::options::*;

fn word() -> impl Strategy<Value = String> {
    // Everything that could confuse a reader of URIs, and more.
    prop_oneof!["[a-z]{1,8}", "[a-z%:@/?&=#+ '\\\\\\[\\]ä€]{1,12}", "\\PC{1,8}"]
        .prop_filter("NUL cannot be said, libpq drops no other", |text| !text.contains('\0'))
}

fn host() -> impl Strategy<Value = Host> {
    let name = prop_oneof![
        "[a-z][a-z0-9.-]{0,12}",
        "/[a-z/% ä]{1,12}",
        "@[a-z/]{1,8}",
        Just("::1".to_owned()),
        Just("2001:db8::5".to_owned()),
    ];
    let addr = prop_oneof![
        3 => Just(None),
        1 => any::<std::net::IpAddr>().prop_map(Some),
    ];
    (name, addr, 1..=u16::MAX).prop_map(|(name, addr, port)| Host {
        name,
        addr,
        port,
        password: None,
    })
}

fn ssl() -> impl Strategy<Value = Ssl> {
    let modes = prop::sample::select(vec![
        SslMode::Disable,
        SslMode::Allow,
        SslMode::Prefer,
        SslMode::Require,
        SslMode::VerifyCa,
        SslMode::VerifyFull,
    ]);
    let path = || prop::option::of(word().prop_map(PathBuf::from));
    (modes, any::<bool>(), path(), path(), 0..3_u8, any::<bool>()).prop_map(
        |(mode, direct, root, cert, version, no_sni)| Ssl {
            mode,
            negotiation: if direct && mode >= SslMode::Require {
                SslNegotiation::Direct
            } else {
                SslNegotiation::Postgres
            },
            root_cert: match root {
                Some(_) if mode == SslMode::VerifyFull && direct => SslRootCert::System,
                Some(path) => SslRootCert::File(path),
                None => SslRootCert::Default,
            },
            key: cert.clone(),
            cert,
            no_sni,
            tls12_only: version == 1,
            tls13_only: version == 2,
            ..Ssl::default()
        },
    )
}

prop_compose! {
    fn any_options()(
        hosts in prop::collection::vec(host(), 1..4),
        user in word(),
        dbname in word(),
        texts in prop::array::uniform3(prop::option::of(word())),
        timeouts in prop::array::uniform4(prop::option::of(1..100_000_u64)),
        keepalives_on in any::<bool>(),
        ssl in ssl(),
        choices in (0..3_u8, 0..6_u8, any::<bool>()),
    ) -> Options {
        let [server_options, application_name, require_peer] = texts;
        Options {
            hosts,
            user,
            dbname,
            server_options,
            application_name,
            client_encoding: None,
            connect_timeout: timeouts[0].map(Duration::from_secs),
            tcp_user_timeout: timeouts[1].map(Duration::from_millis),
            keepalives: Keepalives {
                on: keepalives_on,
                idle: timeouts[2].map(Duration::from_secs),
                interval: timeouts[3].map(Duration::from_secs),
                count: timeouts[0].and_then(|count| u32::try_from(count).ok()),
            },
            ssl,
            channel_binding: [
                ChannelBinding::Disable,
                ChannelBinding::Prefer,
                ChannelBinding::Require,
            ][usize::from(choices.0)],
            require_auth: None,
            require_peer,
            target_session_attrs: [
                TargetSessionAttrs::Any,
                TargetSessionAttrs::ReadWrite,
                TargetSessionAttrs::ReadOnly,
                TargetSessionAttrs::Primary,
                TargetSessionAttrs::Standby,
                TargetSessionAttrs::PreferStandby,
            ][usize::from(choices.1)],
            load_balance_hosts: if choices.2 {
                LoadBalanceHosts::Random
            } else {
                LoadBalanceHosts::Disable
            },
            runtime_params: Vec::new(),
            password_source: None,
        }
    }
}

proptest! {
    /// Options written as a URI and read again are the same options, whatever
    /// characters their names hold.
    #[test]
    fn uris_round_trip(options in any_options()) {
        let uri = options.describe();
        let again = resolve(Some(&uri), &[], &env());
        prop_assert_eq!(again.map(|resolved| resolved.options), Ok(options), "{}", uri);
    }

    /// Options written as variables and read again are the same, but for what
    /// has no variable.
    #[test]
    fn variables_round_trip(mut options in any_options()) {
        options.keepalives = Keepalives::default();
        options.tcp_user_timeout = None;
        let mut given = env();
        for (name, value) in options.to_env().plain {
            given = given.with(name, value);
        }
        let again = resolve(None, &[], &given);
        prop_assert_eq!(again.map(|resolved| resolved.options), Ok(options));
    }

    /// Any value, quoted, comes back out of a keyword string.
    #[test]
    fn keyword_strings_round_trip(user in word(), dbname in word()) {
        let quote = |text: &str| text.replace('\\', "\\\\").replace('\'', "\\'");
        let dsn = format!("user = '{}'dbname='{}'", quote(&user), quote(&dbname));
        let again = resolve(Some(&dsn), &[], &env());
        let again = again.map(|resolved| (resolved.options.user, resolved.options.dbname));
        prop_assert_eq!(again, Ok((user, dbname)));
    }

    /// Nothing that a person can write makes the reader panic.
    #[test]
    fn no_text_panics(text in "(postgres://)?[a-z%:@/?&=,' \\\\\\[\\]0-9ä\\n]{0,40}") {
        let _ = resolve(Some(&text), &[("dbname", text.clone())], &env());
    }
}
