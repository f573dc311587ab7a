"""Secrets: what is replaced, what stays, and the time."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pace import assert_in_proportion, repeated
from vault_memory.core.privacy.secrets import Redacted, redact

SECRETS = [
    ("api-key", "sk-proj-abcdefghij0123456789klmnop"),
    ("api-key", "AKIA" + "IOSFODNN7EXAMPLE"),
    ("api-key", "AIza" + "SyA1234567890abcdefghijklmnopqrstuvw"),
    ("token", "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"),
    ("token", "glpat-" + "abcdefghij0123456789"),
    ("token", "xoxb-" + "123456789012-abcdefghijkl"),
    ("token", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"),
    ("token", "vault_alice_" + "0123456789abcdef" * 4),
    ("private-key", "-----BEGIN RSA PRIVATE KEY-----\nMIIEabc+/=\n-----END RSA PRIVATE KEY-----"),
    ("card", "4111 1111 1111 1111"),
    ("card", "5555555555554444"),
    ("id-number", "A123456789"),
    ("id-number", "11010519491231002X"),
    ("id-number", "A123456(3)"),
    ("id-number", "078-05-1120"),
    ("bank-account", "GB82 WEST 1234 5698 7654 32"),
]


@pytest.mark.parametrize(("kind", "secret"), SECRETS)
@pytest.mark.parametrize("frame", ["{}", "我的是 {}，謝謝", "here: {} ok?", "「{}」"])
def test_a_secret_is_replaced_wherever_it_stands(kind: str, secret: str, frame: str) -> None:
    """G7: secrets never reach a file."""
    result = redact(frame.format(secret))
    assert secret not in result.text
    assert f"[redacted: {kind}]" in result.text
    assert result.counts == {kind: 1}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("password: hunter22", "password: [redacted: password]"),
        ("密碼是 hunter2!", "密碼是 [redacted: password]"),
        ("密码：abc12345", "密码：[redacted: password]"),
        ("the wifi password is Tr0ub4dor", "the wifi password is [redacted: password]"),
        ("postgres://u:pw@host/db", "postgres://[redacted: credentials]@host/db"),
        ("我的銀行帳號 012345678901", "我的銀行帳號 [redacted: bank-account]"),
        ("my pin is 4821", "my pin is [redacted: password]"),
        ("my passport number is K09876543", "my passport number is [redacted: id-number]"),
    ],
)
def test_a_named_value_is_replaced_and_its_name_stays(text: str, left: str) -> None:
    assert redact(text).text == left


@pytest.mark.parametrize(
    "text",
    [
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "id 123e4567-e89b-12d3-a456-426614174000",
        "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "1700000000000 ms, 3.14159265358979, 2026-01-30T12:00:00",
        "def login(password: str) -> Token:",
        'password = os.environ["DB_PASSWORD"]',
        "token = get_token()",
        "the password is wrong",
        "密碼是什麼",
        "忘記密碼怎麼辦，密碼欄位要加驗證",
        "127.0.0.1:8080 and 192.168.0.1",
        "https://example.com/a:b@c",
        "pip install scikit-learn==1.5.0 task-management-system-2",
    ],
)
def test_hashes_ids_numbers_and_code_stay(text: str) -> None:
    assert redact(text) == redact(text).__class__(text, {})


PIECES = st.one_of(
    st.text(max_size=20),
    st.sampled_from([secret for _, secret in SECRETS]),
    st.sampled_from(["password: ", "密碼是", "token=", "pin is ", "://", ":", "@", " "]),
)


@given(st.lists(PIECES).map("".join))
def test_redacting_the_result_again_changes_nothing(text: str) -> None:
    once = redact(text)
    assert redact(once.text).text == once.text


KEY_UNITS = [
    *("dapi" + "0123456789abcdef" * 2, "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789", "AKIA" + "IOSFODNN7EXAMPLE"),
    *(
        "Ab1" + "8Q~" + "a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4e5",
        "patAbCdEfGh123456." + "0123456789abcdef" * 4,
        "A123456789",
    ),
    *(
        "4111 1111 1111 1111",
        "密码api 密码key`\\n_val1ue‹(密码你s：key",
        "`口令key:1234",
        "密码id%411是",
        "x9Kd2#pq",
        "://u:",
    ),
    *("-----BEGIN RSA PRIVATE " + "KEY-----\nMIIEabc+/=\n-----END RSA PRIVATE " + "KEY-----", "hunter22", "@host", "|"),
    *(
        "\n",
        " ",
        "-",
        ".",
        "password: ",
        "token=",
        " as the password",
        "（密碼）",
        "key=",
        '"',
        "帳密 bob/",
        "- ",
        "&",
        "1 ",
    ),
]


@given(st.lists(st.tuples(st.sampled_from(KEY_UNITS), st.sampled_from([1, 1, 1, 2, 5, 40])), max_size=12))
def test_secrets_right_behind_one_another_are_all_replaced_at_once(units: list[tuple[str, int]]) -> None:
    once = redact("".join(unit * count for unit, count in units))
    assert redact(once.text).text == once.text


def test_a_key_right_behind_another_is_a_key() -> None:
    key = "dapi" + "0123456789abcdef" * 2
    assert redact(key * 40) == Redacted("[redacted: api-key]" * 40, {"api-key": 40})


def test_what_the_provider_plugins_of_detect_secrets_know_is_known_here() -> None:
    """A cross-check with a maintained library, which imports too slowly for the product."""
    from detect_secrets.plugins.aws import AWSKeyDetector
    from detect_secrets.plugins.jwt import JwtTokenDetector
    from detect_secrets.plugins.openai import OpenAIDetector
    from detect_secrets.plugins.private_key import PrivateKeyDetector
    from detect_secrets.plugins.slack import SlackDetector
    from detect_secrets.plugins.stripe import StripeDetector

    plugins = (
        AWSKeyDetector(),
        JwtTokenDetector(),
        OpenAIDetector(),
        PrivateKeyDetector(),
        SlackDetector(),
        StripeDetector(),
    )
    samples = [secret for _, secret in SECRETS] + [
        "sk_live_" + "abcdefghij0123456789abcd",
        "sk-" + "a1" * 10 + "T3BlbkFJ" + "b2" * 10,
    ]
    for sample in samples:
        if any(list(plugin.analyze_string(sample)) for plugin in plugins):
            left = redact(sample).text
            assert not any(list(plugin.analyze_string(left)) for plugin in plugins), sample


# --- what the former rules let pass -----------------------------------------------------------------------------------

OPENAI = "sk" + "-proj-" + "Zk3jW9qLx0PbT7vN2mRcY5dHs8fGa1Ue"
BOT = "4839201756" + ":A" + "AHk3jW9qLx0PbT7vN2mRcY5dHs8fGa1Uez"
PEM = (
    "-----BEGIN RSA PRIVATE "
    + "KEY-----\n"
    + "MIIEpAIBAAKCAQEA7v2x\nq9Zk3jW9qLx0PbT7vN2m\n"
    + "-----END RSA PRIVATE "
    + "KEY-----"
)
PGP = (
    "-----BEGIN PGP PRIVATE " + "KEY BLOCK-----\nVersion: GnuPG v2\nComment: none\n\nlQOYBF9Zk3jW9qLx0PbT7vN2\n=aB3d\n"
    "-----END PGP PRIVATE " + "KEY BLOCK-----"
)  # fmt: skip
LET_PASS = {
    "aws": ('{"SecretAccessKey": "{}"}', "wJalrXUtnFEMIK7MDENGbPxRfiCYzzKEY7x1", "{}"),
    "pgp with headers": ("{}", PGP, "{}"),
    "escaped json": (r"{\"password\":\"{}\"}", "Tr0ub4dor&3", "{}"),
    "after an escaped line end": (r'{"log": "one\n{}\ntwo"}', OPENAI, "{}"),
    "environment": ("PGPASSWORD={} psql -h db", "swordfishy", "{}"),
    "mysql": ("mysql -uroot -p{} shop", "S3cretpw", "{}"),
    "slash in an address": ("postgres://u:{}@h", "p@ss/x", "{}"),
    "telegram address": ("https://api.telegram.org/bot{}/getMe", BOT, "{}"),
    "set to": ("密碼設為 {}", "Xk29fjwq", "{}"),
    "camel case": ('clientSecret: "{}"', "8sd7f6sd8f7s6df8s7d6f", "{}"),
    "bold": ("**Password:** {}", "hunter2x", "{}"),
    "tag": ("<password>{}</password>", "swordfish", "{}"),
    "basic": ("Authorization: Basic {}", "YWRtaW46cGFzc3dvcmQ", "{}"),
    "zero width": ("{}", OPENAI, "\u200b"),
    "soft hyphens": ("token: {}", "8sd7f6sd8f7s6df8s7d6f", "\u00ad"),
    "line end": ("{}", OPENAI, "\n"),
    "continued line": ("{}", OPENAI, "\\\n  "),
    "no-break spaces": ("card {}", "4111\u00a01111\u00a01111\u00a01111", "{}"),
    "dots": ("card {}", "4111.1111.1111.1111", "{}"),
    "lower case, Taiwan": ("我的身分證 {}", "a123456789", "{}"),
    "lower case, China": ("{}", "11010519491231002x", "{}"),
    "full width": ("身分證字號：{}", "Ａ１２３４５６７８９", "{}"),
    "pem in quotes": ("> " + "{}".replace("\n", "\n> "), PEM.replace("\n", "\n> "), "{}"),
    "pem in a diff": ("+{}", PEM.replace("\n", "\n+"), "{}"),
    "pem in json": ('{"private_key": "{}"}', PEM.replace("\n", "\\n"), "{}"),
    "table": ("| user | password |\n|---|---|\n| bob | {} |", "lemon-planet-77z5", "{}"),
    "kubernetes": ("- name: DB_PASSWORD\n  value: {}", "lemon-planet-77z5", "{}"),
    "html": ("<tr><td>Password</td><td>{}</td></tr>", "lemon-planet-77z5", "{}"),
    "after the value": ("please use {} as the password", "lemon-planet-77z5", "{}"),
}


@pytest.mark.parametrize("name", LET_PASS)
def test_a_secret_is_found_however_it_is_written(name: str) -> None:
    frame, secret, cut = LET_PASS[name]
    if cut != "{}":
        secret = secret[:14] + cut + secret[14:]
    left = redact(frame.replace("{}", secret)).text
    assert not any(secret[at : at + 6] in left for at in range(len(secret) - 5)), left
    assert "[redacted: " in left


def test_what_is_replaced_is_the_span_as_it_was_written() -> None:
    text = f"前\u200b言「{OPENAI[:20]}\u200b{OPENAI[20:]}」\u200b後，&quot;ok&quot;"
    assert redact(text).text == "前\u200b言「[redacted: api-key]」\u200b後，&quot;ok&quot;"


@pytest.mark.parametrize(
    "text",
    [
        'let password = rpassword::prompt_password("Password: ")?;',
        "password: (leave blank to keep the current one)",
        "OPENAI_API_KEY=your-api-key-here",
        "PASSWORD=$(openssl rand -base64 24)",
        'if data.startswith("-----BEGIN PRIVATE KEY-----"):',
        "Your order number is 4539 1488 0343 6467",
        "max_tokens: 4096",
        "key: build-2026-03-04",
        "WireGuard PublicKey = xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=",
        "https://unpkg.com:443/react@18.2.0/index.js",
        "Authorization: Bearer <token>",
        "密碼：至少 8 碼",
        "```\nfirst line abc123\nsecond line def456\n```",
    ],
)
def test_code_placeholders_and_talk_of_passwords_stay(text: str) -> None:
    assert redact(text).text == text


RANDOM = "aB3dE6gH9jK2mN5pQ8sT1vW4xZ7c" + "F0hJ3lM6"


@pytest.mark.parametrize(
    "key",
    [
        *("gh" + "p_" + RANDOM, "gl" + "pat-" + RANDOM[:20], "sk" + "_live_" + RANDOM[:24], "np" + "m_" + RANDOM),
        *(
            "h" + "f_" + "".join(c for c in RANDOM * 2 if c.isalpha())[:34],
            "gs" + "k_" + RANDOM,
            "xox" + "b-12-34-" + RANDOM,
        ),
        "do" + "p_v1_" + "0a1b2c3d4e5f6789" * 4,
    ],
)
@pytest.mark.parametrize("word", ["ci-", "my_", "old"])
def test_a_key_glued_to_a_word_is_replaced(key: str, word: str) -> None:
    assert redact(f"use {word}{key}, not prod").text.startswith(f"use {word}[redacted: ")
    assert key not in redact(f"x-{key}-y").text


@pytest.mark.parametrize(
    "name",
    [
        "store_d41d8cd98f00b204e9800998ecf8427e",
        "cache-key-d41d8cd98f00b204e9800998ecf8427e",
        "conf_re_d41d8cd98f00b204e9800998ecf8427e",
        "task-550e8400-e29b-41d4-a716-446655440000",
        "task-01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "core_someLongVariableName2WithMore",
        "my-sk-learn-pipeline-version-2x-with-more",
        "clip_vit_large_patch14_336px_model_x",
        "sherpa_onnx_sha256sum_check_x86b",
    ],
)
def test_a_name_that_ends_like_a_prefix_before_a_hash_or_a_name_stays(name: str) -> None:
    assert redact(f"see {name} there").text == f"see {name} there"


FILES_OF_ORDINARY_TEXTS = """
import sys
from pathlib import Path

