//! How long the review holds up the main loop on large buffers: `make bench`. Beside each figure stands its
//! budget and the floor, the same change made with nobody looking on (`bench_review.lua`). Writing the file
//! and the first read of the text are Neovim's own and stand apart.

use serde::Deserialize;

use crate::model_server::ModelServer;
use crate::neovims::on_each_neovim;
use crate::setup::Setup;

/// Milliseconds.
#[derive(Deserialize)]
struct Times {
    apply: f64,
    accept: f64,
    reject: f64,
    key: f64,
    jump: f64,
    write: f64,
    read: f64,
}

#[derive(Deserialize)]
struct Floor {
    apply: f64,
    key: f64,
    jump: f64,
}

/// Lines, hunks, and what the longest of apply, accept, reject, key and jump may take.
const SIZES: [(usize, usize, Option<f64>); 6] = [
    (10_000, 1, None),
    (10_000, 50, Some(3.0)),
    (10_000, 500, None),
    (100_000, 1, None),
    (100_000, 50, None),
    (100_000, 500, Some(8.0)),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement: make bench"]
async fn bench_review_of_large_buffers() {
    on_each_neovim(async |neovim| {
        let setup = Setup::new()
            .size(120, 40)
            .model(&ModelServer::start(), "save = 'never'");
        let nvim = setup.start(neovim).await;
        let checkout = env!("CARGO_MANIFEST_DIR");
        nvim.lua::<()>(&format!(
            "bench = dofile('{checkout}/tests/e2e/bench_review.lua')
             vim.o.swapfile = false
             assert(require('dcode.session').ensure())"
        ))
        .await;
        eprintln!(
            "{:5} {:>7} {:>5}   {:>16} {:>7} {:>7} {:>16} {:>16}   {:>7} {:>7}  (ms; xN of the floor)",
            neovim.series, "lines", "hunks", "apply", "accept", "reject", "key", "jump", ":write", "read"
        );
        for (lines, hunks, budget) in SIZES {
            let ours: Times = nvim.lua(&format!("return bench.run({lines}, {hunks})")).await;
            let floor: Floor = nvim.lua(&format!("return bench.floor({lines}, {hunks})")).await;
            let of = |time: f64, floor: f64| format!("{time:8.2} (x{:.1})", time / floor.max(0.001));
            let longest = [ours.apply, ours.accept, ours.reject, ours.key, ours.jump]
                .into_iter()
                .fold(0.0, f64::max);
            let verdict = match budget {
                Some(budget) if longest <= budget => format!("within {budget:.0} ms"),
                Some(budget) => format!("OVER {budget:.0} ms"),
                None => String::new(),
            };
            eprintln!(
                "{:5} {lines:>7} {hunks:>5}   {:>16} {:7.2} {:7.2} {:>16} {:>16}   {:7.2} {:7.2}  {verdict}",
                neovim.series,
                of(ours.apply, floor.apply),
                ours.accept,
                ours.reject,
                of(ours.key, floor.key),
                of(ours.jump, floor.jump),
                ours.write,
                ours.read,
            );
        }
    })
    .await;
}
