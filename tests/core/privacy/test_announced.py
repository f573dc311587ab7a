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
    ('<input value="Kq7v!Rz91pLm" type="password">', ("Kq7v!Rz91pLm",)),
    ("<input value=Kq7vRz91pLm name=db_password>", ("Kq7vRz91pLm",)),
    ('<meta content="Kq7vRz91pLmAbCdE1234" class="a1" name="api-key">', ("Kq7vRz91pLmAbCdE1234",)),
    ('<meta name="api-key" content="Kq7vRz91pLmAbCdE1234">', ("Kq7vRz91pLmAbCdE1234",)),
    ('<input value="password: Kq7v!Rz91pLm">', ("Kq7v!Rz91pLm",)),
    ('<img alt="密碼是 Kq7v!Rz91pLm" src="a.png">', ("Kq7v!Rz91pLm",)),
    ('<div data-note="386157 is your verification code"></div>', ("386157",)),
    ('<a href="https://bob:hunter2@host.example">x</a>', ("hunter2",)),
    ("<div data-password='Kq7v!Rz91pLm' id=x>", ("Kq7v!Rz91pLm",)),
    ("[password](hunter2)", ("hunter2",)),
    ("![my WiFi password](<Kq7v!Rz91pLm>)", ("Kq7v!Rz91pLm",)),
    ('[password](https://nas.example "Kq7v!Rz91pLm")', ("Kq7v!Rz91pLm",)),
    ("[API key](Kq7vRz91pLmAbCdE1234)", ("Kq7vRz91pLmAbCdE1234",)),
    ("默认密码Adm1n@2024", ("Adm1n@2024",)),
    ("- 工具：密碼：、Tiger2024!q", ("Tiger2024!q",)),
    ("- Tools: Docker, password:, Tiger2024!q", ("Tiger2024!q",)),
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
    # a name and its value are two neighbouring strings
    ("define('DB_PASSWORD', 'hunter2x')", ("hunter2x",)),
    ("define( 'DB_PASSWORD', 'swordfish' );", ("swordfish",)),
    ('os.environ.setdefault("DB_PASSWORD", "Tr0ub4dor")', ("Tr0ub4dor",)),
    ('conf.set("db.password","Xk29fj#q")', ("Xk29fj#q",)),
    ('[("user","bob"),("password","maple!77")]', ("maple!77",)),
    ('docker run -e "PASSWORD" "Tr0ub4dor"', ("Tr0ub4dor",)),
    ('headers.set("X-API-Key", "a8f7d6e5c4b3a291f0")', ("a8f7d6e5c4b3a291f0",)),
    # an account and its password are arguments
    ("HTTPBasicAuth('bob', 'hunter22x')", ("hunter22x",)),
    ("requests.get(url, auth=('bob', 'Xk29fj#q'))", ("Xk29fj#q",)),
    ("smtp.login('me@x.com', 'Xk29fj#q')", ("Xk29fj#q",)),
    ("new PDO('mysql:host=localhost;dbname=x', 'root', 'Xk29fjq1')", ("Xk29fjq1",)),
    ('mysqli_connect("localhost", "root", "Xk29fjq1", "shop")', ("Xk29fjq1",)),
    ('DriverManager.getConnection(url, "root", "Tr0ub4dor&3")', ("Tr0ub4dor&3",)),
    ('new NetworkCredential("bob", "Tr0ub4dor&3")', ("Tr0ub4dor&3",)),
    # SQL, XML, JSON, YAML, shell
    ("INSERT INTO users (name, password) VALUES ('bob','hunter2x');", ("hunter2x",)),
    (
        "insert into `users` (`id`, `pwd`) values (1, 'maple!77'), (2, 'Qwe998xx');",
        ("maple!77", "Qwe998xx"),
    ),
    ("<password><![CDATA[hunter2x]]></password>", ("hunter2x",)),
    *(("<!-- password: hunter2x -->", ("hunter2x",)), ("a <!-- 密碼：hunter2x --> b", ("hunter2x",))),
    ('{"name": "DB_PASSWORD", "type": "plain", "value": "hunter2x"}', ("hunter2x",)),
    ('{"key":"DB_PASSWORD","secure":true,"value":"hunter2x"}', ("hunter2x",)),
    ("password: |\n  hunter2x", ("hunter2x",)),
    ("password: >-\n    maple!77\n", ("maple!77",)),
    ("password:\n  - hunter2x", ("hunter2x",)),
    ("passwords:\n  - hunter2x\n  - maple!77\n", ("hunter2x", "maple!77")),
    ('"passwords": ["hunter2x", "maple!77"]', ("hunter2x", "maple!77")),
    ("PGPASSWORD=${DB_PASSWORD:-maple!77}", ("maple!77",)),
    # commands
    ("useradd -m -p 'Maple!77' bob", ("Maple!77",)),
    ("openssl enc -aes-256-cbc -k hunter2x -in a", ("hunter2x",)),
    ("openssl genrsa -passout pass:opensesame 2048", ("opensesame",)),
    ("enable secret Cisco123x", ("Cisco123x",)),
    ("enable password 7 0822455D0A16", ("0822455D0A16",)),
    ("username admin privilege 15 secret 0 Cisco123x", ("Cisco123x",)),
    ("snmp-server community mapletree RW", ("mapletree",)),
    # prose
    ("密碼（Adm1n@2024）", ("Adm1n@2024",)),
    ("密碼【Adm1n@2024】", ("Adm1n@2024",)),
    ("密碼::Adm1n@2024", ("Adm1n@2024",)),
    ("密碼==>Adm1n@2024", ("Adm1n@2024",)),
    ("Adm1n@2024（密碼）", ("Adm1n@2024",)),
    ("Adm1n@2024 (password)", ("Adm1n@2024",)),
    ("the password is as follows: hunter2x", ("hunter2x",)),
    ("我手機密碼 1234", ("1234",)),
    ("行李箱密碼是5566", ("5566",)),
    ("880101 is your verification code", ("880101",)),
    ("G-552031 is your Google verification code.", ("552031",)),
    ("Use 552031 as your login code", ("552031",)),
    ("Your code is 880101", ("880101",)),
    ("【某店】880101（驗證碼）", ("880101",)),
    ("您的校验码为：552031", ("552031",)),
    ("passphrase: correct horse battery staple", ("correct horse battery staple",)),
    ("ssh passphrase: maple-river-cobra-lemon\n", ("maple-river-cobra-lemon",)),
    # keys
    ("X-API-Key: k9x2m4q8", ("k9x2m4q8",)),
    ("SECRET_KEY = 'short-but-quoted9'", ("short-but-quoted9",)),
    ("SECRET_KEY = 'q8w7e6r5t4'", ("q8w7e6r5t4",)),
    ("https://x.example.org/v1?apikey=a8f7d6e5", ("a8f7d6e5",)),
    ("https://x.example.org/v1?a=1&token=q8w7e6r5", ("q8w7e6r5",)),
    ("https://x.example.org/w?q=x&appid=9de243494c0b295cca9337e1e96b00e2", ("9de243494c0b295cca9337e1e96b00e2",)),
    ("https://x.example.org/v1?key=a8f7d6e5c4b3a291f0e1", ("a8f7d6e5c4b3a291f0e1",)),
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
    "Password=;Server=tcp:host1.example.com",
    "{password:, token: abc}",
    "PassThroughUnknownV1 as PassThroughUnknown",
    "[redacted: api-key] f00c2033f0641e2b7c19d8a45f60e1b2c3d4e5f6",
    "api_key: v1beta2x",
    "token: h264x265",
    "API_KEY = os.environ['API_KEY_2']",
    "SECRET_KEY = 'change-this-key1'",
    "secret_name = 'db-credentials2'",
    "TOKEN_TYPE = 'bearer-token-v2'",
    "existingSecret: 'postgres-secret1'",
    "GET /search?key=abc&token=next",
    "https://x.example.org/p?key=12345678901234567890",
    "https://x.example.org/p?key=SomeVeryLongCacheKeyWithoutDigits",
    "/maps?appid=730",
    'token = "a1"',
    "secret: sha256:abc",
    "api_key: 2024q1",
    "session_id: page2of10",
    "key=a1b2c3d4",
    "密碼 123456 太簡單",
    "密碼（至少8碼）",
    "密碼（8-20字元）",
    "密碼(a-z0-9)",
    "密碼【必填】",
    "密碼::hash",
    "密碼==null",
    "密碼=>required",
    "密碼(MD5)",
    "密碼（bcrypt2）",
    "密碼 2024 年改過",
    "密碼錯誤 1045",
    "密碼長度 8-64",
    "密碼 1000 組外洩",
    "密碼 404 種組合",
    "密碼強度（0-100）",
    "請輸入密碼（6位數）",
    "忘記密碼（login2）",
    "修改密碼 12/30 以前",
    "密碼是 4 位數",
    "密碼是8位數字",
    "驗證碼 60 秒後失效",
    "驗證碼已寄出，請於 300 秒內輸入",
    "驗證碼有 6 位",
    "驗證碼錯誤（E1001）",
    "验证码识别率 9876 次",
    "短信验证码接口 8080 端口",
    "行李箱密碼怎麼改",
    "手機密碼忘了",
    "my code is 404",
    "Your code is 200 lines long",
    "Your code is 1200 lines",
    "Your code has 1024 bytes",
    "your code: 500 Internal Server Error",
    "a security code of 3 digits",
    "the verification code expires in 3600 seconds",
    "verification code: 6 digits",
    "access code 1234567890123",
    "the password is as follows: at least 8 characters",
    "as follows: password, token, key",
    "2024 is your chance",
    "error (password)",
    "E1001 (password)",
    "required (password)",
    "Invalid2 [password]",
    "user1 (password)",
    "password1 (password)",
    "str (password)",
    "passphrase: must contain four random words here",
    "passphrase: leave it empty for none",
    "passphrase: words joined by spaces",
    "passphrase: optional",
    "passphrase: string",
    "Enter passphrase:",
    "a passphrase is long and easy",
    "see RFC6749 (password)",
    "grant_type2 (password)",
    "2 (密碼)",
    "第3步（密碼）",
    "步驟2（密碼）",
    "Step2（密碼）",
    "OAuth2（密碼模式）",
    '["password", "email", "phone2"]',
    'form.register("password", "Password must have 8 characters")',
    't("password", "Enter your password")',
    'expect(errors).toEqual(["password", "too short"])',
    '<Field name="password" label="Password (min 8)" />',
    'validates("password", "min:8|max:64")',
    "'password', 'password_confirmation', 'remember2'",
    "$('#password', '#form2')",
    'Schema.table("users", (t) => t.string("password", 255))',
    '("password", "required|string|min:8")',
    "array('password', 'varchar(60)')",
    '{"field": "password", "type": "string", "value": ""}',
    '{"name": "password", "label": "Password", "rules": "min8"}',
    'os.environ.setdefault("DB_PASSWORD", "")',
    'os.getenv("DB_PASSWORD", None)',
    'os.environ.get("API_TOKEN", "")',
    'getenv("PASSWORD", "changeme")',
    'config.get("token", "access_token_v2")',
    '("token", "identifier42")',
    'cursor.execute("INSERT INTO users (name, password) VALUES (?, ?)", row)',
    "INSERT INTO users (name, password) VALUES (%s, %s)",
    "INSERT INTO users (name, password) VALUES (:name, :password)",
    "INSERT INTO users (name, password) VALUES ('bob', NULL)",
    "INSERT INTO posts (id, title) VALUES (1, 'Top10x secrets of sleep')",
    "HTTPBasicAuth(user, password)",
    "auth=('user', 'pass')",
    "requests.get(url, auth=(USER, PASS))",
    'smtp.login(user, os.environ["SMTP_PASS"])',
    'client.login("bob", password)',
    'page.getByRole("button").login("bob", "submit")',
    'socket.connect("message", "handler2")',
    'btn.connect("clicked", "on_button_2")',
    'sqlite3.connect("data.db", "timeout5")',
    'mqtt.connect("broker.local", "1883")',
    'db.connect("localhost", "10.0.0.1:5432")',
    'mysql.connect(host, user, password, "shop2")',
    'authorize("admin", "users:read2")',
    "new PDO($dsn, $user, $pass)",
    'redirect("login", "next=/home2")',
    'Author("Jane", "K2x9")',
    'oauth("github", "repo:read")',
    "password: |\n  must have 8 characters",
    "password: >\n  The password of the user, at least 8 characters.",
    "passwords:\n  min: 8\n  max: 64",
    "passwords:\n  - at least 8 characters\n  - one digit",
    "passwords: 12 found",
    '"passwords": ["required", "min8"]',
    "${DB_PASSWORD:-}",
    "${DB_PASSWORD:-$DEFAULT}",
    "${DB_PASSWORD:-changeme}",
    "${DB_PASSWORD:?must be set}",
    "<password><![CDATA[]]></password>",
    "<description><![CDATA[Version 2.1 of the client]]></description>",
    'useradd -m -p "$HASH" bob',
    "useradd -m -s /bin/bash bob",
    "openssl enc -aes-256-cbc -pass env:PASS -in a -out b",
    "openssl rsa -in key.pem -passin file:pass.txt",
    "openssl dgst -sha256 -keyform PEM file",
    "enable password aging",
    "enable secret rotation for all services",
    "snmp-server community is a command",
    "username is required, password optional",
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


