"""Tables of passwords as password managers and spreadsheets write them."""

from __future__ import annotations

import time
from pathlib import PurePosixPath

import pytest

from vault_memory.core.privacy import redact, secrets_added

BITWARDEN = "folder,favorite,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp\n"


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        (
            BITWARDEN + ',,login,A,,,0,https://a.example,alice,sunflower,JBSWY3DPEHPK3PXP\n,,login,B,"first line\n'
            'second, line",,0,https://b.example,alice,Tr0ub4dor3x,\n,,login,C,,,0,,bob,marigold,\n',
            ("sunflower", "JBSWY3DPEHPK3PXP", "Tr0ub4dor3x", "marigold"),
        ),
        (
            "url,username,password,totp,extra,name,grouping,fav\r\n"
            'https://a.example,alice,sunflower,,"NoteType:Server\r\nHost:x",A,"Bank, Inc",0\r\n'
            "https://b.example,bob,marigold,,,B,,0\r\n",
            ("sunflower", "marigold"),
        ),
        (
            "Title,Url,Username,Password,OTPAuth,Favorite,Archived,Tags,Notes\n"
            '"Bank, Inc",https://a.example,alice,sunflower,otpauth://totp/A?secret=JBSWY3DPEHPK3PXP,false,false,,"say '
            '""hi""\n"\nB,,bob,marigold,,false,false,,\n',
            ("sunflower", "marigold", "otpauth://totp/A?secret=JBSWY3DPEHPK3PXP"),
        ),
        (
            '"Group","Title","Username","Password","URL","Notes"\n"Root","A","alice","sun,flower","","a\n\nb"\n'
            '"Root","B","bob","mari""gold","",""\n',
            ("sun,flower", 'mari""gold'),
        ),
    ],
)
def test_a_quoted_cell_holds_line_ends_and_separators(text: str, secrets: tuple[str, ...]) -> None:
    shown = redact(text).text
    assert not [secret for secret in secrets if secret in shown]
    assert "alice" in shown and "bob" in shown


@pytest.mark.parametrize(
    ("head", "row"),
    [
        ("name,password\n", "n{0},Tr0ub4dor{0}\n"),
        ("| name | password |\n|---|---|\n", "| n{0} | Tr0ub4dor{0} |\n"),
        ("INSERT INTO users (name, password) VALUES ", "('n{0}','Tr0ub4dor{0}'),\n"),
    ],
)
def test_a_table_of_any_length_is_read(head: str, row: str) -> None:
    shown = redact(head + "".join(row.format(number) for number in range(1000, 1900))).text
    assert "Tr0ub4dor" not in shown and shown.count("[redacted: password]") == 900


@pytest.mark.parametrize("piece", ['a,"\nx\nuser,password\nb,c"\n', 'user,password\nx,"\n', 'x\nuser,password\na,"'])
def test_the_time_is_linear_whatever_the_quotes(piece: str) -> None:
    """A table in a quoted cell of another would be read once for each of them."""
    times = []
    for count in (500, 4000):
        start = time.process_time()
        redact("user,password\n" + piece * count)
        times.append(time.process_time() - start)
    assert times[1] < 30 * times[0] + 0.5


TABLES = [
    "| site | password |\n|---|---|\n| x | Tiger2024! |\n",
    "| site | password |\n|-|-|\n| x | Tiger2024! |\n",
    "| site | password |\n|:-:|:-:|\n| x | Tiger2024! |\n",
    "site | password\n--- | ---\nx | Tiger2024!\n",
    "| site | password |\n|------+----------|\n| x | Tiger2024! |\n",
    "+---+------------+\n| s | password   |\n+---+------------+\n| x | Tiger2024! |\n+---+------------+\n",
    "| 站 | 帳 | 密 |\n|---|---|---|\n| x | dave | Tiger2024! |\n",
    "| 站 | 帳密 |\n|---|---|\n| x | dave / Tiger2024! |\n",
    "| 站 | 帳號/密碼 |\n|---|---|\n| x | dave / Tiger2024! |\n",
    "site,password\nx,Tiger2024!\n",
    "Password\n\nTiger2024!\n",
    "Passwords:\n- Tiger2024!\n- next\n",
]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r\r\n", "\r"])
@pytest.mark.parametrize("text", TABLES)
def test_lines_may_end_as_on_any_system(text: str, end: str) -> None:
    """A ruler with a carriage return behind it was none, and so were short rulers and those of Org and databases."""
    assert redact(text.replace("\n", end)).text == text.replace("Tiger2024!", "[redacted: password]").replace("\n", end)


def test_line_ends_may_be_escaped() -> None:
    text = r'{"note": "| site | password |\r\n|---|---|\r\n| x | Tiger2024! |\r\n"}'
    assert redact(text).text == text.replace("Tiger2024!", "[redacted: password]")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16-le", "utf-16-be", "utf-16"])
@pytest.mark.parametrize("text", [*TABLES, "密碼：Tiger2024!\n", "家裡 WiFi 密碼是Tiger2024!\n"])
def test_a_text_in_utf_16_is_read_with_its_mark_and_without(text: str, encoding: str) -> None:
    at = text[: text.index("Tiger")].count("\n") + 1
    for written in (text.encode(encoding), b"\xfe\xff" + text.encode("utf-16-be")):
        assert {found.line for found in secrets_added(PurePosixPath("a.csv"), [None], written)} == {at}


def test_only_new_lines_of_a_text_in_utf_16_count() -> None:
    old, new = "site,user\n", "密碼：Tiger2024!\n"
    found = secrets_added(PurePosixPath("a.txt"), [old.encode("utf-16")], (old + new).encode("utf-16"))
    assert {one.line for one in found} == {2}


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("密碼：Tr0ub4dor&3x\n", "big5"),
        ("我的密码是Tr0ub4dor&3x\n", "gbk"),
        ("网站,账号,密码\r\nGmail,alice,sunflower2024\r\n", "gb18030"),
    ],
)
def test_a_text_in_the_encodings_of_chinese_editors_is_read(text: str, encoding: str) -> None:
    line = text.count("\n")
    assert [finding.line for finding in secrets_added(PurePosixPath("a.txt"), [None], text.encode(encoding))] == [line]


@pytest.mark.parametrize("name", [".env", ".env.local", "app/.ENV", "prod.env"])
def test_a_file_of_settings_without_another_name_is_a_text(name: str) -> None:
    assert secrets_added(PurePosixPath(name), [None], "DB_PASSWORD=Tr0ub4dor&3x\n".encode("utf-16"))
