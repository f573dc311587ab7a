"""Secrets that a name announces in other ways than «name: value», and ordinary texts that look like them."""

from __future__ import annotations

import pytest

from vault_memory.core.privacy import redact

WORDS = [
    *("ladder", "canvas", "index", "donkey", "fabric", "walnut"),
    *("napkin", "cherry", "saddle", "tackle", "ocean", "zebra"),
]
NUMBERED = "\n".join(f"{number}. {word}" for number, word in enumerate(WORDS, 1))
SECRETS = [
    ("默认密码Adm1n@2024", ("Adm1n@2024",)),
    ("後台預設密碼qW8#kk21，登入後請改", ("qW8#kk21",)),
    ("初始口令Tb77xxq9z", ("Tb77xxq9z",)),
    ("我的密码改成了Maple9x!", ("Maple9x!",)),
    ("密碼換成了 tiger88Q", ("tiger88Q",)),
    ("wifi密码改了，现在是 Sunny#4412", ("Sunny#4412",)),
    ("登入密碼已經更新為Kite_5512", ("Kite_5512",)),
    ("帳密是 admin / Xk29fj#q", ("Xk29fj#q",)),
    ("帳密：root / lemon77Tree", ("lemon77Tree",)),
    ("账号密码是 admin/Qw3rty!9", ("Qw3rty!9",)),
    ("creds: admin:Sup3rS3cret", ("Sup3rS3cret",)),
    ("login: bob / Maple!92x", ("Maple!92x",)),
    ("username/password: svc / Tr4in$et", ("Tr4in$et",)),
    ("帐密 ops：Zx9!ppq2", ("Zx9!ppq2",)),
    ("passcode is 0916", ("0916",)),
    ("the door passcode: 4471", ("4471",)),
    ("支付密码 112233", ("112233",)),
    ("锁屏密码是 8842", ("8842",)),
    ("pswd: hunter22", ("hunter22",)),
    ("mima: qwe998xx", ("qwe998xx",)),
    ("提取码：a1b2", ("a1b2",)),
    ("链接在这，提取码 x9k2", ("x9k2",)),
    ("提取碼: pfzq", ("pfzq",)),
    ("解压码是 8c7d2", ("8c7d2",)),
    ("Password\nhunter22x", ("hunter22x",)),
    ("## Password\n\nTr0ub4dor\n", ("Tr0ub4dor",)),
    ("password:\n\n    s3cr3tPw9\n", ("s3cr3tPw9",)),
    ("Wifi password:\n\n```\nq9w8e7r6t5x\n```\n", ("q9w8e7r6t5x",)),
    ("### 密碼\n\n```text\nMaple#2291\n```", ("Maple#2291",)),
    ("後台密碼如下\n\nKite7712x\n", ("Kite7712x",)),
    ("user,password\nbob,hunter22\namy,lemon77tree\n", ("hunter22", "lemon77tree")),
    ("id;login;password;mail\n1;bob;Qq7!xx91;b@x.org\n", ("Qq7!xx91",)),
    ("name\tpwd\nbob\tTr4in$et\n", ("Tr4in$et",)),
    ('"email","password"\n"a@x.org","Zx9!ppq2"\n', ("Zx9!ppq2",)),
    ("WIFI:T:WPA;S:home;P:secretnet9;;", ("secretnet9",)),
    ("WIFI:S:My Home;T:WPA2;P:maple river;H:true;;", ("maple river",)),
    ("keytool -list -keystore a.jks -storepass changeit9", ("changeit9",)),
    ("keytool -genkey -keypass 'opensesame' -storepass opensezame", ("opensesame", "opensezame")),
    ("requirepass foobared", ("foobared",)),
    ("masterauth Xk29fjq", ("Xk29fjq",)),
    ("Cookie: sessionid=8sd7f6sd8f7s6df8s7d6f; theme=dark", ("8sd7f6sd8f7s6df8s7d6f",)),
    ("Set-Cookie: laravel_session=eyJpdiI6Ijk4N2FzZGY5ODc2; Path=/; HttpOnly", ("eyJpdiI6Ijk4N2FzZGY5ODc2",)),
    ("curl -H 'Cookie: sid=s%3A9Xk2lq0PbT7vN2mRcY5d.abc; lang=en' https://x.org", ("s%3A9Xk2lq0PbT7vN2mRcY5d.abc",)),
    ("cookie: auth_token=0f9e8d7c6b5a49382716; _ga=GA1.2.1234567890.1612345678", ("0f9e8d7c6b5a49382716",)),
    (
        "seed phrase: abandon ability able about above absent absorb abstract absurd abuse access accident",
        ("abandon ability able about above absent absorb abstract absurd abuse access accident",),
    ),
    (
        "我的助記詞是 legal winner thank year wave sausage worth useful legal winner thank yellow",
        ("legal winner thank year wave sausage worth useful legal winner thank yellow",),
    ),
    (f"Mnemonic:\n{NUMBERED}\n", ("ladder\n2.", "canvas", "ocean\n12. zebra")),
    ("creds are deploy:Hx81!kkq", ("Hx81!kkq",)),
    ("pin für die Tür? the passcode was 55281", ("55281",)),
    ("passwrd = Zx9!ppq2", ("Zx9!ppq2",)),
    ("my wifi mima：Kite77x", ("Kite77x",)),
    ("bindpw Ldap#Pw7", ("Ldap#Pw7",)),
    ("WIFI:P:q1w2e3r4;T:WPA;S:cafe;;", ("q1w2e3r4",)),
    # a value that holds a placeholder's word and more is none
    ("password: Tr0ub4dor-example9", ("Tr0ub4dor-example9",)),
    ("password: s3cr3tExampleHost!", ("s3cr3tExampleHost!",)),
    ('DB_PASSWORD="fake77Xq!here"', ("fake77Xq!here",)),
    ("password = todo9Kx#22", ("todo9Kx#22",)),
    ("pw: Atm0sphere", ("Atm0sphere",)),
    ("postgres://app:myK1te_77x@db.internal/shop", ("myK1te_77x",)),
    ('api_key = "a8f7d6e5c4b3example91"', ("a8f7d6e5c4b3example91",)),
]
WALLET_KEYS = [
    "xp"
    + "rv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi",
    "5" + "HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ",
    "L" + "1aW4aubDFB7yfras2S1mN3bqg9nwySY8nkoLmJebSLD5BWv3ENZ",
]
ORDINARY = [
    "password: example",
    "password: example123",
    "password = 'my-example-password'",
    "api_key = 'your-api-key-123'",
    "API_KEY=replace-me-with-your-key",
    "token: fake-token-0000",
    "secret_key: dummy_key_1",
    "password: changeme1",
    "api_key: example-key-abc123",
    "postgres://app:your_password@localhost/shop",
    "postgres://app:mypassword@localhost/shop",
    "field,password_policy\nlength,min12chars\n",
    "id;login;team\n1;bob_1985;blue\n",
    "name,key,type\nbob,primary1,int\n",
    "range 100-20-3000",
    "寬 100-20-3000 公釐",
    "next token: identifier42",
    "expected token: keyword1, got identifier12",
    "docker run -p3306:3306 mysql",
    "docker run --name mysql -p3306:3306 mysql:8",
    "mysql -P 3306 -h db",
    "mongo -p 27017",
    "mysql -p3306",
    "密码错误，原因是 E1234",
    "忘记密码2次",
    "密码8位以上",
    "密碼至少要8碼",
    "默认密码请看文档v2",
    "密码bcrypt2",
    "我的密码改成了什么",
    "密碼改了，現在要重新登入",
    "密码强度是 80分",
    "提取码错误",
    "提取码：4位",
    "提取码是随机的",
    "帐密管理",
    "帳密是誰設的 / 怎麼改",
    "creds: see the wiki",
    "credentials: include, mode: cors",
    "login: admin/settings",
    "login: 10:30/11:00",
    "login: src/auth/login2.ts",
    "passcode is 4 digits",
    "passcode is required",
    "支付密码 6位数字",
    "Password\n\nEnter your password below.",
    "Password\nConfirm password\nSave",
    "## Token\n\nThe token is made by v2.\n",
    "password:\n  description: at least 8 chars",
    "user,role\nbob,admin1\n",
    "name, password, email\nare required fields, see v2, ok\n",
    "password, salt, rounds\nhash2, b, c",
    "WIFI:T:WPA;S:x;P:;;",
    "-storepass is an option",
    "requirepass is the directive in redis.conf",
    "Cookie: theme=dark; lang=en",
    "Set-Cookie: consent=2024-01-30T10:11:12Z; Path=/",
    "accept the cookie, token=abc",
    "seed phrase words are twelve words from a list and you should write them down on paper at home",
    "助记词是什么？有 12 个单词",
    "a mnemonic for the order of planets: my very educated mother just served us nine pizzas today",
    "a mnemonic: my very excellent mother just served the best nachos while singing outside with great passion",
    "xprv is the prefix",
    "K8s and L1 cache",
    "sha384-oqVuAf",
    "pass: 1234 tests, 2 failed",
    "pw: 8",
    "login, logout1, refresh2",
    "token\nself.x1",
    "mima is a name",
    "帐号密码 2 组",
    "支付密码 是什么",
    "登录密码、支付密码和验证码",
    "the passcode for the room: ask Bob",
]


@pytest.mark.parametrize(("text", "secrets"), SECRETS)
def test_an_announced_secret_is_replaced(text: str, secrets: tuple[str, ...]) -> None:
    left = redact(text).text
    for secret in secrets:
        size = min(6, len(secret))
        assert not any(secret[at : at + size] in left for at in range(len(secret) - size + 1)), left


@pytest.mark.parametrize("key", WALLET_KEYS)
@pytest.mark.parametrize("frame", ["{}", "wallet {} (cold)", "錢包：{}。"])
def test_the_key_of_a_wallet_is_replaced(key: str, frame: str) -> None:
    assert redact(frame.format(key)).text == frame.format("[redacted: private-key]")


@pytest.mark.parametrize("text", ORDINARY)
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert redact(text).text == text
