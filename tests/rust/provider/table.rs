//! Choosing and opening a model from settings and environment.

use dcode::provider::{Provider, ProviderError, ProviderSettings, list, open, provider_names};
use serde_json::{Value, json};

use super::shown;

fn opened(settings: Value, env: &[(&str, &str)]) -> Result<std::sync::Arc<dyn Provider>, ProviderError> {
    let settings: ProviderSettings = serde_json::from_value(settings).unwrap();
    let env = |name: &str| {
        env.iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| (*value).to_owned())
    };
    open(&settings, &env)
}

fn name(settings: Value, env: &[(&str, &str)]) -> String {
    match opened(settings, env) {
        Ok(provider) => format!("{} {}", provider.name(), provider.context_window()),
        Err(error) => shown(&error),
    }
}

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/scripts/hello.toml");

#[test]
fn what_is_chosen() {
    let local = json!({"mock": {"base_url": "http://127.0.0.1:9/v1", "api_key_env": "MOCK_KEY"}});
    let lines = [
        name(json!({}), &[("OPENAI_API_KEY", "k"), ("DEEPSEEK_API_KEY", "k")]),
        name(
            json!({}),
            &[("OPENAI_API_KEY", " \n"), ("DEEPSEEK_API_KEY", "k\n")],
        ),
        name(json!({"model": "openai:gpt-4o-mini"}), &[("OPENAI_API_KEY", "k")]),
        name(json!({"model": "ollama:qwen3:8b"}), &[]),
        name(
            json!({"model": "ollama:q", "providers": {"ollama": {"context_window": 8192}}}),
            &[],
        ),
        name(json!({"model": "mock:any", "providers": local}), &[]),
        name(json!({"model": "ollama:q"}), &[("DCODE_SCRIPT", SCRIPT)]),
        name(
            json!({"model": "demo:x", "providers": {"demo": {"wire": "scripted", "script": SCRIPT}}}),
            &[],
        ),
        name(json!({"script": SCRIPT}), &[]),
    ];
    insta::assert_snapshot!(lines.join("\n"), @"
    deepseek:deepseek-flash 1000000
    deepseek:deepseek-flash 1000000
    openai:gpt-4o-mini 128000
    ollama:qwen3:8b 0
    ollama:q 8192
    mock:any 0
    scripted:hello 0
    scripted:hello 0
    scripted:hello 0
    ");
    assert!(opened(json!({"script": SCRIPT}), &[]).unwrap().scripted());
    assert!(!opened(json!({"model": "ollama:q"}), &[]).unwrap().scripted());
}

#[test]
fn what_cannot_be_opened() {
    let lines = [
        name(json!({}), &[]),
        name(json!({"model": "gpt-5"}), &[]),
        name(json!({"model": "deepseek:"}), &[]),
        name(json!({"model": "depseek:x"}), &[]),
        name(json!({"model": "acme:x"}), &[]),
        name(json!({"model": "deepseek:x"}), &[("DEEPSEEK_API_KEY", "")]),
        name(json!({"model": "acme:x", "providers": {"acme": {}}}), &[]),
        name(
            json!({"model": "acme:x", "providers": {"acme": {"wire": "soap", "base_url": "http://h/v1"}}}),
            &[],
        ),
        name(
            json!({"model": "acme:x", "providers": {"acme": {"wire": "scripted"}}}),
            &[],
        ),
        name(json!({"script": "/nowhere/s.toml"}), &[]),
    ];
    insta::assert_snapshot!(lines.join("\n"), @r#"
    Config: No model is configured. [Set DEEPSEEK_API_KEY, ANTHROPIC_API_KEY or OPENAI_API_KEY, or choose one with :Dcode model.]
    Config: "gpt-5" does not name provider and model. [Write provider:model, for example deepseek:deepseek-flash.]
    Config: "deepseek:" does not name provider and model. [Write provider:model, for example deepseek:deepseek-flash.]
    Config: There is no provider named "depseek". [Did you mean deepseek?]
    Config: There is no provider named "acme". [Known are anthropic, deepseek, llamacpp, ollama, openai, openrouter, vllm; others go into providers.]
    Auth: There is no key for deepseek: DEEPSEEK_API_KEY is not set. [Set DEEPSEEK_API_KEY and start Neovim anew, or choose another model with :Dcode model, for example :Dcode model ollama:qwen3-coder.]
    Config: The provider acme has no base_url. [Set providers.acme.base_url, for example to http://127.0.0.1:8000/v1.]
    Config: The provider acme has the unknown wire "soap". [Set providers.acme.wire to chat, responses, messages or scripted.]
    Config: The provider acme plays a script, but names none. [Set providers.acme.script to a file.]
    Config: The script /nowhere/s.toml does not exist. [Correct the file, or choose a model with :Dcode model PROVIDER:MODEL.]
    "#);
}

#[test]
fn configured_providers_stand_beside_the_built_in_ones() {
    let settings = json!({"providers": {"acme": {}, "openai": {}}});
    let names = provider_names(&serde_json::from_value(settings).unwrap());
    assert_eq!(
        names,
        [
            "acme",
            "anthropic",
            "deepseek",
            "llamacpp",
            "ollama",
            "openai",
            "openrouter",
            "vllm"
        ]
    );
}

#[test]
fn without_a_model_in_the_configuration() {
    let lines = [
        name(json!({}), &[("ANTHROPIC_API_KEY", "k"), ("OPENAI_API_KEY", "k")]),
        name(json!({}), &[("OPENAI_API_KEY", "k")]),
        name(json!({"providers": {"openai": {"api_key_cmd": "echo k"}}}), &[]),
        name(json!({"remembered": "ollama:q"}), &[("OPENAI_API_KEY", "k")]),
        name(
            json!({"remembered": "deepseek:deepseek-v4-pro"}),
            &[("OPENAI_API_KEY", "k")],
        ),
        name(
            json!({"remembered": "deepseek:deepseek-v4-pro"}),
            &[("DEEPSEEK_API_KEY", "k")],
        ),
        name(json!({"remembered": "ollama:q", "model": "vllm:x"}), &[]),
    ];
    insta::assert_snapshot!(lines.join("\n"), @"
    anthropic:claude-sonnet-5-5 1000000
    openai:gpt-6.2-sol 1050000
    openai:gpt-6.2-sol 1050000
    ollama:q 0
    openai:gpt-6.2-sol 1050000
    deepseek:deepseek-v4-pro 1000000
    vllm:x 0
    ");
}

#[test]
fn what_is_known_of_a_model() {
    let with = |settings: Value| {
        let model = opened(
            settings,
            &[("DEEPSEEK_API_KEY", "k"), ("OPENROUTER_API_KEY", "k")],
        )
        .unwrap();
        let price = model.prices().map(|prices| (prices.input, prices.output));
        (model.sees_images(), price)
    };
    assert_eq!(
        with(json!({"model": "deepseek:deepseek-flash"})),
        (true, Some((0.15, 0.6)))
    );
    assert_eq!(
        with(json!({"model": "deepseek:deepseek-v4-pro"})),
        (false, Some((0.66, 1.98)))
    );
    // What a router charges is its own affair.
    assert_eq!(
        with(json!({"model": "openrouter:deepseek/deepseek-flash"})),
        (true, None)
    );
    assert_eq!(with(json!({"model": "ollama:qwen3"})), (false, None));
    let own = json!({"qwen": {"images": true, "prices": {"input": 1.0, "output": 2.0}}});
    let said = json!({"model": "ollama:qwen3", "providers": {"ollama": {"models": own}}});
    assert_eq!(with(said), (true, Some((1.0, 2.0))));
}

#[tokio::test]
async fn the_list_has_what_can_be_used_first_and_names_what_is_missing() {
    let own = json!({"acme": {"base_url": "http://127.0.0.1:9/v1", "models": {"m-1": {"images": true}}}});
    let settings = serde_json::from_value(json!({"providers": own})).unwrap();
    let rows = list(&settings, &|name| {
        (name == "OPENAI_API_KEY").then(|| "k".to_owned())
    })
    .await;
    let missing = |name: &str| rows.iter().find(|row| row.name == name).unwrap().missing.clone();
    assert_eq!(missing("openai:gpt-6.2-sol"), None);
    assert_eq!(missing("acme:m-1"), None);
    assert_eq!(
        missing("deepseek:deepseek-flash").as_deref(),
        Some("DEEPSEEK_API_KEY")
    );
    let usable = rows.iter().take_while(|row| row.missing.is_none()).count();
    assert!(rows.iter().skip(usable).all(|row| row.missing.is_some()));
    assert!(
        rows.iter().all(|row| row.name != "openai:gpt-5"),
        "what is old is not listed"
    );
}
