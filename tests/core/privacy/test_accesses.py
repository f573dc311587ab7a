"""Random letters behind the name of a key, and what only its place shows to be a password: words, short numbers,
words and a number with hyphens."""

from __future__ import annotations

import random
import string

import pytest

from vault_memory.core.privacy import redact

COUNT = 200


@pytest.mark.parametrize(
    "form",
    [
        "API_KEY={}",
        "token = {}",
        'token = "{}"',
        '"apiKey": "{}"',
        "X-Api-Key: {}",
        "Authorization: Bearer {}",
        "金鑰：{}",
        "密钥 {}",
        "kubectl get pods --token={}",
        "ARG TOKEN={}",
    ],
)
@pytest.mark.parametrize("length", [12, 16, 40])
def test_random_letters_are_a_key_behind_the_name_of_one(form: str, length: int) -> None:
    """All passed: a key had to have a digit."""
    maker = random.Random(20261127)
    made = ["".join(maker.choice(string.ascii_letters) for _ in range(length)) for _ in range(COUNT)]
    passed = sum(redact(form.format(key)).counts == {} for key in made)
    assert passed <= (0.06 if length == 12 else 0.02) * COUNT


def test_eight_letters_and_digits_are_a_key_behind_the_name_of_one() -> None:
    maker = random.Random(20261127)
    made = ["".join(maker.choice(string.ascii_letters + string.digits) for _ in range(8)) for _ in range(2 * COUNT)]
    made = [key for key in made if any(char.isdigit() for char in key)]
    assert sum(redact(f'token = "{key}"').counts == {} for key in made) <= 0.1 * len(made)


@pytest.mark.parametrize(
    "text",
    [
        "token = getRefreshToken",
        "api_key: configurationValue",
        "token: XMLHttpRequestFactory",
        "secret key: ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "API_KEY=abcdefghijklmnop",
        "token: GtkCellRenderer",
        "the token authenticates every request",
        "the key internationalization of labels",
        "密钥 management",
        "api_key: v1beta2x",
        "api_key: _AzureApiKeyT | None",
    ],
)
def test_words_and_names_in_code_are_no_key(text: str) -> None:
    assert redact(text).text == text


ACCESSES = [
    "password: §",
    "密碼：§",
    "WiFi 密碼：§",
    "DB_PASSWORD=§",
    "export PGPASSWORD=§",
    '{"password": "§"}',
    '{"host": "db1", "password": "§", "port": 3306}',
    "Username: anna\nPassword: §",
    "Login: anna@example.org\nPassword: §\n\nBye",
    "帳號：anna\n密碼：§",
    "db:\n  host: db1\n  user: anna\n  password: §\n",
    "[client]\nuser = anna\npassword = §\n",
    "Here it is:\n\n- user: anna\n- password: §\n",
    "open(user='anna', password='§')",
]


@pytest.mark.parametrize("value", ["tiger", "root", "admin", "kitty", "Pizza", "1234", "0000", "55555"])
@pytest.mark.parametrize("form", ACCESSES)
def test_a_word_or_a_short_number_is_a_password_in_an_access(form: str, value: str) -> None:
    left = redact(form.replace("§", value)).text
    assert left == form.replace("§", "[redacted: password]")


@pytest.mark.parametrize(
    "text",
    [
        "the password: optional field",
        "Set the password: click on it",
        "password: string",
        "username: string\npassword: string\n",
        "username: str\npassword: str\n",
        '{"username": "required", "password": "required"}',
        '{"username": "Benutzername", "password": "Passwort"}',
        '{"user": "Utilisateur", "password": "Secretum"}',
        "user = None\npassword = None\n",
        "user: User\npassword: Password\n",
        "Username: your name\nPassword: ****",
        "def login(user: str, password: bytes) -> None:",
        "connect(user=name, password=phrase)",
        "ERROR_INVALID_PASSWORD=1216",
        "PASSWORD_MIN_LENGTH=1234",
        "host: {{ db_host }}\nuser: {{ db_user }}\npassword: prompt\n",
        "password: SecretStr",
        "password = typedPhrase",
        "passwd: files\ngroup: files\n",
        "tests\npass: 1234\nfail: 12\n",
        "bus pass: monthly",
        "def __init__(self, login=False, **kwargs):",
    ],
)
def test_schemas_labels_and_prose_hold_no_password(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize("value", ["Tunes-2020", "Frosty-Lake-88", "Tmp-Welcome9", "Summer2024!"])
@pytest.mark.parametrize(
    "form",
    [
        "Password........: §",
        "密碼……：§",
        "密碼────§",
        "Username\nanna\nPassword\n§",
        "my login: anna / §",
        "帳密 anna §",
        "Passwords:\n- §\n- nas: §\n",
        "auth: [anna, §]",
        "auth=('anna','§')",
        "auth=['anna', '§']",
        "login('anna','§')",
        "ARG TOKEN=§",
        "kubectl --token=§",
        "line vty 0 4\n password 7 §",
        "Netflix\nanna@example.com\n§",
        "Netflix\nanna@example.com\n§\n\nSpotify\nanna@example.com\n§\n",
    ],
)
def test_words_and_a_number_with_hyphens_are_a_password(form: str, value: str) -> None:
    assert value not in redact(form.replace("§", value)).text


@pytest.mark.parametrize(
    "text",
    [
        "Anna Smith\nanna@example.com\n+49 30 1234567",
        "Anna Smith\nanna@example.com\nhttps://example.org/a1",
        "Anna Smith\nanna@example.com\nBerlin",
        "password 8 characters or more",
        "auth: [admin, editor]",
        "Passwords:\nsee my-app-v3\n",
    ],
)
def test_signatures_lists_and_versions_stay(text: str) -> None:
    assert redact(text).text == text
