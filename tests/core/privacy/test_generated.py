"""Passwords that a program made, and code that stands in their place."""

from __future__ import annotations

import random
import string
from pathlib import PurePosixPath

import pytest

from vault_memory.core.privacy import redact, secrets_added

ALNUM = string.ascii_letters + string.digits
ALPHABETS = {
    "all that is printed": ALNUM + string.punctuation,
    "signs without quotes": ALNUM + "!#$%&()*+,-./:;=?@[]^_{|}~",
    "signs of keyboards": ALNUM + "!@#$%^&*()-_=+",
    "brackets": ALNUM + "()[]{}",
    "eight signs": ALNUM + "!@#$%^&*",
    "dots": ALNUM + "!@-_.*",
}
COUNT = 400


@pytest.mark.parametrize("form", ["password: {}", "密碼：{}", "DB_PASSWORD={}", '{{"password": "{}"}}'])
@pytest.mark.parametrize("length", [12, 20])
@pytest.mark.parametrize("alphabet", ALPHABETS)
def test_passwords_of_any_alphabet_are_found(alphabet: str, length: int, form: str) -> None:
    """Of those with brackets, dots or operators up to a third was taken for code."""
    maker = random.Random(20261126)
    made = ["".join(maker.choice(ALPHABETS[alphabet]) for _ in range(length)) for _ in range(COUNT)]
    if '"' in form:
        made = [password.translate({ord('"'): "q", ord("\\"): "w"}) for password in made]
    assert sum(redact(form.format(password)).counts == {} for password in made) <= 0.01 * COUNT


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('{"apiKey":"Qx7Km.R2vTzLp9Wn"}', "Qx7Km.R2vTzLp9Wn"),
        ("password: xK9(mQ2!vL7pTz", "xK9(mQ2!vL7pTz"),
        ("password: Tiger[2024]!", "Tiger[2024]!"),
        ("password: Tiger(2024)", "Tiger(2024)"),
        ("wifi password: tiger_2024(guest)", "tiger_2024"),
        ("password: aB9$kQ<x2&vL|7'p\"Z", "aB9$kQ<x2&vL|7'p\"Z"),
        ("DB_PASSWORD=pencil.ocean20", "pencil.ocean20"),
        ('"password": "candle.river4821"', "candle.river4821"),
        ("deploy with password: pencil.ocean20 please", "pencil.ocean20"),
        ("db:\n  password: pencil.ocean20\n", "pencil.ocean20"),
    ],
)
def test_signs_of_code_in_a_password_hide_nothing_of_it(text: str, secret: str) -> None:
    assert secret[:-1] not in redact(text).text and secret[4:] not in redact(text).text


@pytest.mark.parametrize("name", ["密碼", "密码", "WiFi 密碼", "口令", "Password", "pw"])
@pytest.mark.parametrize("value", ["Sunny0912", "abc123456", "Tiger-2024", "my_pass99", "190284"])
@pytest.mark.parametrize("note", ["（公司）", "（注意大小寫）", "(大小写)", "【舊】"])
def test_a_remark_in_brackets_right_behind_a_value_does_not_hide_it(name: str, value: str, note: str) -> None:
    assert redact(f"{name}：{value}{note}").text == f"{name}：[redacted: password]{note}"


@pytest.mark.parametrize(
    "text", ["wifi password: Sunny0912(guest)", "token：a8f3k2m9q7x1（测试环境）", "PIN: 7731(front)"]
)
def test_a_remark_may_be_of_half_width(text: str) -> None:
    assert redact(text).counts


@pytest.mark.parametrize(
    "line",
    [
        "password = config.password",
        "password: this.state.password2,",
        "password = self.db2.pass",
        'password = os.environ["DB_PASSWORD"]',
        "password = hashlib.sha256(raw.encode()).hexdigest()",
        "password: bcrypt.hash(user.password, 10),",
        "password: z.string().min(8).max(64),",
        "password: Joi.string().required(),",
        "password = models.CharField(max_length=128)",
        "password: Option<String>,",
        'password = "".join(random.choices(string.ascii_letters, k=12))',
        "password = secrets.token_urlsafe(16)",
        "password = ''.join(secrets.choice(chars) for _ in range(n))",
        "password = row[2]",
        "password = db2.get(key3)",
        "password = sha1($salt.$pw);",
        "my $pwd = CPAN::anycwd();",
        "password: ${{ secrets.DB_PASSWORD }}",
        "password: {{ vault_db_password }}",
        r'password_regex = r"^[A-Za-z0-9@#$%^&+=]{8,}$"',
        r"PASSWORD_PATTERN=^(?=.*[0-9])(?=.*[a-z])(?=.*[A-Z]).{8,}$",
        "secret = base64.b64encode(os.urandom(32))",
        "secret: crypto.createHash('sha256').update(x).digest('hex')",
        "password: arr.map(x=>x*2)",
        "password: Math.random().toString(36).slice(-8)",
        "password: f\"{user}:{pw}\"",
        "password: 'auth.form.password2',",
        "password VARCHAR(60) NOT NULL",
        "PASSWORD_HASHERS = [\"django.contrib.auth.hashers.Argon2PasswordHasher\"]",
    ],
)  # fmt: skip
def test_code_stays(line: str) -> None:
    assert redact(line).text == line


@pytest.mark.parametrize(
    ("name", "is_found"),
    [("a.md", True), ("app.env", True), ("a.yaml", True), ("app.py", False), ("web/app.TSX", False)],
)
def test_in_a_program_words_with_a_dot_are_an_attribute(name: str, is_found: bool) -> None:
    text = b"password = pencil.ocean20\n"
    assert bool(secrets_added(PurePosixPath(name), [None], text)) == is_found
    assert secrets_added(PurePosixPath(name), [None], text.replace(b"pencil.ocean20", b'"pencil.ocean20"'))
