//! What a long session costs in memory.

use serde_json::json;

use crate::model_server::ModelServer;
use crate::neovims::on_each_neovim;
use crate::setup::Setup;

/// More than this many KiB is growth. The allocator may keep room for two more texts of this size (8 MB
/// once, as lines and whole); a leak would be 200 of them.
const LIMIT: u64 = 20 * 1024;

#[tokio::test]
async fn reading_a_large_buffer_again_and_again_does_not_grow() {
    on_each_neovim(async |neovim| {
        let lines: String = (0..100_000)
            .map(|line| format!("this is line {line} of a large file\n"))
            .collect();
        let nvim = Setup::new()
            .model(&ModelServer::start(), "")
            .file("big.txt", &lines)
            .open("big.txt")
            .start(neovim)
            .await;
        nvim.input("Gomine<Esc>").await;
        nvim.wait_for_lua("vim.bo.modified").await;
        let read = async |times: u32| {
            let arguments = json!(["read_file", { "path": "big.txt", "start_line": 100_000 }]);
            for _ in 0..times {
                let result = nvim.api("call", &arguments).await.unwrap();
                assert!(result["text"].as_str().unwrap().contains("mine"), "{result}");
            }
        };
        // The allocator settles in the first reads.
        read(20).await;
        let before = nvim.memory();
        read(200).await;
        let after = nvim.memory();
        eprintln!(
            "Neovim {}: {before} KiB before 200 reads, {after} KiB after",
            neovim.series
        );
        assert!(after < before + LIMIT, "{before} KiB before, {after} KiB after");
        assert_eq!(nvim.api("hunks", &json!([])).await, Ok(json!([])));
    })
    .await;
}