AWS_ID, AWS_SECRET = "AK" + "IAQ7ZX2P4M5N6B7V8C", "wJ4lrXUtnFEMIbK7MD/NGbPxRfiCYqXkP9zL2mNa"


@pytest.mark.parametrize(
    "frame", ["{} / {}", "aws: {}, {} (prod)", "{}\n{}\n", "first {}\nthen {} ok", "{1} is of {0}"]
)
def test_the_secret_beside_an_aws_key_id_is_replaced(frame: str) -> None:
    assert redact(frame.format(AWS_ID, AWS_SECRET)).text == frame.format(*["[redacted: api-key]"] * 2)


@pytest.mark.parametrize("frame", ["{}\n\n{}", "commit 3f0641e2b7c19d8a45f60e1b2c3d4e5f6a7b8c9d {} {}"])
def test_other_text_beside_an_aws_key_id_stays(frame: str) -> None:
    left = redact(frame.format(AWS_ID, "f00c2033f0641e2b7c19d8a45f60e1b2c3d4e5f6")).text
    assert left.count("[redacted") == 1


@pytest.mark.parametrize("key", WALLET_KEYS)
@pytest.mark.parametrize("frame", ["{}", "wallet {} (cold)", "錢包：{}。"])
def test_the_key_of_a_wallet_is_replaced(key: str, frame: str) -> None:
    assert redact(frame.format(key)).text == frame.format("[redacted: private-key]")


