//! How long a person waits: `make bench`. Each figure stands beside its budget and beside the floor, which
//! is the same done by the least Lua that does it (`bench_floor.lua`). Stalls are measured from outside, as
//! a key would meet them. Nothing is asserted: the figures of a busy machine say little.

use std::time::{Duration, Instant};

use crate::driver::{Nvim, PATIENCE};
use crate::model_server::{ModelServer, Reply};
use crate::neovims::{Neovim, on_each_neovim};
use crate::setup::Setup;

/// Runs of what is measured once in a Neovim; the median is shown.
const RUNS: usize = 7;

/// Who is measured.
#[derive(Clone, Copy)]
enum Who {
    Dcode,
    Floor,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement: make bench"]
async fn bench_start() {
    on_each_neovim(async |neovim| {
        let nvim = Setup::new().start(neovim).await;
        let checkout = env!("CARGO_MANIFEST_DIR");
        let measure = async |load: String| -> Duration {
            let code = format!(
                "local times = {{}}
                 for run = 1, 21 do
                   vim.g.loaded_dcode = nil
                   for name in pairs(package.loaded) do
                     if vim.startswith(name, 'dcode') then package.loaded[name] = nil end
                   end
                   local before = vim.uv.hrtime()
                   {load}
                   times[run] = vim.uv.hrtime() - before
                 end
                 table.sort(times)
                 return times[11]"
            );
            Duration::from_nanos(nvim.lua(&code).await)
        };
        let ours = format!("vim.cmd.source('{checkout}/plugin/dcode.lua') require('dcode').setup({{}})");
        let ours = measure(ours).await;
        let floor = measure(format!("dofile('{checkout}/tests/e2e/bench_floor.lua').setup()")).await;
        report(neovim, "plugin file and setup()", ours, floor, 1.0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement: make bench"]
async fn bench_first_prompt() {
    on_each_neovim(async |neovim| {
        let (mut request, mut drawn) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
        for _ in 0..RUNS {
            for (index, who) in [Who::Dcode, Who::Floor].into_iter().enumerate() {
                let model = ModelServer::start();
                let (reply, first) = Reply::new().pause();
                let (reply, rest) = reply.text("Drawn.").pause();
                model.push(reply.done());
                let nvim = start(neovim, who, &model).await;
                let asked = Instant::now();
                ask(&nvim, who, &model).await;
                request[index].push(model.request(0).await.at - asked);
                // The first delta comes when the chat stands: a model takes longer than a window.
                assert!(nvim.lua::<bool>("vim.cmd.redraw() return true").await);
                let sent = Instant::now();
                first.go();
                drawn[index].push(nvim.wait_for("Drawn.").await.drawn_at().unwrap() - sent);
                rest.go();
            }
        }
        report(
            neovim,
            "first :Dcode to request",
            median(&mut request[0]),
            median(&mut request[1]),
            40.0,
        );
        report(
            neovim,
            "first delta to screen",
            median(&mut drawn[0]),
            median(&mut drawn[1]),
            5.0,
        );
    })
    .await;
}

/// A key is answered how fast while 3,000 tokens come within a second? The control types with no reply running.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement: make bench"]
async fn bench_stall_in_a_burst() {
    on_each_neovim(async |neovim| {
        let burst = "word ".repeat(3000);
        let mut worst = Vec::new();
        for who in [Who::Dcode, Who::Floor] {
            let model = ModelServer::start();
            let (reply, release) = Reply::new().text("Begin.").pause();
            model.push(reply.words_per_millisecond(5, &burst).text("\n\nThe end.").done());
            let nvim = start(neovim, who, &model).await;
            ask(&nvim, who, &model).await;
            nvim.wait_for("Begin.").await;
            let control = keys_until(&nvim, |_, keys| keys == 500).await;
            release.go();
            let busy = keys_until(&nvim, |nvim, _| nvim.screen().find("The end.").is_some()).await;
            worst.push((percentile(&control, 99), busy));
        }
        let [(control, ours), (_, floor)] = worst.as_slice() else {
            panic!("two were measured")
        };
        report(
            neovim,
            "key in a burst, p99",
            percentile(ours, 99),
            percentile(floor, 99),
            8.0,
        );
        let budget = 1000.0 * control.as_secs_f64() + 16.0;
        report(
            neovim,
            "key in a burst, longest",
            percentile(ours, 100),
            percentile(floor, 100),
            budget,
        );
    })
    .await;
}

async fn start(neovim: &Neovim, who: Who, model: &ModelServer) -> Nvim {
    let setup = Setup::new().size(120, 40).model(model, "");
    let nvim = setup.start(neovim).await;
    nvim.wait_for_lua("vim.v.vim_did_enter == 1").await;
    if matches!(who, Who::Floor) {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/bench_floor.lua");
        nvim.lua::<()>(&format!("floor = dofile('{file}')")).await;
    }
    nvim
}

async fn ask(nvim: &Nvim, who: Who, model: &ModelServer) {
    match who {
        Who::Dcode => nvim.input(":Dcode go on<CR>").await,
        Who::Floor => {
            let keys = format!(":lua floor.ask('go on', {})<CR>", model.port());
            nvim.input(&keys).await;
        }
    }
}

/// Types a key that does nothing every 2 ms and notes how long Neovim takes to have seen it.
async fn keys_until(nvim: &Nvim, mut done: impl FnMut(&Nvim, usize) -> bool) -> Vec<Duration> {
    let mut taken = Vec::new();
    let mut tick = tokio::time::interval(Duration::from_millis(2));
    let started = Instant::now();
    while !done(nvim, taken.len()) {
        assert!(
            started.elapsed() < PATIENCE,
            "the burst does not end:\n{}",
            nvim.framed_screen()
        );
        tick.tick().await;
        let typed = Instant::now();
        nvim.input("<Ignore>").await;
        nvim.mode().await;
        taken.push(typed.elapsed());
    }
    taken
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn percentile(times: &[Duration], percent: usize) -> Duration {
    let mut times = times.to_vec();
    times.sort();
    times[(times.len() * percent / 100).min(times.len() - 1)]
}

fn report(neovim: &Neovim, what: &str, ours: Duration, floor: Duration, budget: f64) {
    let milliseconds = |time: Duration| 1000.0 * time.as_secs_f64();
    let (ours, floor) = (milliseconds(ours), milliseconds(floor));
    let verdict = if ours <= budget { "within" } else { "OVER" };
    eprintln!(
        "{:5} {what:26} {ours:8.2} ms   floor {floor:7.2} ms (x{:.1})   {verdict} {budget:.0} ms",
        neovim.series,
        ours / floor
    );
}
