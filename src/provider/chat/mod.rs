//! OpenAI's chat completions, as OpenAI, DeepSeek, Ollama, llama.cpp, vLLM and most others speak them.

mod body;
mod chunk;
mod stream;
mod tool_calls;

pub(super) use body::body;
pub(super) use stream::ChatReader;
