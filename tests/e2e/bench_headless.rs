//! How soon the command line asks its model, and what it holds then: part of `make bench`.

use std::time::{Duration, Instant};

use crate::model_server::{ModelServer, Reply};
use crate::neovims::on_each_neovim;
use crate::setup::Setup;

const CLI: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/lua/dcode/cli.lua");
const RUNS: usize = 7;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement: make bench"]
async fn bench_headless_start() {
    on_each_neovim(async |neovim| {
        let (mut waits, mut floors, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..RUNS {
            let model = ModelServer::start();
            let (reply, release) = Reply::new().pause();
            model.push(reply.text("done").done());
            let config = format!(
                "model = 'mock:any'\n[providers.mock]\nbase_url = '{}'\n",
                model.base_url()
            );
            let setup = Setup::new().home_file(".deepseek/config.toml", &config);
            // The floor: a Neovim that starts and ends.
            let started = Instant::now();
            let (mut bare, _folder) = setup.spawn(neovim, &["-es", "+qa!"]).await;
            bare.wait().await.expect("Neovim ends");
            floors.push(started.elapsed());
            let started = Instant::now();
            let (mut child, _folder) = setup.spawn(neovim, &["-l", CLI, "-n", "hi"]).await;
            waits.push(model.request(0).await.at - started);
            sizes.push(resident_mib(child.id().expect("it runs")));
            release.go();
            child.wait().await.expect("it ends");
        }
        waits.sort();
        floors.sort();
        sizes.sort_by(f64::total_cmp);
        let milliseconds = |time: Duration| 1000.0 * time.as_secs_f64();
        let (wait, floor) = (milliseconds(waits[RUNS / 2]), milliseconds(floors[RUNS / 2]));
        let verdict = |good| if good { "within" } else { "OVER" };
        eprintln!(
            "{:5} headless start to request  {wait:8.2} ms   floor {floor:7.2} ms (x{:.1})   {} 100 ms",
            neovim.series,
            wait / floor,
            verdict(wait <= 100.0)
        );
        let size = sizes[RUNS / 2];
        eprintln!(
            "{:5} resident at that request   {size:8.2} MiB   {} 40 MiB",
            neovim.series,
            verdict(size <= 40.0)
        );
    })
    .await;
}

/// The resident size of a process.
fn resident_mib(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib: f64 = line
        .and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or(f64::NAN);
    kib / 1024.0
}