called = set()
sys.setprofile(lambda frame, event, _: (
    event == "call" and frame.f_code.co_flags & 1 and frame.f_code.co_name[0] != "<" and called.add(frame.f_code)
))
from vault_memory.core.privacy import redact

for text in ("以後後端都用 Go，請教我", "my typing test is passing, see https://example.org/a/2024", "- 主題：dark\\n"):
    assert not redact(text).counts
sys.setprofile(None)
print(*sorted({Path(code.co_filename).stem for code in called if Path(code.co_filename).parent.name == "privacy"}))
"""


def test_an_ordinary_text_runs_the_engine_only() -> None:
    """The tables and views are data: no function runs at import, nor for a text without disguise or candidate."""
    command = [sys.executable, "-c", FILES_OF_ORDINARY_TEXTS]
    result = subprocess.run(command, capture_output=True, check=True, text=True, timeout=60)
    assert result.stdout.split() == ["secrets"]


REPEATED = [
    *("hello ", "a1b2", "1234567890", "我喜歡暗色主題，", "sk-", "password ", "eyJ", "eyJaaaaaaaaaaaa.", "1234 "),
    *("://a:", "-----BEGIN PRIVATE KEY-----", "A1", "密碼是", "M", "4242 ", "token=", "key ", "2fa a2a2 "),
    *("密碼：【a)", "%41", "\u200b", "a1\n"),
]


@pytest.mark.slow
@pytest.mark.parametrize("piece", REPEATED)
def test_a_text_is_redacted_in_linear_time(piece: str) -> None:
    """`benchmarks/parsers.py` goes on to 4 MB, the largest text that is searched."""
    assert_in_proportion(lambda size: redact(repeated(piece, size)), 200_000)


@pytest.mark.slow
def test_secrets_that_uncover_others_do_not_have_the_whole_text_searched_again() -> None:
    """Sixteen keys in a row made sixteen searches of all the names behind them: 9 s of CPU for this text."""
    key, names = "dapi" + "0123456789abcdef" * 2, "密码api 密码key`\\n_val1ue‹(密码你s：key"
    assert_in_proportion(lambda size: redact(key * (size // 6_000) + " " + repeated(names, size)), 100_000)
