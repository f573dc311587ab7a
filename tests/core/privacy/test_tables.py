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
