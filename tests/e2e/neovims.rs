//! Which Neovims the tests run on: the paths in `DCODE_NVIMS`, joined by `:`, else the one on `PATH`.

use std::io::Write;
use std::path::PathBuf;

/// A Neovim that can be started.
#[derive(Clone, Debug)]
pub struct Neovim {
    /// The program.
    pub path: PathBuf,
    /// Its series, such as `0.11`.
    pub series: String,
    /// Whether it is the first of all: its golden screens are the shared ones.
    pub first: bool,
}

/// Runs `test` on each Neovim, one after the other. Where there is none it says so and passes, but fails
/// in CI.
pub async fn on_each_neovim(test: impl AsyncFn(&Neovim)) {
    let neovims = all().await;
    if neovims.is_empty() {
        let ci = std::env::var_os("CI").is_some_and(|value| value == "true");
        assert!(!ci, "no Neovim: set DCODE_NVIMS");
        // Not eprintln, which the test runner swallows for a test that passes.
        let why = "skipped: no Neovim in DCODE_NVIMS or on PATH (scripts/get-nvim.sh brings them)";
        writeln!(std::io::stderr(), "{why}").ok();
    }
    for neovim in &neovims {
        eprintln!("on Neovim {}: {}", neovim.series, neovim.path.display());
        test(neovim).await;
    }
}

async fn all() -> Vec<Neovim> {
    let given = std::env::var("DCODE_NVIMS").unwrap_or_default();
    if given.is_empty() {
        return found("nvim".into()).await.into_iter().collect();
    }
    let mut neovims: Vec<Neovim> = Vec::new();
    for path in std::env::split_paths(&given) {
        let neovim = found(path.clone()).await;
        let neovim = neovim.unwrap_or_else(|| panic!("{} of DCODE_NVIMS is no Neovim", path.display()));
        neovims.push(Neovim {
            first: neovims.is_empty(),
            ..neovim
        });
    }
    neovims
}

async fn found(path: PathBuf) -> Option<Neovim> {
    let output = tokio::process::Command::new(&path)
        .arg("--version")
        .output()
        .await
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let version = text.lines().next()?.strip_prefix("NVIM v")?;
    let series = version.split('.').take(2).collect::<Vec<_>>().join(".");
    Some(Neovim {
        path,
        series,
        first: true,
    })
}