@pytest.mark.parametrize("text", ORDINARY)
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert redact(text).text == text


# --- short keys, lists, tables of accounts -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        ("token: hJ8_kL3pQw", ["hJ8_kL3pQw"]),
        ("the client secret is kT7#mQ2x9", ["kT7#mQ2x9"]),
        ("SECRET_KEY=m9Xv2Kq!", ["m9Xv2Kq!"]),
        ("recovery codes:\n- 4kf9-x2mq\n- 8hw3-p6zt", ["4kf9-x2mq", "8hw3-p6zt"]),
        ("## 密碼\n- 路由器 admin8822x\n- NAS：Harbor77q\n", ["admin8822x", "Harbor77q"]),
        ("My passwords:\n1. Gmail - Quartz5510\n2. GitHub - violet_7x9", ["Quartz5510", "violet_7x9"]),
        ("We rented a new server for the shop in May, and its root password:\n\nKx93mvQp", ["Kx93mvQp"]),
        ("| site | login | password |\n|---|---|---|\n| mail | ann | HorseBattery |", ["HorseBattery"]),
        ("here: user,password\nbob,swordfishy\n", ["swordfishy"]),
        ('login("me", "qwfp luyj arst neio")', ["qwfp luyj arst neio"]),
        ("應用程式密碼：hgtr mnbv pwqz lkjd", ["hgtr mnbv pwqz lkjd"]),
        ("my card PIN code is 482910", ["482910"]),
        ("use hunter22 as the pass", ["hunter22"]),
        ("Azure OpenAI key: 9f8e7d6c5b4a39281706f5e4d3c2b1a0", ["9f8e7d6c5b4a39281706f5e4d3c2b1a0"]),
        ("高德的 key 是 9f8e7d6c5b4a39281706f5e4d3c2b1a0", ["9f8e7d6c5b4a39281706f5e4d3c2b1a0"]),
        ("這是我的 key：aB3dE5fG7hI9jK1lM3nO5p", ["aB3dE5fG7hI9jK1lM3nO5p"]),
        ("JWT_SECRET=supersecretjwt", ["supersecretjwt"]),
        ("    SESSION_SECRET: keyboardcat\n", ["keyboardcat"]),
        ("app.secret_key = 'iloveflask'", ["iloveflask"]),
        ("SECRET_KEY=ThisIsMyFlaskKey", ["ThisIsMyFlaskKey"]),
    ],
)
def test_what_a_review_found_to_pass_is_found(text: str, secrets: list[str]) -> None:
    left = redact(text).text
    assert not [secret for secret in secrets if secret in left], left


