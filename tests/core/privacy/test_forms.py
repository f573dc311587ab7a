"""Forms in which people and programs write secrets, and questions that are answered with one."""

from __future__ import annotations

import pytest

from vault_memory.core.privacy import redact
from vault_memory.services.redactor import Redactor

WORDS = "ladder canvas index donkey fabric walnut napkin cherry saddle tackle ocean zebra"


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        ('<Key>Password</Key>\n\t<Value ProtectInMemory="True">KpXml99zz</Value>', ("KpXml99zz",)),
        (
            "<property>\n  <name>javax.jdo.option.ConnectionPassword</name>\n  <value>Tr0ub4dor3x</value>\n</property>",
            ("Tr0ub4dor3x",),
        ),
        ("POSTGRES_PASSWORD='Blue horse runs far 9'", ("horse runs",)),
        ('{"wifi_password": "purple rain 1984"}', ("purple rain",)),
        ("    Key Content            : NetshQw7zz9", ("NetshQw7zz9",)),
        ("    金鑰內容               : NetshQw7zz9", ("NetshQw7zz9",)),
        ("    关键内容            : NetshQw7zz9", ("NetshQw7zz9",)),
        ("Security key: NetshQw7zz9", ("NetshQw7zz9",)),
        ("I changed the wifi password from OldQw7zzkk9 to NewUu8rose9", ("OldQw7zzkk9", "NewUu8rose9")),
        ("密碼從 OldQw7zzkk9 改成 NewUu8rose9", ("OldQw7zzkk9", "NewUu8rose9")),
        ("Changed the root password from Qw7zzkk9 to Uu8rose9.", ("Qw7zzkk9", "Uu8rose9")),
        ("old password was Qw7zzkk9, new one is Uu8rose9", ("Uu8rose9",)),
        ("password set to Qw7zzkk9", ("Qw7zzkk9",)),
        ("password updated to Qw7zzkk9", ("Qw7zzkk9",)),
        ("set my password as Qw7zzkk9", ("Qw7zzkk9",)),
        ("Password for the NAS (admin account): Tr0ub4dor&3x", ("Tr0ub4dor&3x",)),
        ('DB_DSN="alice:Qw7zzkk9@tcp(127.0.0.1:3306)/app"', ("Qw7zzkk9",)),
        ("BASIC_AUTH=alice:Qw7zzkk9", ("Qw7zzkk9",)),
        ("passwords: [Qw7zzkk9, Uu8rose9]", ("Qw7zzkk9", "Uu8rose9")),
        ("QQ邮箱授权码 QXVZWKJHBNRTLPFD", ("QXVZWK",)),
        ("SMTP授权码: qxvzwkjhbnrtlpfd", ("qxvzwk",)),
        ("App password qxvz-wkjh-bnrt-lpfd", ("wkjh",)),
        ("wifi: mydog2024", ("mydog2024",)),
        ("WPA2: mydog2024", ("mydog2024",)),
        (
            "助記詞：\n" + "\n".join(f"{n} {w}" for n, w in enumerate(WORDS.split(), 1)),
            ("zebra",),
        ),
        ("wifi password? Qw7zzkk9", ("Qw7zzkk9",)),
        ("Q: wifi password?\nA: Qw7zzkk9", ("Qw7zzkk9",)),
        ("wifi密碼多少？Qw7zzkk9", ("Qw7zzkk9",)),
        ("[10:02] Bob: what's the wifi password\n[10:03] Alice: Qw7zzkk9", ("Qw7zzkk9",)),
        ("ConvertTo-SecureString 'Qw7zzkk9' -AsPlainText -Force", ("Qw7zzkk9",)),
        ('WiFi.begin("MyHome", "Qw7zzkk9");', ("Qw7zzkk9",)),
        ("卡密：Qw7zzkk9", ("Qw7zzkk9",)),
        ("http -a alice:Qw7zzkk9 example.org", ("Qw7zzkk9",)),
        ("lftp -u alice,Qw7zzkk9 ftp.example.org", ("Qw7zzkk9",)),
        ("xfreerdp /u:alice /p:Qw7zzkk9 /v:host", ("Qw7zzkk9",)),
        ("wpa_passphrase MyHome Qw7zzkk9", ("Qw7zzkk9",)),
        ("rabbitmqctl add_user alice Qw7zzkk9", ("Qw7zzkk9",)),
        ("kubectl create secret generic x --from-literal=password=Qw7zzkk9", ("Qw7zzkk9",)),
        ("gh secret set NAME --body 'Qw7zzkk9'", ("Qw7zzkk9",)),
        ("CREATE LOGIN a WITH PASSWORD = N'Qw7zzkk9'", ("Qw7zzkk9",)),
        ("WIFI:T:WPA;S:x;P:Qw7\\;zzkk9;;", ("zzkk9",)),
        (
            "seed phrase: " + "abandon " * 11 + "about",
            ("abandon abandon",),
        ),
        (
            "https://calendar.google.com/calendar/ical/a%40gmail.com/private-0f1e2d3c4b5a69788796a5b4c3d2e1f0/basic.ics",
            ("0f1e2d3c4b",),
        ),
    ],
)
def test_a_secret_is_found_in_this_form(text: str, secrets: tuple[str, ...]) -> None:
    shown = redact(text).text
    assert not [secret for secret in secrets if secret in shown]


@pytest.mark.parametrize(
    "text",
    [
        "We changed the password hashing from md5 to sha256",
        "the password policy went from version1 to version2",
        "password set to expire",
        "use the password as input",
        "store passwords as bcrypt2 hashes",
        "passwords: [user1, user2]",
        "http://example.org/x -a host:8080",
        "'password': 'error code 404'",
        "password: 'at least 8'",
        "wifi: wlan0",
        "wifi: bcm43455",
        "Forgot password? Click here",
        "app password managementtools",
        "App password for the mailbox",
        "BASIC_AUTH=user:password",
        "<name>password</name>\n<value>string</value>",
        "Security key           : Present",
    ],
)
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ("what is my wifi password again?", "It is Qw7zzkk9."),
        ("我的 wifi 密碼是什麼？", "是 Qw7zzkk9"),
        ("generate a password for me", "Sure: `Qw7zzkk9`"),
    ],
)
def test_the_reply_to_a_question_for_a_password_holds_one(message: str, reply: str) -> None:
    redactor = Redactor()
    assert redactor(message) == message
    assert "Qw7zzkk9" not in redactor(reply) and redactor.counts["password"] == 1


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ("How do I hash a password?", "Use argon2id2 for it"),
        ("which column holds the password?", "users.password2"),
        ("Is this word known to you?", "Qw7zzkk9"),
    ],
)
def test_the_reply_to_another_question_stays(message: str, reply: str) -> None:
    redactor = Redactor()
    assert (redactor(message), redactor(reply)) == (message, reply)


@pytest.mark.parametrize(
    "text", ["パスワードは sakura1234 です", "WiFiのパスワードは「sakura1234」です", "비밀번호는 hello9876 입니다"]
)
def test_a_particle_may_stand_behind_the_word(text: str) -> None:
    assert redact(text).counts == {"password": 1}
