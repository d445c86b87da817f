//! Why a question to a repository has no answer.

use std::path::PathBuf;

use git2::Oid;
use thiserror::Error;

/// Why. The texts are for the model: what is the case, and what to do next.
#[derive(Debug, Error)]
pub enum VcsError {
    /// No repository holds the path.
    #[error("{path} is not in a git repository.", path = .0.display())]
    NoRepository(PathBuf),
    /// Another person owns it.
    #[error(
        "{path} belongs to another user, so git does not trust it. The person can allow it with: git config --global \
         --add safe.directory {path}",
        path = .0.display()
    )]
    Owner(PathBuf),
    /// A format that libgit2 does not know: SHA-256, reftable, a newer extension.
    #[error(
        "The repository at {path} is in a format that the git tools cannot read ({what}). Use the git program through \
         bash for it; the person can let the git tools do that themselves, with the option git_program.",
        path = path.display()
    )]
    Format {
        /// Where.
        path: PathBuf,
        /// libgit2's word for it, with the name of the extension.
        what: String,
    },
    /// A ref that cannot be one.
    #[error("`{name}` is not a ref: {why}.")]
    BadRef {
        /// As it was written.
        name: String,
        /// The end of the sentence, without its full stop.
        why: String,
    },
    /// Nothing is called so.
    #[error("There is no commit, branch or tag called `{name}`.{hint}")]
    NoSuchRef {
        /// As it was written.
        name: String,
        /// Empty, or a sentence with a space in front.
        hint: String,
    },
    /// Nothing was committed.
    #[error("The repository has no commits yet.")]
    NoCommits,
    /// The commit is there and the path is not in it.
    #[error("{path} does not exist in {at}.{hint}")]
    NoSuchPath {
        /// Relative to the root of the repository.
        path: String,
        /// The commit, as it was written.
        at: String,
        /// Empty, or a sentence with a space in front.
        hint: String,
    },
    /// It is there, and is something else.
    #[error("{0}")]
    Kind(String),
    /// An argument that does not fit.
    #[error("{0}")]
    Argument(String),
    /// A clone without all objects.
    #[error(
        "The object {id} is not in this clone: it is a partial clone, or damaged. The person can fetch it with: git \
         fetch --refetch"
    )]
    Missing {
        /// The object.
        id: Oid,
    },
    /// The working tree holds what cannot be read.
    #[error("{path} cannot be read: {why}.", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Cause and remedy.
        why: String,
    },
    /// An index that libgit2 cannot read.
    #[error(
        "The index of this repository cannot be read ({0}). If it is split or sparse, the person can change that: git \
         update-index --no-split-index, git sparse-checkout reapply --no-sparse-index; or let the git program answer, with \
         the option git_program. A diff between two refs works."
    )]
    Index(String),
    /// The turn was stopped.
    #[error("the turn was stopped")]
    Cancelled,
    /// Anything else that libgit2 says.
    #[error("libgit2 could not do it: {0}.")]
    Git(String),
}

impl From<git2::Error> for VcsError {
    fn from(error: git2::Error) -> Self {
        Self::Git(error.message().trim_end_matches('.').to_owned())
    }
}

/// A stop that is looked at in the inner loops.
pub trait Stop: Sync {
    /// Whether the work shall end.
    fn stopped(&self) -> bool;

    /// An error when it shall.
    fn check(&self) -> Result<(), VcsError> {
        if self.stopped() {
            Err(VcsError::Cancelled)
        } else {
            Ok(())
        }
    }
}

impl Stop for tokio_util::sync::CancellationToken {
    fn stopped(&self) -> bool {
        self.is_cancelled()
    }
}
