//! Turns with a model that streams over HTTP, as a person sees them.

use serde_json::json;

use crate::model_server::{ModelServer, Reply};
use crate::neovims::on_each_neovim;
use crate::setup::Setup;

#[tokio::test]
async fn a_reply_is_on_the_screen_while_it_streams() {
    on_each_neovim(async |neovim| {
        let model = ModelServer::start();
        let (reply, release) = Reply::new().words("First I look around.").pause();
        model.push(reply.words(" That was all.").done());
        let nvim = Setup::new().size(120, 30).model(&model, "").start(neovim).await;
        nvim.input(":Dcode say something<CR>").await;
        let request = model.request(0).await;
        assert_eq!(request.messages().last().unwrap()["role"], "user");
        assert!(
            request.messages().last().unwrap()["content"]
                .to_string()
                .contains("say something")
        );
        let screen = nvim.wait_for("First I look around.").await;
        assert_eq!(screen.find("That was all."), None);
        release.go();
        nvim.wait_for("That was all.").await;
    })
    .await;
}

#[tokio::test]
async fn a_call_is_answered_and_the_turn_goes_on() {
    on_each_neovim(async |neovim| {
        let model = ModelServer::start();
        model.push(Reply::call("c1", "read_file", &json!({ "path": "a.txt" })));
        model.push(Reply::say("It has two lines."));
        let nvim = Setup::new()
            .size(120, 30)
            .model(&model, "")
            .file("a.txt", "one\ntwo\n")
            .start(neovim)
            .await;
        nvim.input(":Dcode what is in a.txt?<CR>").await;
        nvim.wait_for("It has two lines.").await;
        let request = model.request(1).await;
        let result = request.result_of("c1").unwrap();
        assert!(result.contains("one") && result.contains("two"), "{result}");
        assert!(request.tools().contains(&"read_file"), "{:?}", request.tools());
    })
    .await;
}
