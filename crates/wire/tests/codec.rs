//! Properties of the codec: what is written is read back, and nothing that
//! comes from outside makes it panic or read past its buffer.

#![allow(clippy::unwrap_used, reason = "a test ends where its model fails")]

use pgdyno_wire::backend::{
    BackendKeyData, CommandTag, CopyResponse, DataRow, ErrorFields, NegotiateProtocolVersion,
    Notification, ParameterStatus, RowDescription, TransactionStatus, next_frame, tag,
};
use pgdyno_wire::frontend::{self, BindBuilder};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// All views of one body; what they say does not matter, that they return does.
fn view_all(tag: u8, body: &[u8]) {
    let _ = CommandTag::parse(body);
    let _ = TransactionStatus::parse(body);
    let _ = ParameterStatus::parse(body);
    let _ = BackendKeyData::parse(body);
    let _ = Notification::parse(body);
    let _ = CopyResponse::parse(body);
    let _ = NegotiateProtocolVersion::parse(body);
    let _ = RowDescription::parse(body).map(|view| view.columns().count());
    let _ = DataRow::parse(body).map(|view| view.values().count());
    let error = ErrorFields::new(body).to_server_error();
    let _ = error.with_query(&String::from_utf8_lossy(body)).to_string();
    let _ = tag;
}

/// Splits a stream of frontend messages (all with a tag) by the manual's rule.
fn split(mut stream: &[u8]) -> Vec<(u8, &[u8])> {
    let mut messages = Vec::new();
    while let Some((&tag, rest)) = stream.split_first() {
        let len = u32::from_be_bytes(rest[..4].try_into().unwrap()) as usize;
        messages.push((tag, &rest[4..len]));
        stream = &rest[len..];
    }
    messages
}

/// Takes a zero-ended text.
fn cstr<'a>(body: &mut &'a [u8]) -> &'a [u8] {
    let end = body.iter().position(|byte| *byte == 0).unwrap();
    let text = &body[..end];
    *body = &body[end + 1..];
    text
}

/// A backend message from its tag and body.
fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    bytes.extend_from_slice(&u32::try_from(body.len() + 4).unwrap().to_be_bytes());
    bytes.extend_from_slice(body);
    bytes
}

