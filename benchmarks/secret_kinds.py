"""The kinds of secrets of `secret_corpus.py`, made from patterns and a seed: no file holds a secret."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable

LOWER, UPPER, DIGITS, HEX = string.ascii_lowercase, string.ascii_uppercase, string.digits, "0123456789abcdef"
ALNUM = LOWER + UPPER + DIGITS
URLSAFE = ALNUM + "-_"
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
SEED_WORDS = [
    *("abandon", "ability", "amount", "anchor", "basket", "blossom", "canvas", "cherry", "dolphin", "donkey", "elbow"),
    *("engine", "fabric", "galaxy", "hamster", "index", "jungle", "kitten", "ladder", "magnet", "napkin", "ocean"),
    *("pencil", "quantum", "rabbit", "saddle", "tackle", "umbrella", "vacuum", "walnut", "yellow", "zebra"),
]


class Maker:
    """Makes the parts of secrets from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def some(self, chars: str, count: int) -> str:
        """Random characters; from twelve on with a digit and a letter, if the characters have both."""
        while True:
            made = "".join(self.random.choices(chars, k=count))
            if count < 12 or set(chars) <= set(DIGITS) or (set(made) & set(DIGITS) and not made.isdigit()):
                return made

    def password(self) -> str:
        """A password as people and generators make them."""
        r = self.random
        word = r.choice(
            [
                "maple",
                "tiger",
                "Osaka",
                "winter",
                "Falcon",
                "quartz",
                "Nebula",
                "biscuit",
                "Harbor",
                "lemon",
                "violet",
                "Kestrel",
            ]
        )
        other = r.choice(["river", "Stone", "cobra", "planet", "Velvet", "sugar", "anchor", "Pepper"])
        style = r.randrange(6)
        if style == 0:
            return f"{word}{r.choice('!@#%&*')}{r.randrange(10, 9999)}"
        if style == 1:
            return f"{word.title()}{r.randrange(100, 9999)}{r.choice('!?#$')}"
        if style == 2:
            return self.some(ALNUM + "!@#%^&*", 14) + r.choice(DIGITS)
        if style == 3:
            return f"{word.replace('e', '3').replace('i', '1')}_{other.replace('o', '0')}{r.randrange(9)}"
        if style == 4:
            return f"{word}-{other}-{r.randrange(10, 99)}{r.choice('xyz')}"
        return f"{self.some(UPPER, 1)}{self.some(LOWER, 5)}{self.some(DIGITS, 4)}"

    def short(self) -> str:
        """Eight to eleven characters of three classes, as a generator makes them."""
        r, sign = self.random, self.random.choice(["", "!", "#", "-", "_"])
        half = f"{self.some(UPPER, 1)}{self.some(LOWER, 1)}{self.some(DIGITS, 1)}{self.some(LOWER, 1)}"
        return f"{half}{sign}{self.some(UPPER, 1)}{self.some(LOWER, 2)}{self.some(DIGITS, r.randrange(1, 3))}"

    def words(self) -> str:
        """Two or three words without a digit, or one with a sign: hunterTwo, correct-horse-battery, Summer!"""
        words = self.random.sample(SEED_WORDS, 3)
        style = self.random.randrange(4)
        if style == 0:
            return words[0] + words[1].title()
        if style == 1:
            return "".join(map(str.title, words))
        return "-".join(words) if style == 2 else words[0].title() + "!"

    def spelled(self) -> str:
        """A word of which a letter is a sign: B@sket, Canva$."""
        word = self.random.choice([word for word in SEED_WORDS if set(word[1:-1]) & set("asi")])
        place = self.random.choice([at for at in range(1, len(word) - 1) if word[at] in "asi"])
        return word[:place].title() + {"a": "@", "s": "$", "i": "!"}[word[place]] + word[place + 1 :]

    def base64(self, size: int) -> str:
        return base64.b64encode(self.random.randbytes(size)).decode()

    def luhn(self, prefix: str, length: int) -> str:
        digits = prefix + self.some(DIGITS, length - len(prefix) - 1)
        total = 0
        for place, digit in enumerate(reversed(digits)):
            value = int(digit) * (1 if place % 2 else 2)
            total += value - 9 if value > 9 else value
        return digits + str(-total % 10)

    def grouped(self, digits: str) -> str:
        """Digits as they are printed on a card."""
        return " ".join(digits[at : at + 4] for at in range(0, len(digits), 4))

    def taiwan(self) -> str:
        letters = "ABCDEFGHJKLMNPQRSTUVXYWZIO"
        letter, digits = self.random.choice(letters), self.random.choice("12") + self.some(DIGITS, 7)
        code = letters.index(letter) + 10
        values = [code // 10, code % 10, *map(int, digits)]
        total = sum(w * v for w, v in zip((1, 9, 8, 7, 6, 5, 4, 3, 2, 1), values, strict=True))
        return letter + digits + str(-total % 10)

    def china(self) -> str:
        r = self.random
        day = f"{r.randrange(1950, 2015)}{r.randrange(1, 13):02d}{r.randrange(1, 29):02d}"
        body = r.choice(["110105", "310115", "440304", "510107", "330106"]) + day + self.some(DIGITS, 3)
        weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
        return body + "10X98765432"[sum(int(d) * w for d, w in zip(body, weights, strict=True)) % 11]

    def pem(self, label: str, headers: str = "") -> str:
        body = "\n".join(self.base64(48) for _ in range(self.random.randrange(4, 9)))
        return f"-----BEGIN {label}-----\n{headers}{body}\n-----END {label}-----"

    def jwt(self) -> str:
        def part(value: object) -> str:
            return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

        payload = {"sub": self.some(DIGITS, 8), "iat": self.random.randrange(10**9)}
        return f"{part({'alg': 'HS256'})}.{part(payload)}.{self.some(URLSAFE, 43)}"


# --- kinds ------------------------------------------------------------------------------------------------------------

Make = Callable[[Maker], str]


def prefixed(prefix: str, chars: str, count: int) -> Make:
    return lambda m: prefix + m.some(chars, count)


KNOWN: dict[str, Make] = {
    "aws-access-key-id": prefixed("AK" + "IA", UPPER + "234567", 16),
    "gcp-api-key": prefixed("AI" + "za", URLSAFE, 35),
    "gcp-oauth-secret": prefixed("GOC" + "SPX-", URLSAFE, 28),
    "google-access-token": prefixed("ya" + "29.", URLSAFE, 80),
    "azure-client-secret": lambda m: m.some(ALNUM, 3) + "8" + "Q~" + m.some(ALNUM + "_~.-", 34),
    "github-pat": prefixed("gh" + "p_", ALNUM, 36),
    "github-fine-grained": lambda m: "github" + "_pat_" + m.some(ALNUM, 22) + "_" + m.some(ALNUM, 59),
    "github-app": prefixed("gh" + "s_", ALNUM, 36),
    "gitlab-pat": prefixed("gl" + "pat-", URLSAFE, 20),
    "slack-bot": lambda m: "xo" + f"xb-{m.some(DIGITS, 12)}-{m.some(DIGITS, 12)}-{m.some(ALNUM, 24)}",
    "slack-user": lambda m: "xo" + f"xp-{m.some(DIGITS, 11)}-{m.some(DIGITS, 11)}-{m.some(HEX, 32)}",
    "slack-webhook": lambda m: (
        f"https://hooks.slack.com/services/T{m.some(UPPER, 8)}/B{m.some(UPPER + DIGITS, 8)}/{m.some(ALNUM, 24)}"
    ),
    "stripe-live": prefixed("sk" + "_live_", ALNUM, 24),
    "stripe-restricted": prefixed("rk" + "_live_", ALNUM, 32),
    "stripe-webhook": prefixed("wh" + "sec_", ALNUM, 32),
    "openai": prefixed("sk" + "-", ALNUM, 48),
    "openai-project": prefixed("sk" + "-proj-", URLSAFE, 64),
    "anthropic": prefixed("sk" + "-ant-api03-", URLSAFE, 93),
    "telegram-bot": lambda m: m.some("123456789", 10) + ":A" + "A" + m.some(URLSAFE, 33),
    "discord-bot": lambda m: "M" + m.some(ALNUM, 23) + "." + m.some(ALNUM, 6) + "." + m.some(URLSAFE, 30),
    "npm": prefixed("np" + "m_", ALNUM, 36),
    "pypi": prefixed("py" + "pi-AgEIcHlwaS5vcmc", URLSAFE, 60),
    "huggingface": prefixed("h" + "f_", ALNUM, 34),
    "sendgrid": lambda m: "S" + "G." + m.some(URLSAFE, 22) + "." + m.some(URLSAFE, 43),
    "twilio": prefixed("S" + "K", HEX, 32),
    "mailgun": prefixed("ke" + "y-", HEX, 32),
    "mailchimp": lambda m: m.some(HEX, 32) + "-u" + "s14",
    "digitalocean": prefixed("do" + "p_v1_", HEX, 64),
    "databricks": prefixed("da" + "pi", HEX, 32),
    "docker-hub": prefixed("dckr" + "_pat_", ALNUM, 27),
    "shopify": prefixed("shp" + "at_", HEX, 32),
    "notion": prefixed("nt" + "n_", ALNUM, 46),
    "linear": prefixed("lin" + "_api_", ALNUM, 40),
    "figma": prefixed("fig" + "d_", ALNUM, 40),
    "hashicorp-vault": prefixed("hv" + "s.", ALNUM, 90),
    "age-key": prefixed("AGE-" + "SECRET-KEY-1", UPPER + DIGITS, 58),
    "groq": prefixed("gs" + "k_", ALNUM, 52),
    "grafana": prefixed("gl" + "sa_", ALNUM, 41),
    "aliyun": prefixed("LT" + "AI5t", ALNUM, 20),
    "jwt": lambda m: m.jwt(),
    "visa": lambda m: m.luhn("4", 16),
    "mastercard": lambda m: m.luhn("53", 16),
    "amex": lambda m: m.luhn("37", 15),
    "unionpay": lambda m: m.luhn("62", 19),
    "card-in-groups": lambda m: m.grouped(m.luhn(m.random.choice(["4", "52", "2345"]), 16)),
    "taiwan-id": lambda m: m.taiwan(),
    "taiwan-id-lower": lambda m: m.taiwan().lower(),
    "china-id": lambda m: m.china(),
    "us-ssn": lambda m: f"{m.random.randrange(101, 660)}-{m.random.randrange(10, 99)}-{m.random.randrange(1000, 9999)}",
}
"""Kinds that are known by their form, in any text."""

KEYS: dict[str, Make] = {
    "pem-rsa": lambda m: m.pem("RSA PRIVATE " + "KEY"),
    "pem-pkcs8": lambda m: m.pem("PRIVATE " + "KEY"),
    "pem-encrypted": lambda m: m.pem(
        "RSA PRIVATE " + "KEY", "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,3F17F5316E2BAC89\n\n"
    ),
    "ssh-openssh": lambda m: m.pem("OPENSSH PRIVATE " + "KEY"),
    "pgp": lambda m: m.pem("PGP PRIVATE " + "KEY BLOCK", "Version: GnuPG v2\nComment: made for a test\n\n"),
}
"""Kinds of several lines."""

GLUED = ("ci-{}", "my_{}", "old{}", "notes/d-{}.md", "id_{}")
RANDOM_WORDS = (  # ten letters: a generator's
    *("my password is {}", "密碼是 {}", "資料庫密碼設成 {}", "the password for the server is {}"),
    *("machine h login b password {}", "the wifi password here is {}", "unlock code: {}"),
)
MEMORABLE = (
    "password: {}",
    "passwd={}",
    "密碼：{}",
    "我的密碼是 {}",
    "the password for the server is {}",
    "Password: {}",
)
NAMED: dict[str, tuple[Make, tuple[str, ...]]] = {
    "password-of-random-letters": (lambda m: m.some(LOWER + UPPER, 10), RANDOM_WORDS),
    "password-of-words": (lambda m: m.words(), MEMORABLE),
    "github-glued": (prefixed("gh" + "p_", ALNUM, 36), GLUED),
    "gitlab-glued": (prefixed("gl" + "pat-", URLSAFE, 20), GLUED),
    "stripe-glued": (prefixed("sk" + "_live_", ALNUM, 24), GLUED),
    "huggingface-glued": (prefixed("h" + "f_", ALNUM, 34), GLUED),
    "digitalocean-glued": (prefixed("do" + "p_v1_", HEX, 64), GLUED),
    "aws-secret": (
        lambda m: m.some(ALNUM + "/+", 40),
        ("aws_secret_access_key = {}", '"SecretAccessKey": "{}"', "export AWS_SECRET_ACCESS_KEY={}", "secret key: {}"),
    ),
    "azure-storage": (
        lambda m: m.base64(64),
        (
            "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={};EndpointSuffix=core.windows.net",
            "AccountKey: {}",
        ),
    ),
    "azure-service-bus": (
        lambda m: m.base64(32),
        ("Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={}",),
    ),
    "client-secret": (
        lambda m: m.some(ALNUM, 32),
        ('clientSecret: "{}"', '{{"client_secret": "{}"}}', "CLIENT_SECRET={}", "<clientSecret>{}</clientSecret>"),
    ),
    "api-key-named": (
        lambda m: m.some(HEX, 32),
        (
            'api_key = "{}"',
            "X-Api-Key: {}",
            '"apiKey":"{}"',
            "apikey={}",
            "the API key is {}",
            "API 金鑰：{}",
            "密钥是 {}",
        ),
    ),
    "key-alone": (
        lambda m: m.some(HEX, 32),
        (
            "Azure OpenAI key: {}",
            "Azure key {}",
            "高德的 key 是 {}",
            "我的key是{}",
            "這是我的 key：{}",
            "the key is {}",
            "key={}",
        ),
    ),
    "secret-of-letters": (
        lambda m: m.some(LOWER, 11),
        (
            "JWT_SECRET={}",
            "      SESSION_SECRET: {}",
            "SECRET_KEY={}",
            "app.secret_key = '{}'",
            'NEXTAUTH_SECRET="{}"',
            "app.use(session({{ secret: '{}' }}))",
        ),
    ),
    "bearer": (
        lambda m: m.some(URLSAFE, 40),
        ("Authorization: Bearer {}", 'curl -H "Authorization: Bearer {}" https://api.example.org/v1/me'),
    ),
    "basic": (
        lambda m: base64.b64encode(f"svc-{m.some(LOWER, 4)}:{m.password()}".encode()).decode(),
        ("Authorization: Basic {}", '"headers": {{"authorization": "Basic {}"}}'),
    ),
    "database-url": (
        lambda m: m.password(),
        (
            "postgres://app:{}@db.internal:5432/shop",
            "DATABASE_URL=mysql://root:{}@10.0.0.5/app",
            "mongodb+srv://u:{}@c0.mongodb.net/x",
        ),
    ),
    "database-url-slash": (
        lambda m: f"p@{m.some(ALNUM, 5)}/{m.some(ALNUM, 5)}",
        ("postgres://u:{}@h", "postgresql://owner:{}@db/app"),
    ),
    "redis-url": (
        lambda m: m.some(ALNUM, 20),
        ("redis://:{}@cache:6379/0", "REDIS_URL=rediss://default:{}@r.example.org"),
    ),
    "git-credential": (lambda m: m.some(ALNUM, 24), ("https://deploy:{}@git.example.org/team/app.git",)),
    "env-password": (
        lambda m: m.password(),
        ("DB_PASSWORD={}", "export PGPASSWORD={}", "MYSQL_ROOT_PASSWORD={}", "SMTP_PASS={}", 'ADMIN_PWD="{}"'),
    ),
    "json-password": (
        lambda m: m.password(),
        ('{{"user": "root", "password": "{}"}}', '{{"db":{{"passwd":"{}"}}}}', "{{'password': '{}'}}"),
    ),
    "yaml-password": (
        lambda m: m.password(),
        ("password: {}", "  db_password: '{}'", "spring.datasource.password: {}"),
    ),
    "toml-password": (lambda m: m.password(), ('password = "{}"', 'smtp.password = "{}"')),
    "xml-password": (
        lambda m: m.password(),
        ("<password>{}</password>", '<add key="Password" value="{}"/>', '<property name="password" value="{}"/>'),
    ),
    "html-password": (
        lambda m: m.password(),
        ("<tr><td>Password</td><td>{}</td></tr>", "<p><b>Password:</b> {}</p>", '<input type="password" value="{}">'),
    ),
    "shell-password": (
        lambda m: m.password(),
        (
            "mysql -u root -p'{}' shop",
            "sshpass -p '{}' ssh root@10.0.0.9",
            "curl -u 'admin:{}' https://x.example.org",
            "redis-cli -h cache -a '{}' ping",
            "docker login -u bot -p '{}' registry.example.org",
            "tool --password='{}'",
        ),
    ),
    "connection-string": (
        lambda m: m.some(ALNUM, 14),
        (
            "Server=tcp:sql.example.org;Database=shop;User Id=sa;Password={};Encrypt=true",
            "Host=db;Username=app;Pwd={};Port=5432",
        ),
    ),
    "docker-config": (
        lambda m: base64.b64encode(f"bot:{m.password()}".encode()).decode(),
        ('{{"auths": {{"registry.example.org": {{"auth": "{}"}}}}}}',),
    ),
    "k8s-secret": (
        lambda m: base64.b64encode(m.password().encode() + b"7").decode(),
        ("apiVersion: v1\nkind: Secret\ndata:\n  password: {}",),
    ),
    "k8s-env": (
        lambda m: m.password(),
        ("- name: DB_PASSWORD\n  value: {}", '{{"name": "API_TOKEN_PASSWORD", "value": "{}"}}'),
    ),
    "npmrc": (lambda m: m.some(ALNUM, 36), ("//registry.example.org/:_authToken={}",)),
    "netrc": (lambda m: m.password() + "4", ("machine api.example.org login bot password {}",)),
    "prose-en": (
        lambda m: m.password() + "7",
        (
            "the wifi password is {}",
            "my login is bob and the password is {} okay?",
            "please use password: {}",
            "I changed the password to {} today",
            "Password for the staging box: {}",
            "the passphrase is {}",
            "so pwd = {} on both machines",
        ),
    ),
    "prose-tw": (
        lambda m: m.password() + "8",
        (
            "密碼是 {}",
            "我把密碼設為 {}",
            "密碼：{}，別外流",
            "後台密碼改成 {} 了",
            "家裡 wifi 的密碼就是{}",
            "密碼設定為「{}」",
            "通行碼：{}",
        ),
    ),
    "prose-cn": (
        lambda m: m.password() + "9",
        (
            "密码是{}",
            "数据库口令：{}",
            "我把密码改为 {}，记一下",
            "密码设置成{}了",
            "服务器密码 {} 别忘",
            "登录密码我设成 {}",
            "口令是“{}”",
        ),
    ),
    "pin": (
        lambda m: m.some("123456789", 6),
        ("my card pin is {}", "PIN: {}", "提款碼是 {}", "验证码：{}", "驗證碼 {}"),
    ),
    "passport": (
        lambda m: m.some(UPPER, 1) + m.some(DIGITS, 8),
        ("passport number: {}", "護照號碼 {}", "我的护照号是{}"),
    ),
    "bank-account": (lambda m: m.some("123456789", 12), ("銀行帳號 {}", "account number: {}", "银行卡号：{}")),
    "session": (
        lambda m: m.some(ALNUM, 32),
        ("Cookie: sessionid={}; theme=dark", "access_token={}", "refreshToken: '{}'"),
    ),
    "url-token": (
        lambda m: m.some(ALNUM, 30),
        ("https://x.example.org/cb?access_token={}&state=1", "https://x.example.org/hook?token={}"),
    ),
    "totp": (lambda m: m.some(UPPER + "234567", 32), ("otpauth://totp/x:bob?secret={}&issuer=x",)),
    "card-beside-digits": (
        lambda m: m.grouped(m.luhn(m.random.choice(["4", "53", "2412", "6011"]), 16)),
        ("{} 12/30 999", "2026 {}", "card {} 0128 123", "1. {} 07 28", "{} 4821", "12 01 {}"),
    ),
    "with-placeholder-word": (
        lambda m: m.random.choice(["{}-example9", "fake{}", "Example{}", "{}_here"]).replace(
            "{}", m.some(ALNUM, 9) + "7"
        ),
        ("password: {}", 'DB_PASSWORD="{}"', "密碼是 {}", "the password is {}"),
    ),
    "neighbouring-strings": (
        lambda m: m.some(ALNUM, 9) + "4!",
        (
            "define('DB_PASSWORD', '{}');",
            'os.environ.setdefault("DB_PASSWORD", "{}")',
            'props.put("password", "{}");',
            '[("user", "bob"), ("password", "{}")]',
            "os.getenv('APP_PASSWORD', '{}')",
        ),
    ),
    "arguments": (
        lambda m: m.some(ALNUM, 9) + "4!",
        (
            "HTTPBasicAuth('bob', '{}')",
            "requests.get(url, auth=('bob', '{}'))",
            "smtp.login('me@example.org', '{}')",
            "$db = new PDO('mysql:host=db;dbname=x', 'root', '{}');",
            'DriverManager.getConnection(url, "root", "{}")',
        ),
    ),
    "sql-insert": (
        lambda m: m.some(ALNUM, 9) + "4!",
        (
            "INSERT INTO users (name, password) VALUES ('bob', '{}');",
            "insert into accounts (id, pwd, mail) values (1, '{}', 'b@x.org')",
        ),
    ),
    "other-fields": (
        lambda m: m.some(ALNUM, 9) + "4",
        (
            '{{"name": "DB_PASSWORD", "type": "plain", "value": "{}"}}',
            "<password><![CDATA[{}]]></password>",
            "password: |\n  {}",
            "passwords:\n  - {}",
            "${{DB_PASSWORD:-{}}}",
        ),
    ),
    "device-command": (
        lambda m: m.some(ALNUM, 9) + "4",
        (
            "useradd -m -p {} bob",
            "openssl enc -aes-256-cbc -k {} -in a",
            "snmp-server community {} RO",
            "openssl rsa -in k.pem -passin pass:{}",
        ),
    ),
    "in-brackets": (
        lambda m: m.some(UPPER, 1) + m.some(ALNUM, 8) + "@4",
        ("密碼（{}）", "密碼【{}】", "後台密碼::{}", "密碼==>{}", "{}（密碼）", "{} (password)"),
    ),
    "one-time-code": (
        lambda m: m.some("123456789", 6),
        (
            "{} is your verification code",
            "Your code is {}",
            "驗證碼 {}",
            "【某店】{}（驗證碼）",
            "your security code: {}",
        ),
    ),
    "short-han": (
        lambda m: m.some("123456789", 4),
        ("我手機密碼 {}", "行李箱密碼是{}", "保險箱密碼：{}", "门的密码是 {}"),
    ),
    "passphrase": (
        lambda m: " ".join(m.random.sample(SEED_WORDS, 4)),
        ("passphrase: {}", "ssh passphrase: {}\n"),
    ),
    "query-key": (
        lambda m: m.some(HEX, 16) + m.some(HEX, 16),
        ("https://x.example.org/w?q=x&appid={}", "https://x.example.org/v1?key={}", "GET /v1?apikey={}&page=2"),
    ),
    "aws-pair": (
        lambda m: m.some(ALNUM + "/+", 39) + "a",
        tuple(f"{'AK' + 'IA'}Q7ZX2P4M5N6B7V8C{frame}" for frame in (" {}", "\n{}", " / {}", ", then {}")),
    ),
    "joined-zh": (
        lambda m: m.password() + "6",
        (
            "默认密码{}",
            "後台預設密碼{}，登入後請改",
            "初始口令{}",
            "我的密码改成了{}",
            "wifi密码改了，现在是 {}",
            "登入密碼更新為{}",
        ),
    ),
    "login": (
        lambda m: m.password() + "3",
        (
            "帳密是 admin / {}",
            "帳密：root / {}",
            "账号密码是 ops/{}",
            "creds: admin:{}",
            "creds are deploy:{}",
            "login: bob / {}",
        ),
    ),
    "passcode": (
        lambda m: m.some("123456789", 4),
        ("the passcode is {}", "door passcode: {}", "锁屏密码是 {}", "支付密码：{}", "開機密碼 {}"),
    ),
    "share-code": (
        lambda m: m.some(LOWER, 1) + m.some(DIGITS, 1) + m.some(LOWER, 1) + m.some(DIGITS, 1),
        ("提取码：{}", "链接在群里，提取码 {}", "提取碼: {}", "解压码是 {}"),
    ),
    "other-names": (lambda m: m.password() + "2", ("pswd: {}", "mima: {}", "wifi mima：{}", "PSWD={}")),
    "below": (
        lambda m: m.some(LOWER, 4) + m.some(DIGITS, 3) + m.some(UPPER, 3),
        (
            "Password\n{}",
            "## Password\n\n{}",
            "wifi password:\n\n{}",
            "### 密碼\n\n```text\n{}\n```",
            "后台密码如下\n\n{}",
        ),
    ),
    "csv": (
        lambda m: m.some(UPPER, 2) + m.some(LOWER, 4) + m.some(DIGITS, 3),
        (
            "user,password\nbob,{}",
            "id;login;password;team\n1;bob;{};blue",
            "name\tpwd\nbob\t{}",
            '"mail","password"\n"bob","{}"',
        ),
    ),
    "wifi-qr": (
        lambda m: m.some(LOWER, 9),
        ("WIFI:T:WPA;S:home;P:{};;", "WIFI:S:My Home;T:WPA2;P:{};H:true;;", "掃這個 WIFI:T:WPA;P:{};S:cafe;;"),
    ),
    "server-setting": (
        lambda m: m.some(LOWER, 10),
        (
            "keytool -list -keystore a.jks -storepass {}",
            "requirepass {}",
            "keytool -genkey -keypass '{}'",
            "masterauth {}",
        ),
    ),
    "cookie": (
        lambda m: m.some(ALNUM, 26),
        (
            "Cookie: sid={}; lang=en",
            "Set-Cookie: app_session={}; Path=/; HttpOnly",
            "curl -H 'Cookie: theme=dark; auth_token={}' https://x.example.org",
        ),
    ),
    "seed-phrase": (
        lambda m: " ".join(m.random.sample(SEED_WORDS, 12)),
        ("seed phrase: {}", "my recovery phrase is {}", "助記詞：{}", "钱包的助记词是 {}", "Mnemonic:\n{}"),
    ),
    "wallet-key": (
        lambda m: "xp" + "rv9s21ZrQH" + m.some(BASE58, 101),
        ("{}", "root key {}", "錢包 {}"),
    ),
    "wallet-import": (
        lambda m: m.random.choice("KL") + m.some(BASE58, 51),
        ("{}", "wif: {}", "我的錢包金鑰 {}"),
    ),
    "short-key": (
        lambda m: m.short(),
        ("the client secret is {}", "api key: {}", "my token is {} for now", "密鑰是 {}", "令牌：{}", "secret: {}"),
    ),
    "short-in-config": (
        lambda m: m.short(),
        ("client_secret: {}", '{{"api_key": "{}"}}', "[auth]\ntoken = {}\n", "SECRET_KEY={}", "webhook_secret: '{}'"),
    ),
    "recovery-code": (
        lambda m: f"{m.some(UPPER, 1)}{m.some(DIGITS, 1)}{m.some(UPPER, 2)}-{m.some(DIGITS, 1)}{m.some(UPPER, 2)}7",
        ("recovery code: {}", "backup codes:\n- {}", "救援碼：{}", "备用码 : {}", "my recovery code is {}"),
    ),
    "password-list": (
        lambda m: m.password() + "7x",
        (
            "# Passwords\n\n- router: {}\n",
            "passwords\nnetflix {}\n",
            "## 密碼\n- NAS {}\n",
            "密码：\n* 邮箱：{}",
            "My passwords:\n1. Gmail - {}",
            "passwords\n- {}",
        ),
    ),
    "below-a-sentence": (
        lambda m: m.some(UPPER, 1) + m.some(LOWER, 3) + m.some(DIGITS, 3) + m.some(LOWER, 2),
        (
            "This is the new server that we rented for the shop last week, and its root password:\n{}\n",
            "For the guest network in the meeting room on the third floor, the wifi password is\n\n{}\n",
            "我們上禮拜租的那台新主機，帳號是 root，密碼如下：\n{}\n",
        ),
    ),
    "table-of-accounts": (
        lambda m: m.some(LOWER, 10),
        (
            "site,user,password\nshop,bob,{}\n",
            "| 網站 | 帳號 | 密碼 |\n|---|---|---|\n| 商店 | bob | {} |\n",
            "name;pwd;mail\nbob;{};b@x.org\n",
            "here is the export: url,username,password\nshop,bob,{}\n",
        ),
    ),
    "app-password": (
        lambda m: " ".join(["qwfp", *(m.some(LOWER, 4) for _ in range(3))]),
        (
            'server.login("me@example.org", "{}")',
            "app password: {}",
            "應用程式密碼：{}",
            "smtp.login('me', '{}')",
        ),
    ),
    "mysql-argument": (
        lambda m: m.some(LOWER, 7),
        ("mysql -u root -p{} shop", "mysqldump -u shop -p{} --all-databases", "mariadb -h db -uapp -p{}"),
    ),
    "behind-a-slash": (
        lambda m: (
            f"{m.random.choice(SEED_WORDS).title()}{m.some(DIGITS, 3)}{m.random.choice('!#$&')}{m.some(LOWER, 2)}"
        ),
        (
            "alice / {}",
            "wifi: Home / {}",
            "- NAS：bob / {}",
            "家裡網路 / {}",
            "ops@example.org / {}",
            "router admin ／ {}",
        ),
    ),
    "totp-groups": (
        lambda m: m.grouped(m.some(UPPER + "234567", 15) + "7"),
        (
            "totp: {}",
            "2FA setup key: {}",
            "authenticator: {}",
            "兩步驟驗證 {}",
            "雙重驗證的金鑰是 {}",
            "验证器密钥：{}",
        ),
    ),
    "totp-groups-small": (
        lambda m: m.grouped(m.some(LOWER + "234567", 31) + "5"),
        ("totp {}", "my authenticator app asks for {}", "两步验证：{}", "MFA key\n{}"),
    ),
    "google-refresh-token": (lambda m: "1/" + f"/0{m.some(URLSAFE, 60)}a7", ("{}", "google {}", "refresh: {}")),
    "facebook-token": (lambda m: "EA" + f"A{m.some('GBMD', 1)}{m.some(ALNUM, 120)}", ("{}", "fb {}", "page token: {}")),
    "not-this-but": (
        lambda m: m.password() + "4",
        ("密碼不是 admin，是 {}", "wifi 密码不是 12345678，而是 {}", "the password isn't admin, it's {}"),
    ),
    "door-code": (
        lambda m: m.some("123456789", 4),
        ("alarm code: {}", "the gate code is {}", "door code {}#", "garage code: {}", "門鎖密碼 {}#", "大門密碼：{}"),
    ),
    "set-off": (
        lambda m: m.password() + "8",
        (
            "密碼「{}」",
            'password ("{}")',
            "wifi password，{}",
            "密码『{}』别外传",
            "the nas password ({}), please keep it",
            "後台密碼，{}",
            "password「{}」",
        ),
    ),
    "spelled-with-signs": (
        lambda m: m.spelled(),
        ("密碼 {}", "密碼: {}", "my password {}", "预设密码{}", "the password is {}", "密碼「{}」"),
    ),
    "begins-with-dollar": (
        lambda m: f"${m.short()}",
        ("password={}", "DB_PASSWORD={}", "密碼是 {}", "the password is {}", "password: '{}'"),
    ),
    "words-in-cells": (
        lambda m: "".join([m.random.choice(SEED_WORDS), *map(str.title, m.random.sample(SEED_WORDS, 1))]),
        (
            "| password | {} |",
            "<password>{}</password>",
            "<tr><td>Password</td><td>{}</td></tr>",
            "| 密碼 | {} | NAS |",
            "<entry>\n  <password>{}</password>\n</entry>",
        ),
    ),
    "wrapped-zh": (
        lambda m: m.password() + "7",
        (
            "密碼：【{}】",
            "密碼：（{}）",
            "密码：《{}》",
            "密碼是:【{}】",
            "口令=〔{}〕",
            "密碼：“【{}】”",
            "密碼: [{}]，別外傳",
            "密碼：👉 {}",
        ),
    ),
    "wrapped-en": (
        lambda m: m.some(UPPER, 1) + m.some(ALNUM, 8) + "@4",
        (
            "my password: ({})",
            "password: [{}], keep it",
            "password: ‹{}›",
            "password: {{{}}}",
            "password: =={}==",
            "the password is: ||{}||",
            "the password you need is: {}",
            "password is <{}>.",
        ),
    ),
    "wrapped-keys": (
        lambda m: m.some(LOWER, 1).join(("8K", "2Q", "4m", "7T", "5v", "3")),
        (
            "API key: ({})",
            "金鑰：【{}】",
            "token: [{}]",
            "client secret: 《{}》",
            "密钥是：（{}）",
            "金鑰，{}",
            "token「{}」",
            "secret ({})",
        ),
    ),
}
"""Kinds that a name announces, with texts around them."""