@pytest.mark.parametrize(
    "text",
    [
        "PIN code for Beijing is 100000",
        "Area PIN: 400076, Powai, Mumbai",
        "git config user.signingkey ABCD1234EF567890",
        "密碼管理：1Password",
        "密碼強度：Level3",
        "# Passwords\n- turn on 2FA\n- 12 characters or more\n- store them in KeePass2",
        "passwords\nare kept in Vault2 since 2024\nnothing else here",
        "| Setting | Password |\n|---|---|\n| maximum | unlimited |",
        "the token is Sha256Hash",
        "secret: app-1a2b3c",
        'login("me", "dark mode on please")',
        "cache key: 9f8e7d6c5b4a39281706f5e4d3c2b1a0, primary key 5f1e7d6c5b4a39281706f5e4",
        "公鑰 key：MIIBIjANBg; the key id is 9f8e7d6c5b4a39281706f5e4d3c2b1a0",
        "key: 3f2b8c1e-7d4a-4b6e-9c0d-5a1f2e3b4c5d and did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
        "the key is build-2026-03-04-linux-amd64",
        "JWT_SECRET=changeme\nSESSION_SECRET=your-secret\nAPP_SECRET=${APP_SECRET}\nA_SECRET=<secret>",
        "app.secret_key = os.environ['SECRET_KEY']; client_secret = 'clientSecret'",
        "existingSecret: postgrescredentials",
        "I cannot log in on the third server because it does not take my password:\nERROR1045 Access denied",
    ],
)
def test_what_only_looks_like_them_stays(text: str) -> None:
    assert redact(text).text == text


