//! The bytes of a reply as server-sent events.
//!
//! The parsing is `eventsource-stream`'s. Around it: silence is an error, bytes that are no UTF-8
//! become U+FFFD instead of holding up the stream, a line has a limit, and the last event of a
//! server that does not write the blank line after it is not lost.

use std::time::Duration;

use encoding_rs::{Decoder, UTF_8};
use eventsource_stream::{EventStreamError, Eventsource as _};
use futures_util::stream::{self, BoxStream, Stream, StreamExt as _};

use super::http::Timeouts;

/// The longest line. One line may hold a whole file that the model writes.
const LINE_LIMIT: usize = 4 * 1024 * 1024;
/// The longest reply, frames included: some 400,000 tokens. What is longer never ends.
const REPLY_LIMIT: usize = 128 * 1024 * 1024;

/// Why the events end early.
#[derive(Debug)]
pub(super) enum SseFault {
    /// The connection broke.
    Broken,
    /// Nothing came for so long.
    Silent(Duration),
    /// A line is longer than the limit.
    TooLong,
    /// The whole reply is longer than the limit.
    Endless,
}

/// The data of each event, in order. After a fault nothing follows.
pub(super) fn data<B, E>(
    bytes: impl Stream<Item = Result<B, E>> + Send + 'static,
    timeouts: Timeouts,
) -> BoxStream<'static, Result<String, SseFault>>
where
    B: AsRef<[u8]> + Send + 'static,
    E: Send + 'static,
{
    within(bytes, timeouts, REPLY_LIMIT)
}

/// The same for replies of at most `limit` bytes.
fn within<B, E>(
    bytes: impl Stream<Item = Result<B, E>> + Send + 'static,
    timeouts: Timeouts,
    limit: usize,
) -> BoxStream<'static, Result<String, SseFault>>
where
    B: AsRef<[u8]> + Send + 'static,
    E: Send + 'static,
{
    let text = stream::unfold(
        Some(Reader::new(bytes.boxed(), timeouts, limit)),
        |reader| async {
            let mut reader = reader?;
            match reader.next().await {
                Some(Ok(text)) => Some((Ok(text), Some(reader))),
                Some(Err(fault)) => Some((Err(fault), None)),
                None => Some((Ok(reader.end()), None)),
            }
        },
    );
    text.eventsource()
        .map(|event| match event {
            Ok(event) => Ok(event.data),
            Err(EventStreamError::Transport(fault)) => Err(fault),
            // Cannot be: the text is valid, and the format refuses no line.
            Err(EventStreamError::Utf8(_) | EventStreamError::Parser(_)) => Err(SseFault::Broken),
        })
        .boxed()
}

struct Reader<B, E> {
    bytes: BoxStream<'static, Result<B, E>>,
    timeouts: Timeouts,
    begun: bool,
    decoder: Decoder,
    line: usize,
    /// How much may come yet.
    room: usize,
}

impl<B: AsRef<[u8]>, E> Reader<B, E> {
    fn new(bytes: BoxStream<'static, Result<B, E>>, timeouts: Timeouts, room: usize) -> Self {
        Self {
            bytes,
            timeouts,
            begun: false,
            decoder: UTF_8.new_decoder_with_bom_removal(),
            line: 0,
            room,
        }
    }

    async fn next(&mut self) -> Option<Result<String, SseFault>> {
        let limit = if self.begun {
            self.timeouts.stall
        } else {
            self.timeouts.first_byte
        };
        let chunk = match tokio::time::timeout(limit, self.bytes.next()).await {
            Err(_) => return Some(Err(SseFault::Silent(limit))),
            Ok(Some(Err(_))) => return Some(Err(SseFault::Broken)),
            Ok(Some(Ok(chunk))) => chunk,
            Ok(None) => return None,
        };
        self.begun = true;
        let chunk = chunk.as_ref();
        self.line = match chunk.iter().rposition(|&byte| byte == b'\n' || byte == b'\r') {
            Some(end) => chunk.len() - end - 1,
            None => self.line.saturating_add(chunk.len()),
        };
        if self.line > LINE_LIMIT {
            return Some(Err(SseFault::TooLong));
        }
        match self.room.checked_sub(chunk.len()) {
            Some(room) => self.room = room,
            None => return Some(Err(SseFault::Endless)),
        }
        Some(Ok(self.decode(chunk, false)))
    }

    /// What the decoder still holds, and a blank line that ends an unfinished event.
    fn end(&mut self) -> String {
        let mut text = self.decode(&[], true);
        text.push_str("\n\n");
        text
    }

    fn decode(&mut self, bytes: &[u8], last: bool) -> String {
        let room = self
            .decoder
            .max_utf8_buffer_length(bytes.len())
            .unwrap_or(bytes.len());
        let mut text = String::with_capacity(room);
        let _ = self.decoder.decode_to_string(bytes, &mut text, last);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(chunks: &[&[u8]]) -> Vec<String> {
        let chunks: Vec<Result<Vec<u8>, ()>> = chunks.iter().map(|chunk| Ok(chunk.to_vec())).collect();
        data(stream::iter(chunks), Timeouts::default())
            .map(|event| event.unwrap_or_else(|fault| format!("{fault:?}")))
            .collect()
            .await
    }

    #[tokio::test]
    async fn cuts_anywhere_make_no_difference() {
        let text =
            "\u{feff}: hello\r\ndata: a\u{1f600}\r\ndata:b\r\n\r\nevent: x\ndata: c\n\rid: 1\rdata:  d";
        let expected = ["a\u{1f600}\nb", "c", " d"];
        assert_eq!(read(&[text.as_bytes()]).await, expected);
        let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(read(&bytes).await, expected);
        for at in 0..text.len() {
            let (left, right) = text.as_bytes().split_at(at);
            assert_eq!(read(&[left, right]).await, expected, "cut at {at}");
        }
    }

    #[tokio::test]
    async fn bytes_that_are_no_text_do_not_hold_up_the_stream() {
        assert_eq!(
            read(&[b"data: a\xff\n\n", b"data: b\n\n"]).await,
            ["a\u{fffd}", "b"]
        );
    }

    #[tokio::test]
    async fn an_endless_line_is_a_fault() {
        let piece = vec![b'x'; 1024 * 1024];
        let pieces: Vec<&[u8]> = std::iter::repeat_n(piece.as_slice(), 6).collect();
        assert_eq!(read(&pieces).await, ["TooLong"]);
    }
    #[tokio::test]
    async fn a_reply_without_end_is_a_fault() {
        let endless = stream::repeat_with(|| Ok::<_, ()>(b"data: x\n\n"));
        let events: Vec<_> = within(endless, Timeouts::default(), 9 * 5 + 8).collect().await;
        assert_eq!(events.len(), 5 + 1);
        assert!(matches!(events.last(), Some(Err(SseFault::Endless))));
    }
}
