"""The built-in context windows, in tokens, by model family.

The sizes are those that providers document for the family's models at their own API, as of November
2026. The longest family that a name begins with counts: a family covers its dated versions and
successors that are not in the table. `shared.reading.model_windows.builtin` handles the spellings.
"""

from collections.abc import Mapping

# The families of each size, separated by blanks; a part for each provider, with the page where it
# documents them.
_BY_SIZE: tuple[Mapping[int, str], ...] = (
    # Anthropic: a million from 4.6 on, for Haiku from 5.5 on.
    # https://platform.claude.com/docs/en/build-with-claude/context-windows
    {
        100_000: "claude-2 claude-v2 claude-instant",
        200_000: """
            claude-2.1 claude-v2:1 claude-3 claude-opus-3 claude-opus-4 claude-sonnet-3
            claude-sonnet-4 claude-haiku-3 claude-haiku-4
        """,
        1_000_000: """
            claude-opus claude-opus-4.6 claude-opus-4.7 claude-opus-4.8 claude-sonnet
            claude-sonnet-4.6 claude-haiku claude-fable claude-mythos
        """,
    },
    # OpenAI: https://platform.openai.com/docs/models
    {
        4_096: "gpt-3.5-turbo-instruct",
        8_192: "gpt-4 computer-use",
        16_000: "gpt-4o-mini-realtime",
        16_385: "gpt-3.5-turbo",
        32_000: "gpt-4o-realtime gpt-realtime",
        32_768: "gpt-4-32k",
        128_000: """
            gpt-4-turbo gpt-4-vision gpt-4-1106 gpt-4-0125 gpt-4o chatgpt-4o gpt-4.5
            gpt-5-chat gpt-5.1-chat gpt-5.2-chat gpt-5.3-chat gpt-audio gpt-realtime-2
            o1-mini o1-preview
        """,
        131_072: "gpt-oss",
        200_000: "codex-mini o1 o3 o4-mini",
        400_000: "gpt-5 gpt-5.4-mini gpt-5.4-nano",
        1_047_576: "gpt-4.1",
        1_050_000: "gpt-5.4 gpt-5.5 gpt-5.6 gpt-6",
    },
    # Google: https://ai.google.dev/gemini-api/docs/models, https://ai.google.dev/gemma/docs
    {
        8_192: "gemma-2",
        32_768: "gemini-pro gemini-1.0 gemma-3n",
        131_072: "gemma-3",
        262_144: "gemma-4",
        1_048_576: """
            gemini-pro-latest gemini-flash gemini-1.5-flash gemini-2.0 gemini-2.5 gemini-3
            gemini-4
        """,
        2_097_152: "gemini-1.5-pro gemini-pro-1.5",
    },
    # Meta: https://huggingface.co/meta-llama
    {
        4_096: "llama-2",
        8_192: "llama-3",
        131_072: "llama-3.1 llama-3.2 llama-3.3",
        1_048_576: "llama-4-maverick muse-spark muse-wonder",
        10_485_760: "llama-4-scout",
    },
    # Mistral: https://docs.mistral.ai/getting-started/models
    {
        32_768: """
            mistral-7b mistral-saba mistral-small-2402 mistral-small-2409 mistral-small-2501
            mistral-small-24b-instruct-2501 mistral-medium-2312 mistral-large-2402
            mixtral-8x7b voxtral
        """,
        65_536: "mixtral-8x22b",
        131_072: """
            mistral-nemo mistral-small mistral-medium mistral-large devstral magistral
            ministral pixtral
        """,
        262_144: """
            mistral-small-2603 mistral-medium-2604 mistral-medium-3.5 mistral-large-2512
            mistral-large-3 codestral devstral-2 devstral-2512 ministral-8b-2512
            ministral-14b
        """,
        1_048_576: "mistral-large-4",
    },
    # DeepSeek: https://api-docs.deepseek.com/quick_start/pricing
    {
        131_072: "deepseek-chat deepseek-reasoner deepseek-v3 deepseek-r1",
        1_048_576: "deepseek-v4 deepseek-flash deepseek-pro",
    },
    # Qwen: https://www.alibabacloud.com/help/en/model-studio/models
    {
        32_768: "qwen-max",
        131_072: "qwen-2.5 qwen-3",
        262_144: """
            qwen-3-235b-a22b-2507 qwen-3-235b-a22b-instruct-2507
            qwen-3-235b-a22b-thinking-2507 qwen-3-30b-a3b-instruct-2507
            qwen-3-30b-a3b-thinking-2507 qwen-3-max qwen-3-next qwen-3-vl qwen-3-coder
            qwen-3.5 qwen-3.6
        """,
        1_000_000: """
            qwen-plus qwen-flash qwen-turbo qwen-3-coder-plus qwen-3-coder-flash
            qwen-3.5-plus qwen-3.5-flash qwen-3.6-plus qwen-3.6-flash qwen-3.7 qwen-3.8
        """,
    },
    # xAI: https://docs.x.ai/docs/models
    {
        131_072: "grok-2 grok-3",
        256_000: "grok-4 grok-build grok-code",
        500_000: "grok-4.5 grok-4.6 grok-4.7",
        1_000_000: "grok-4.20 grok-4.3",
        2_000_000: "grok-4-fast grok-4.1-fast",
    },
    # Others: https://huggingface.co/microsoft (Phi), https://docs.aws.amazon.com/nova (Nova),
    # https://docs.cohere.com/docs/models (Command), https://docs.ai21.com (Jamba),
    # https://platform.moonshot.ai/docs (Kimi), https://docs.z.ai (GLM) and
    # https://platform.minimax.io/docs (MiniMax)
    {
        4_096: "phi-3-mini-4k phi-3-medium-4k",
        16_384: "phi-4",
        32_768: "phi-4-reasoning",
        128_000: "nova-micro command-r command-r7b",
        131_072: "phi-3 phi-4-mini phi-4-multimodal kimi-k2 glm-4.5",
        200_000: "glm-4.6 glm-4.7 glm-5",
        204_800: "minimax-m2",
        256_000: "jamba",
        262_144: """
            command-a kimi-k2-0905 kimi-k2-instruct-0905 kimi-k2-thinking kimi-k2-turbo
            kimi-k2.5 kimi-k2.6 kimi-k2.7
        """,
        300_000: "nova-lite nova-pro",
        1_000_000: "nova-premier nova-2 glm-5.2 glm-5.3 minimax-m3",
        1_048_576: "kimi-k3",
    },
)

FAMILIES: Mapping[str, int] = {
    family: size
    for sizes in _BY_SIZE
    for size, families in sizes.items()
    for family in families.split()
}