BASE_32 = "JBSW Y3DP EHPK 3PXP"


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        ("alice / S3cure#Pass", ["S3cure#Pass"]),
        ("(wifi: Home / Tiger2024!)", ["Tiger2024!"]),
        ("家裡網路／Maple77$river", []),  # without blanks it may be a path
        (f"totp: {BASE_32}", [BASE_32]),
        (f"兩步驟驗證的金鑰\n> {BASE_32}\n", [BASE_32]),
        (f"the authenticator app asks for {BASE_32.lower()}", [BASE_32.lower()]),
        ("refresh 1/" + "/0gAbCdEf123456789_abcdefghijklmnop", ["1/" + "/0gAbCdEf123456789_abcdefghijklmnop"]),
        ("EA" + "AGm0PX4ZCpsBA" + "a1B2c3D4" * 6, ["EA" + "AGm0PX4ZCpsBA" + "a1B2c3D4" * 6]),
        ("密碼不是 admin，是 Tiger2024x", ["Tiger2024x"]),
        ("the password isn't admin, it's Maple2024x!", ["Maple2024x!"]),
        ("SESSION_SECRET: keyboardcat (please delete)", ["keyboardcat"]),
        ("alarm code: 2580", ["2580"]),
        ("door code 4711#", ["4711"]),
        ("門鎖密碼 4711#", ["4711"]),
    ],
)
def test_what_an_account_or_a_device_announces_is_found(text: str, secrets: list[str]) -> None:
    result = redact(text)
    assert [secret for secret in secrets if secret in result.text] == []
    assert sum(result.counts.values()) == len(secrets)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "and / or",
            "src/a.py / tests/a.py",
            "2026-05-01 / 2026-05-08",
            "RTX4090 / RX7900XTX",
            "alice#1234 / bob#56789",
        ),
        *("US$1200 / NT$38,400", "menu / index.php?id=12", "linux-5.15~rc2 / ubuntu-22.04", "GET / HTTP/1.1"),
        *(
            "2FA: turn this back onto when your bank says that",
            "2fa need code 2345 from auth team",
            "TOTP with 6 digits",
        ),
        *("error code: 2580", "zip code 94107, area code 0422", "room 4711", "alarm code 5123 on the spindle drive"),
        *("SESSION_SECRET: string (required)", "密碼不是太短，是太好猜", "the password isn't long, it's weak"),
    ],
)
def test_what_only_looks_like_an_account_or_a_code_stays(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize("password", ["hunterTwo", "iLoveMyCat", "CorrectHorse", "correct-horse-battery", "Summer!"])
@pytest.mark.parametrize(
    "frame",
    [
        "password: {}",
        "passwd={}\n",
        "密碼：{}，請記住",
        "the password for x is {}",
        "我的密碼是 {}",
        '"password": "{}",',
    ],
)
def test_a_password_of_words_is_found(frame: str, password: str) -> None:
    assert password not in redact(frame.format(password)).text


@pytest.mark.parametrize(
    "frame",
    [
        *("my password is {} and the user is bob", "密碼是 {}", "資料庫密碼設成 {}", "開機密碼 {}", "unlock code: {}"),
        *("machine h login b password {}", "the wifi password here is {}", "the password for the server is {}"),
    ],
)
def test_a_password_of_random_letters_is_found(frame: str) -> None:
    assert redact(frame.format("JqlIkXOpIq")).text == frame.format("[redacted: password]")


@pytest.mark.parametrize(
    "text",
    [
        *("password: SecretStr", "password: userPassword,", "password: CharField", "password: FormControl"),
        *("password = getPassword()", "password = typedPhrase", "login(password: typedPhrase)", "password: String!"),
        *("{ email: theMail, password: plainThing }", "const password: UserInput = x", "password : theThing,"),
        *(
            "Password: Required!",
            "password: write-only",
            "autocomplete: current-password",
            "password: postgres-db-secret",
        ),
        *("the password is handled by PowerShell", "密碼是 OpenLDAP 管的", "password OAuthToken", "pass MyClassName"),
        *("the password is CaseSensitive to GitHub", "pass XMLHttpRequest to it", "密碼是 GitHub 的"),
    ],
)
def test_a_name_in_code_is_no_password(text: str) -> None:
    assert redact(text).text == text


# --- what sets a value off from its name -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        *(("密碼「Tiger2024x」", "Tiger2024x"), ("密码『Passw@rd』", "Passw@rd"), ("pin「4821」", "4821")),
        *(('password ("Tiger2024x")', "Tiger2024x"), ("the nas password (x9Kd#2pq)", "x9Kd#2pq")),
        *(("password，Tiger2024", "Tiger2024"), ("密碼，（Tiger2024x）", "Tiger2024x")),
        ("API 金鑰「8sd7f6sd8f7s6df8s7d6f」", "8sd7f6sd8f7s6df8s7d6f"),
        *(("密碼 Passw@rd", "Passw@rd"), ("my password M@rigold.", "M@rigold"), ("预设密码tr!cky", "tr!cky")),
        *(("password=$Tr0ub4dor", "$Tr0ub4dor"), ("password: $ecret99!", "$ecret99!")),
        *(("| password | hunterTwo |", "hunterTwo"), ("<password>hunterTwo</password>", "hunterTwo")),
        ("<tr><td>Password</td><td>hunterTwo</td></tr>", "hunterTwo"),
    ],
)
def test_whatever_sets_a_value_off_from_its_name_it_is_found(text: str, secret: str) -> None:
    left = redact(text).text
    assert secret not in left
    assert left.partition("[redacted: ")[0] == text.partition(secret)[0]


