"""Settings and options whose names have a word for a secret anywhere, and what a command line or file sends."""

from __future__ import annotations

import pytest

from vault_memory.core.privacy import redact

HEX = "9be3d1f07a5c4426b1d8e0937fa2c65d"
ODD = "Quartz57!nBvTe"
MIXED = "h3Vt8RqZ2mXp6KdW0sLy"


@pytest.mark.parametrize("value", [HEX, ODD, MIXED])
@pytest.mark.parametrize(
    "setting",
    [
        "SECRET_KEY_OLD_BASE=§",
        "secret_key_main: §",
        "export SESSION_SECRET_BLUE=§",
        "DB_PASSWORD_REPLICA=§",
        "passwordReplica: §",
        "apiKeySandbox: '§'",
        "TOKEN_GITLAB=§",
        "ANTHROPIC_KEY_3=§",
        "CIPHER_KEY=§",
        "SCHED__CORE__CIPHER_KEY=§",
        "mail.password.sealed=§",
        "QUEUE_AUTH=§",
        "auth=§",
        "SQLPASS=§",
        "FTPPASS=§",
        "EMAIL_HOST_PASSWORD_EU=§",
        "password <- '§'",
        "password ⇒ §",
        "password ............ §",
        "password: !!str §",
        "tool --service-token §",
        "tool --admin-api-key §",
        "ENV DEPLOY_TOKEN §",
        "aws configure set aws_session_token §",
        "ADMINPASS §",
        "Bearer §",
        "The password?\n§",
        "session secret §",
    ],
)
def test_a_setting_is_known_by_any_part_of_its_name(setting: str, value: str) -> None:
    text = setting.replace("§", value)
    assert value not in redact(text).text, text


@pytest.mark.parametrize("value", ["Badger_kQopw", "lampUxQRTE"])
@pytest.mark.parametrize(
    "line",
    [
        "machine git.example.org login ana password §",
        "machine git.example.org\n  login ana\n  password §\n",
        "login ana password §",
        "MYSQL_PWD=§ mysql shop",
        "DBPASSWORD=§",
        "jdbc:mariadb://db:3306/shop?user=ana&password=§&ssl=true",
        "gpg --batch --passphrase § -d box.gpg",
        "restic --password '§' backup",
        "password=§\n",
    ],
)
def test_a_command_line_holds_no_prose(line: str, value: str) -> None:
    text = line.replace("§", value)
    assert value not in redact(text).text, text


@pytest.mark.parametrize(
    "text",
    [
        f"CACHE_KEY_BASE={HEX}",
        f"token_hash = '{HEX}'",
        f"primary_key_2={HEX}",
        "PASSWORD_MIN_LENGTH=12",
        "PASSWORD_FILE_DB=/run/secrets/db",
        "password_hint_text: 'blue2horses'",
        "SECRET_NAME_PROD=projects/7/db2",
        "TOKEN_TTL_PROD=3600s",
        "max_token_count_v2: 128000",
        "passThroughMode: 'fast2lane'",
        "bypass=route66x",
        "API_KEY_URL=https://keys.example.org/v2",
        "SECRET_KEY_BASE=changeme",
        "SECRET_KEY_BASE=$(openssl rand -hex 64)",
        "SECRET_KEY_BASE=<your key>",
        "DB_PASSWORD_RO=${RO_PASSWORD}",
        "DB_PASSWORD_RO=true",
        "use --password instead of --token",
        "use --api-key TOKEN or --auth-token STRING",
        "cmd --password-file ~/.secret2 --token-type bearer2",
        "PASS tests/test_a.py::test_b2",
        "login name password field",
        "the bearer of news 2019",
        "Bearer authentication2",
        "auth: oauth2",
        "connect(password=user_password, token=apiToken)",
        "row_key = 'chat-room-12'",
        "--starting-token Z3M3LMP2EXAMPL3",
        '"KeyCheckValue": "71D7AE1F22"',
        '"fs-minipass": "^3.0.0"',
        '"S3Key": "550001-DrawingOf-4750034166536c"',
        'KeySpec: "RSA_4096x"',
        "Sec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==",
    ],
)
def test_a_setting_about_a_secret_and_a_value_that_is_none_stay(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("contraseña del portátil es Nube_31x", "Nube_31x"),
        ("la contraseña de la oficina: Pared.441", "Pared.441"),
        ("пароль от роутера: Klen-2231-les", "Klen-2231-les"),
        ("пароль к архиву это Klen2231", "Klen2231"),
        ("senha da conta: Jacare#55", "Jacare#55"),
        ("La password della casella è Vento_82", "Vento_82"),
        ("hasło od sejfu: Kotek_19z", "Kotek_19z"),
        ("modemin şifresi: Ceviz!51", "Ceviz!51"),
        ("das Passwort vom Router ist Ahorn_71x", "Ahorn_71x"),
        ("mot de passe du NAS : Lilas!38", "Lilas!38"),
        ("wachtwoord voor de kluis: Tulp!921", "Tulp!921"),
        ("salasana: Koivu!82", "Koivu!82"),
        ("use  harbor-17-lamp  as the password", "harbor-17-lamp"),
        ("please use Badger_kQopw as the password for the archive", "Badger_kQopw"),
    ],
)
def test_words_may_stand_between_a_name_and_its_value(text: str, value: str) -> None:
    assert value not in redact(text).text


@pytest.mark.parametrize(
    "text",
    [
        "contraseña de 8 caracteres",
        "la contraseña de acceso es obligatoria",
        "Passwort vom Server ist unbekannt",
        "une mot de passe de 12 caractères est requis",
        "use argon2id as the password hash",
        "use sha512crypt as the password algorithm",
        "the password of the day was changed in 2019",
    ],
)
def test_a_sentence_about_passwords_stays(text: str) -> None:
    assert redact(text).text == text
