//! The data of a COPY from the client, gathered before any of it goes on.
//!
//! The server behind could take the rows as they come, but then it would hold
//! locks while the client thinks.

use std::io::ErrorKind;
use std::sync::atomic::Ordering;

use pgdyno_wire::frontend;

use super::{Fault, Session};
use crate::client::put;
use crate::refusal::{LIMIT, Refusal};

/// Data beyond this many times the limit of a transaction are not gathered.
const GATHERED_TIMES_MAX: u64 = 2;

impl Session {
    /// Answers with the server's CopyInResponse and gathers what the client
    /// sends, as messages for the server behind.
    pub(super) fn gather_copy(
        &mut self,
        response: &[u8],
        extended: bool,
    ) -> Result<Vec<u8>, Fault> {
        self.client.output.extend_from_slice(response);
        self.client.flush()?;
        let limits = &self.shared.config.limits;
        let (message_max, bytes_max) =
            (limits.message_bytes_max, limits.bytes_max.saturating_mul(GATHERED_TIMES_MAX));
        let mut data = Vec::new();
        let mut total: u64 = 0;
        loop {
            if self.shared.stop.load(Ordering::Relaxed) {
                return Err(Fault::Client(ErrorKind::ConnectionAborted.into()));
            }
            let Some(message) = self.client.message(message_max)? else { continue };
            match message.tag {
                b'd' => {
                    total += message.body.len() as u64;
                    if total <= bytes_max {
                        put(&mut data, b'd', &message.body);
                    }
                }
                b'c' if total > bytes_max => {
                    frontend::copy_fail(&mut data, b"too much data for one transaction")
                        .map_err(pgdyno_wire::Error::from)?;
                    break;
                }
                b'c' => {
                    frontend::copy_done(&mut data);
                    break;
                }
                b'f' => {
                    put(&mut data, b'f', &message.body);
                    break;
                }
                b'X' => return Err(Fault::Client(ErrorKind::UnexpectedEof.into())),
                // Flush and Sync mean nothing within a COPY.
                _ => {}
            }
        }
        if extended {
            // The one sent with Execute was not heard.
            frontend::sync(&mut data);
        }
        Ok(data)
    }
}

/// What DSQL says of a transaction that writes too much.
pub(super) fn too_large(bytes: u64) -> Refusal {
    let megabytes = bytes.div_ceil(1 << 20);
    Refusal::new(LIMIT, "transaction size limit 10mb exceeded")
        .with_detail(format!("Current transaction size {megabytes}mb > 10mb"))
}