@pytest.mark.parametrize(
    "text",
    [
        *("kpasswd\t\t464/tcp", "pass force_zip64 to use it", "We pass nact-2 in Python", "pass Outer$Inner to it"),
        *("password {attrs[2]}", "login {a[0]} password {self.fields[1]}", "=~ /^(login|password|account2)$/) {"),
        *("password = $md5hash", "password=$PASS", "PASSWORD=$DB_PASS1!", "password = $base64Password"),
        *("check(user, password, base64url)", "id,password,varchar60", "password，帳號，email2", "password (SHA256)"),
        *("密碼「至少 8 碼」", "密碼「必填」", 'password ("Enter your password")', "密碼 root@server"),
        *("| password | userPassword | x |", "<password>yourPassword</password>", "'user' | 'password' | 'theName';"),
        "class E(Error):\n    pass\n\nclass Resolver:\n\n    TAG = 'tag:yaml.org,2002:str'\n",
    ],
)
def test_lists_templates_and_code_beside_a_name_stay(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize(
    ("frame", "secret"),
    [
        *(("密碼：【{}】", "Xk9#mQ2!vL"), ("密碼：（{}）", "Tiger2024x"), ("密碼：《{}》", "Xk9#mQ2!vL")),
        *(("my password: ({})", "Zk9#mQ2!vN"), ("password is [{}].", "Tiger2024x"), ("password: ‹{}>", "Zk9mQ2vN")),
        *(("密碼是:【{}】，別外傳", "Xk9#mQ2!vL"), ("密碼：“【 {} 】”", "Tiger2024x"), ("密碼:\n【`{}`】", "Zk9mQ2vN")),
        *(("password: {{{}}}", "Zk9mQ2vN"), ("password: =={}==", "Xk9#mQ2!vL"), ("密碼：-->〖{}〗", "Xk9#mQ2!vL")),
        *(("the password you need is: {}", "Tiger2024x"), ("提取碼：【{}】", "a1b2"), ("PIN: ({})", "4821")),
        *(("API key: ({})", "Xk9mQ2vL7pRt"), ("金鑰：【{}】", "Xk9#mQ2!vL"), ("token: [{}]", "8sd7f6sd8f7s6df8s7d6f")),
        *(("金鑰「{}」", "Xk9mQ2vL7pRt"), ("secret ({})", "Xk9mQ2vL7pRt"), ("token，{}", "Xk9mQ2vL7pRt")),
    ],
)
def test_whatever_joins_a_name_and_its_value_it_is_found(frame: str, secret: str) -> None:
    left = redact(frame.format(secret)).text
    assert secret not in left and left.startswith(frame[:2])
    assert redact(left).counts == {}


@pytest.mark.parametrize(
    "text",
    [
        *("密碼，ISO27001 有規定", "wifi 密碼 WPA2-PSK 加密", "password, MD5-hashed, is weak", "password: (WPA2-PSK)"),
        *("password - OAuth2.0 grant type", '{"password": "required|min:8"}', "password: [a-zA-Z0-9!@#]"),
        *("password: {password1}", 'f"password={password!r}"', "password: [[Note2024]]", "token: [Function2]"),
        *("密碼：（8-20字元）", "密碼：【必填】", "rotate the token (a1b2c3d4)"),
    ],
)
def test_standards_rules_and_places_of_templates_beside_a_name_stay(text: str) -> None:
    assert redact(text).text == text


CODES = [
    ("The lockbox code is 4471", "4471"),
    ("safe combination 12-34-07", "12-34-07"),
    ("gym lock combo 22-53-34", "22-53-34"),
    ("the combination is 35-15-38", "35-15-38"),
    ("code to the gate: 7786", "7786"),
    ("keypad code for the office 6641", "6641"),
    ("front door: code 3121", "3121"),
    ("suitcase lock 9751", "9751"),
    ("保險箱密碼 12-34-07", "12-34-07"),
    ("警報器代碼 3165", "3165"),
    ("取件码 3674", "3674"),
    ("解鎖圖形碼 2468", "2468"),
    ("卡片背面三碼 581", "581"),
    ("security code on the back: 969", "969"),
    ("验证码185888，5分钟内有效", "185888"),
    ("備援碼 8f3k-29dk", "8f3k-29dk"),
    ("復原碼：8f3k-29dk-11xx", "8f3k-29dk-11xx"),
    ("2FA backup code dc20-4jo4", "dc20-4jo4"),
    ("Google backup code 4883 6398", "4883 6398"),
    ("backup codes:\n1. 4955 8121", "4955 8121"),
    ("emergency code: 7s6y-8uf5", "7s6y-8uf5"),
    ("備援金鑰 fo23-8d6g", "fo23-8d6g"),
    ("提款卡密碼是四八二一", "四八二一"),
    ("密碼：芝麻開門123", "芝麻開門123"),
    ("通關密語：芒果冰沙", "芒果冰沙"),
    ("wifi 密碼是「森林雨傘」", "森林雨傘"),
    ("助記詞是 蘋果 香蕉 貓 狗 山 水 火 木 金 土 日 月", "蘋果 香蕉 貓 狗 山 水 火 木 金 土 日 月"),
    ("my passphrase is hamster ladder vacuum cherry", "hamster ladder vacuum cherry"),
    ("the passphrase for the backup disk is anchor dolphin hamster zebra", "anchor dolphin hamster zebra"),
    ('ssh-key passphrase "blue dog 7"', "blue dog 7"),
    ("security answer: Fluffy", "Fluffy"),
    ("mother's maiden name is Waffles", "Waffles"),
    ("security question: first pet? answer: Blue Lagoon", "Blue Lagoon"),
    ("安全提示問題答案：小花貓", "小花貓"),
    ("密保答案是 Zorro", "Zorro"),
    ("WPA2 key for the guest network: rabbit-hole-7721", "rabbit-hole-7721"),
    ("ssid: HomeNet / key: Rabbit77!", "Rabbit77!"),
    ("無線網路金鑰 Rabbit77!", "Rabbit77!"),
    ("Guest WiFi: rabbit@1428", "rabbit@1428"),
    ("the password used to be Rabbit77!", "Rabbit77!"),
    ("set PASSWORD env to Rabbit77!", "Rabbit77!"),
    ("my pw's Rabbit77!", "Rabbit77!"),
    ("my gmail password changed, it's now Rabbit77!", "Rabbit77!"),
    ("log in with Rabbit77! as password", "Rabbit77!"),
    ("use Rabbit!8672 to log in as root, that's the password", "Rabbit!8672"),
    ("密碼設定 Rabbit77!", "Rabbit77!"),
    ("我的密碼從 abc 改成 Rabbit77!", "Rabbit77!"),
    ("你可以用 Rabbit77! 這個密碼登入", "Rabbit77!"),
    ("邮箱授权码：Rabbit_9910", "Rabbit_9910"),
    ("パスワード：Rabbit77!", "Rabbit77!"),
    ("пароль: Rabbit77!", "Rabbit77!"),
    ("admin:Rabbit77!", "Rabbit77!"),
    ("bob@example.org:Rabbit77!", "Rabbit77!"),
    ("creds bob Rabbit77!", "Rabbit77!"),
    ("sqlplus scott/Rabbit77!@orcl", "Rabbit77!"),
]


@pytest.mark.parametrize(("text", "secret"), CODES)
def test_codes_phrases_and_answers_are_replaced(text: str, secret: str) -> None:
    """R11.10: whatever opens something, in groups, words, or Chinese."""
    result = redact(text)
    assert result.text == text.replace(secret, f"[redacted: {next(iter(result.counts), None)}]")


@pytest.mark.parametrize(
    "text",
    [
        "error code 4041",
        "the area code is 4155",
        "zip code 94107",
        "exit code: 1370",
        "a combination of 12 and 34",
        "GPIO pin 4821",
        "bus pass: monthly",
        "pass node_id_2 to the builder",
        "PASS tests/test_token.py::test_refresh2",
        "backup codes are printed on page 12",
        "recovery time: 4-6 hours",
        "recovery point 2026-03-04",
        "the passphrase is never stored on disk anywhere",
        "passphrase is wrong again and again",
        "security answer: required",
        "answer: B",
        "Answer to question 3: Lisbon",
        "seed: 42",
        "wifi: HomeNet-5G",
        "密碼是必填",
        "密碼：請洽櫃檯",
        "密碼：八碼以上",
        "密碼改成要兩階段",
        "通關密語是芝麻開門",
        "通關密語是什麼",
        "助記詞是 12 或 24 個單字",
        "助記詞請抄在紙上 不要 截圖",
        "備援機房 2 座",
        "程式碼 3000 行",
        "錯誤代碼 4821",
        "郵遞區號 10617",
        "手機末三碼",
        "git@github.com:acme/app.git#v1.0.27",
        "amy@laptop.local:~/app$ make check",
        "root:x:0:0:root:/root:/bin/bash",
        "width:100px!important",
        "| OpenAI | [API key](https://platform.openai.com/api-keys) | [Models](https://x.org) |",
        "INSERT INTO profile (key, value) VALUES ('level', 'advanced2x')",
        "intercepting a pass on New England's 2-point conversion",
        "PassThroughUnknownV1 as PassThroughUnknown",
        '{"PostalCode": "98101", "supportCode": "6EXAMPLE3362/ami"}',
        "waiting[-1].sendall(head(token, length))",
    ],
)
def test_other_codes_answers_and_sentences_stay(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize("word", ["token", "the password", "密碼", "API key", "client secret:"])
def test_the_id_behind_a_relation_is_no_secret(word: str) -> None:
    """The note of an entity has it behind a description or link, which may name a secret; another value is one."""
    for line in (f"- uses [[Redis]] — {word}", f"- uses [[{word}]]"):
        assert redact(f"{line} %%rel_1795749836953_cc750089 2026-11-27%%").counts == {}
        assert redact(f"{line} %%rel_1706976300000_jkl012 2026-11-27T10:11:12.123+08:00%%").counts == {}
    assert redact(f"{word} %%hunter2-Xk29dL0q 2026-11-27%%").counts
