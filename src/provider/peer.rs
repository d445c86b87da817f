//! Who is talked to, as far as sentences need it, and how the words of a server are quoted.

/// The longest quotation of a server's words, in characters.
const QUOTED: usize = 300;

/// The other side of a request.
#[derive(Clone)]
pub(super) struct Peer {
    /// The name of the row, for example `openai`.
    pub(super) provider: String,
    pub(super) model: String,
    /// The endpoint without user name, password and query.
    pub(super) url: String,
    pub(super) host: String,
    pub(super) key_env: Option<String>,
    pub(super) loopback: bool,
    /// What must never be shown: the key and the values of configured headers.
    pub(super) secrets: Vec<String>,
}

impl Peer {
    /// A server's words, fit for one line of a notice: cut, without control characters, and
    /// without our secrets, which some servers echo.
    pub(super) fn quote(&self, words: &str) -> String {
        let mut words = words.to_owned();
        for secret in self.secrets.iter().filter(|secret| secret.len() >= 4) {
            words = words.replace(secret.as_str(), "…");
        }
        let words: String = words
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut quoted: String = words.chars().take(QUOTED).collect();
        if quoted.len() < words.len() {
            quoted.push('…');
        }
        quoted.trim_end_matches('.').to_owned()
    }

    /// Where the key comes from, for hints.
    pub(super) fn key_source(&self) -> String {
        self.key_env
            .clone()
            .unwrap_or_else(|| format!("providers.{}.api_key_env", self.provider))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(in crate::provider) fn peer() -> Peer {
        Peer {
            provider: "acme".into(),
            model: "m-1".into(),
            url: "https://api.acme.test/v1/chat/completions".into(),
            host: "api.acme.test".into(),
            key_env: Some("ACME_KEY".into()),
            loopback: false,
            secrets: vec!["sk-secret".into(), "x".into()],
        }
    }

    #[test]
    fn quotations_are_one_short_line_without_secrets() {
        assert_eq!(
            peer().quote("key\tsk-secret \x1b[31m\r\n is wrong."),
            "key … [31m is wrong"
        );
        assert_eq!(peer().quote(&"é".repeat(400)).chars().count(), QUOTED + 1);
    }
}
