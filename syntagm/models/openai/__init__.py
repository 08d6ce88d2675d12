"""Language models on a server with OpenAI's completions interface, such as vLLM, SGLang or llama-cpp-python."""