/// Texts that may stand in a zero-ended field.
fn text() -> impl Strategy<Value = Vec<u8>> {
    vec(1_u8..=255, 0..30)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Arbitrary bytes neither panic nor yield more than was given.
    #[test]
    fn scanner_survives_anything(bytes in vec(any::<u8>(), 0..200)) {
        let mut rest = &bytes[..];
        while let Ok(Some(frame)) = next_frame(rest) {
            view_all(frame.tag, frame.body);
            prop_assert!(frame.total_len() <= rest.len());
            rest = &rest[frame.total_len()..];
        }
        view_all(0, &bytes);
    }

    /// Nearly right bytes are found at the places where mistakes are made:
    /// valid messages, cut or altered anywhere.
    #[test]
    fn views_survive_nearly_right(
        values in vec(option::of(vec(any::<u8>(), 0..9)), 0..5),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        len in any::<prop::sample::Index>(),
    ) {
        let mut body = u16::try_from(values.len()).unwrap().to_be_bytes().to_vec();
        for value in &values {
            match value {
                None => body.extend_from_slice(&(-1_i32).to_be_bytes()),
                Some(value) => {
                    body.extend_from_slice(&i32::try_from(value.len()).unwrap().to_be_bytes());
                    body.extend_from_slice(value);
                }
            }
        }
        let read: Vec<Option<Vec<u8>>> = DataRow::parse(&body)
            .unwrap()
            .values()
            .map(|value| value.unwrap().map(<[u8]>::to_vec))
            .collect();
        prop_assert_eq!(&read, &values);
        let at = at.index(body.len());
        body[at] = byte;
        body.truncate(len.index(body.len() + 1));
        view_all(b'D', &body);
    }

    /// However the stream is cut on its way, the same messages come out.
    #[test]
    fn scanner_does_not_mind_cuts(
        bodies in vec((any::<u8>(), vec(any::<u8>(), 0..40)), 0..8),
        cut in 1_usize..20,
    ) {
        let stream: Vec<u8> =
            bodies.iter().flat_map(|(tag, body)| message(*tag, body)).collect();
        let mut buffer: Vec<u8> = Vec::new();
        let mut seen = Vec::new();
        for piece in stream.chunks(cut) {
            buffer.extend_from_slice(piece);
            while let Some(frame) = next_frame(&buffer).unwrap() {
                seen.push((frame.tag, frame.body.to_vec()));
                let len = frame.total_len();
                buffer.drain(..len);
            }
        }
        prop_assert!(buffer.is_empty());
        prop_assert_eq!(seen, bodies);
    }

    /// Bind says exactly which statement, portal and values were given.
    #[test]
    fn bind_round_trip(
        before in vec(any::<u8>(), 0..5),
        portal in text(),
        statement in text(),
        params in vec(option::of(vec(any::<u8>(), 0..50)), 0..20),
    ) {
        let mut buf = before.clone();
        let slices: Vec<Option<&[u8]>> = params.iter().map(Option::as_deref).collect();
        frontend::bind(&mut buf, &portal, &statement, &slices).unwrap();
        prop_assert_eq!(&buf[..before.len()], &before[..]);
        let messages = split(&buf[before.len()..]);
        prop_assert_eq!(messages.len(), 1);
        let (tag, mut body) = messages[0];
        prop_assert_eq!(tag, b'B');
        prop_assert_eq!(cstr(&mut body), &portal[..]);
        prop_assert_eq!(cstr(&mut body), &statement[..]);
        prop_assert_eq!(&body[..2], &[0, 0]);
        // From the count on, the layout is DataRow's.
        let (row, results) = body[2..].split_at(body.len() - 4);
        let read: Vec<Option<Vec<u8>>> = DataRow::parse(row)
            .unwrap()
            .values()
            .map(|value| value.unwrap().map(<[u8]>::to_vec))
            .collect();
        prop_assert_eq!(read, params);
        prop_assert_eq!(results, &[0, 0]);
    }

    /// Values written straight into the buffer give the same bytes.
    #[test]
    fn bind_in_place_is_bind(params in vec(vec(any::<u8>(), 0..50), 0..20)) {
        let slices: Vec<Option<&[u8]>> = params.iter().map(|param| Some(&param[..])).collect();
        let mut whole = Vec::new();
        frontend::bind(&mut whole, b"", b"s", &slices).unwrap();
        let mut in_place = Vec::new();
        let mut bind = BindBuilder::new(&mut in_place, b"", b"s").unwrap();
        for param in &params {
            bind.text_with(|buf| param.iter().for_each(|byte| buf.push(*byte)));
        }
        bind.finish().unwrap();
        prop_assert_eq!(whole, in_place);
    }

    /// Parse, Query and Execute carry their texts; a zero byte is refused and
    /// leaves the buffer alone.
    #[test]
    fn texts_round_trip(name in text(), sql in vec(any::<u8>(), 0..50), types in vec(any::<u32>(), 0..9)) {
        let mut buf = Vec::new();
        let result = frontend::parse(&mut buf, &name, &sql, &types)
            .and_then(|()| frontend::query(&mut buf, &sql));
        if sql.contains(&0) {
            prop_assert!(result.is_err());
            prop_assert!(buf.is_empty());
            return Ok(());
        }
        frontend::execute(&mut buf, &name, 7).unwrap();
        let messages = split(&buf);
        prop_assert_eq!(messages.iter().map(|(tag, _)| *tag).collect::<Vec<u8>>(), b"PQE");
        let mut body = messages[0].1;
        prop_assert_eq!(cstr(&mut body), &name[..]);
        prop_assert_eq!(cstr(&mut body), &sql[..]);
        let oids: Vec<u32> = body[2..]
            .chunks_exact(4)
            .map(|oid| u32::from_be_bytes(oid.try_into().unwrap()))
            .collect();
        prop_assert_eq!(oids, types);
        let mut body = messages[1].1;
        prop_assert_eq!(cstr(&mut body), &sql[..]);
        let mut body = messages[2].1;
        prop_assert_eq!(cstr(&mut body), &name[..]);
        prop_assert_eq!(body, &[0, 0, 0, 7]);
    }

    /// Every field of an error is read back.
    #[test]
    fn error_round_trip(message_text in "[^\0]{0,40}", detail in "[^\0]{0,40}") {
        let body = format!("SERROR\0VERROR\0C40001\0M{message_text}\0D{detail}\0\0");
        let bytes = message(tag::ERROR_RESPONSE, body.as_bytes());
        let frame = next_frame(&bytes).unwrap().unwrap();
        let error = ErrorFields::new(frame.body).to_server_error();
        prop_assert_eq!(&error.message, &message_text);
        prop_assert_eq!(error.detail.as_deref(), Some(detail.as_str()));
        prop_assert_eq!(
            error.to_string(),
            format!("ERROR:  {message_text}\nDETAIL:  {detail}")
        );
    }
}
