"""Secrets that a name announces: «password: x», 密碼設為 x, `DB_PASSWORD=x`, `<token>x</token>`, `("password", "x")`.

`secrets` finds the names; here a bounded piece of text after one is read: a sign (`=`, is, 是, a table's or tag's edge)
and a value. Whether the value is a secret depends on how it is written: «password: str» is code.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple

from vault_memory.core.privacy import numbers, values
from vault_memory.core.privacy.formats import Found
from vault_memory.core.privacy.keys import is_mixed, is_random, is_random_letters
from vault_memory.core.privacy.values import Said
from vault_memory.core.text import lazily, matches, stands_in

_MAX_VALUE_CHARS = 300


class Name(NamedTuple):
    """What one name announces. `before` must match what stands before the name, read backwards (None: anything may).

    Before a letter of `not_before` it is another word: passage, keyboard; before `COMPOUND` another thing: 密碼管理.
    """

    kind: str
    text: str
    before: re.Pattern[str] | None
    not_before: str


_EDGE = lazily(r"(?![a-z0-9])")
_TOKEN_EDGE = lazily(
    "(?![a-z])|"
    + "|".join(
        word[::-1]
        for word in (
            *("auth", "access", "api", "bot", "refresh", "session", "bearer", "user", "service", "deploy", "app"),
            *("personal", "csrf", "device"),
        )
    )
)
_SECRET_EDGE = lazily(
    "(?![a-z])|"
    + "|".join(
        word[::-1]
        for word in (
            *("client", "app", "consumer", "shared", "webhook", "api", "aws", "auth", "jwt", "session", "oauth", "my"),
            "user",
        )
    )
)
_OF_KEYS = "|".join(
    word[::-1]
    for word in (
        *("api", "access", "secret", "private", "account", "client", "app", "encryption", "encrypt", "signing"),
        *("sign", "master", "shared", "storage", "subscription", "service", "auth", "license", "session", "aes"),
        *("hmac", "jwt", "rsa", "deploy", "admin", "function", "host", "licence", "write", "read", "server"),
        *("project", "integration", "webhook", "root", "unlock", "recovery", "activation", "preshared"),
        *("pre shared", "wifi", "psk", "crypt", "data", "my", "our", "your"),
    )
)
_KEY_EDGE = lazily(rf"[ _\-.]?(?:{_OF_KEYS})(?:[ _\-.]?(?:[a-z]{{2,12}}|x)?(?![a-z])|_)")


_BEHIND = r"[ _\-:,]{0,2}(?:%s)(?:(?<=[^\x00-\x7f])|(?![a-z]))"
"""`Name.before`: one of these, read backwards, and at most a blank or a sign between it and the name."""
_LOCKS = (
    "door, gate, alarm, alarm off, entry, garage, keypad, lockbox, lock box, safe, locker, lock, vault, elevator",
    "lobby, entrance, unlock, disarm, voicemail, parental, padlock, gym, suitcase, luggage, mailbox, mail box, storage",
    "opener, storage unit, check in, check-in, checkin, airbnb, house, flat, apartment, shed, pool, bike, cabinet",
    "intercom, barrier, parking, cellar, attic, front, back, side, cash box, drawer, phone, tablet, ipad, iphone",
    "screen lock, lock screen, sim, puk, buzzer, pairing, bluetooth, voice mail, strongbox",
)
_LOCKS_HAN = (
    "门, 门锁, 开门, 警报, 警报器, 保全, 保全设定, 设防, 撤防, 解锁, 解锁图形, 开锁, 电子锁, 智能锁, 保险箱, 保险柜",
    "置物柜, 储物柜, 寄物柜, 信箱, 信箱锁, 取件, 取货, 提货, 寄物, 车库, 电梯, 开机, 萤幕, 屏幕, 行李箱, 行李箱锁",
    "密码锁, 磁扣, 门禁卡, 对讲机",
)
_LOCKED = lazily(
    r"(?:[ ,:]{1,2}\d{1,4}#?(?= ))?"
    + _BEHIND % "|".join(word[::-1] for words in (*_LOCKS, *_LOCKS_HAN) for word in words.split(", "))
)
"""What a code of digits opens."""
_OF_LOCK = lazily(
    r"s? (?:for|to|at|on) (?:(?:the|my|our|your|his|her|their) )?(?:[a-z]{1,12} )?"
    rf"(?:{'|'.join(word for words in _LOCKS for word in words.split(', '))}|office|building|room|clubhouse)"
    r"(?![a-z])"
)
"""Behind a code: what it opens (code for the front gate)."""
_RECOVERED = lazily(
    _BEHIND
    % "|".join(
        word[::-1]
        for words in (
            "recovery, backup, back up, scratch, emergency, rescue, bypass, reset",
            "备援, 复原, 回复, 恢复, 还原, 救援, 备用, 备份, 紧急, 修复, 备用验证, 备援验证, 恢复验证",
        )
        for word in words.split(", ")
    )
)
_ANSWERED = lazily(
    r" ?(?:[^\n]{0,120}?noitseuq )?(?:ytiruces|terces)(?![a-z])"
    r"|(?:[^\n]{0,40}?题问|的?(?:题问)?)(?:示提)?(?:[性类]?全安|保密|示提)"
)
"""Security answer, «security question: first pet? answer», 安全提示問題答案, 密保問題的答案."""
_OF_WIFI = lazily(
    _BEHIND
    % "|".join(
        word[::-1]
        for words in (
            "wifi, wi fi, wpa, wpa2, wpa3, wep, network, network security, wireless, hotspot, router",
            "无线, 网路, 无线网路, 网络, 无线网络, 热点",
        )
        for word in words.split(", ")
    )
)
_BESIDE_SSID = lazily(r" ?[^\n]{1,30}?diss(?![a-z])")


_PIN_EDGE = lazily(r"(?![a-z0-9])(?! ?(?:oipg|rotcennoc|redaeh|agb|atad|draob|lairetam)(?![a-z]))")
"""A pin that is no part of a circuit."""


ALONE = lazily(r"(?![\u3400-\u9fff])")
"""`Name.before` of a Han character that is a name only where no other stands beside it, behind it neither."""
EDGES = (_EDGE, _TOKEN_EDGE, _SECRET_EDGE)
"""`Name.before` of names that may also begin inside a word of code: clientSecret."""
NAMES: list[tuple[str, str, re.Pattern[str] | None, str]] = [
    ("password", "password, passwd, 口令, 通行码, 卡密", None, ""),
    ("password", "key content, security key, 金钥内容, 关键内容", _EDGE, ""),
    ("saying", "密语, 暗号, 通关口令", None, ""),
    ("phrase", "passphrase, pass phrase, diceware", None, ""),
    ("password", "key", _OF_WIFI, ""),
    ("password", "key", _BESIDE_SSID, ""),
    ("password", "金钥, 密钥", _OF_WIFI, ""),
    ("wifi", "wifi, wi-fi, wpa, wpa2, wpa3, 无线网路, 无线网络", _EDGE, ""),
    ("app password", "授权码, app password, app-specific password, app passwords, 应用密码, 专用密码", None, ""),
    ("answer", "answer, 答案", _ANSWERED, ""),
    ("answer", "answer to my security question, maiden name", _EDGE, ""),
    ("passcode", "passcode, unlock code, 密码, 解锁码", None, ""),
    ("passcode", "密", ALONE, ""),
    ("code", "提取码, 访问码, 分享码, 解压码, 门禁码", None, ""),
    ("login", "creds, credentials, logins, login, user/pass, username/password, id/pw", _EDGE, ""),
    (
        "login",
        "帐密, 账密, 登入资讯, 登入信息, 登录信息",
        None,
        "",
    ),
    (
        "login",
        "帐号密码, 账号密码, 帐户密码, 账户密码, 帐号/密码, 账号/密码, 用户名密码, 用户名/密码",
        None,
        "",
    ),
    (
        "seed",
        "seed phrase, seed words, recovery phrase, recovery words, backup phrase, mnemonic, bip39, bip-39, "
        "wallet seed, wallet phrase, wallet words, seed, metamask phrase, secret phrase",
        _EDGE,
        "",
    ),
    ("seed", "助记词, 注记词, 种子词, 恢复词, 助忆词, 助忆口诀, 恢复短语, 种子短语", None, ""),
    (
        "password",
        "pwd, pswd, passwrd, pass word, psk, identified by, mot de passe, passwort, kennwort, contraseña, mima, senha, "
        "wachtwoord, lösenord, parola, hasło, kata sandi, mật khẩu, пароль, "
        "palavra-passe, adgangskode, passord, salasana, heslo, jelszó, lozinka, парола, κωδικός, รหัสผ่าน, पासवर्ड, "
        "şifre, şifresi, şifrem, şifreniz, parolası, parolam, סיסמה, הסיסמה, كلمة المرور, كلمة السر, رمز عبور",
        _EDGE,
        "",
    ),
    ("password", "비밀번호, 비번, パスワード, 暗証番号", None, ""),
    ("password", "pass", _EDGE, "abefghilmopqrw"),
    ("password", "pw", _EDGE, "d"),
    ("pin", "pin", _PIN_EDGE, ""),
    ("pin", "cvv, cvc, cvv2, otp, code on the back, 提款码, 安全码, pin码", _EDGE, ""),
    ("pin", "背面三码, 末三码, 后三码", None, ""),
    (
        "one-time",
        "verification code, security code, login code, sign-in code, one-time code, one time code, sms code, "
        "one-time password, one time password, "
        "confirmation code, access code, authentication code, auth code, 2fa code, your code, "
        "验证码, 校验码, 动态码, 确认码, 动态密码",
        None,
        "",
    ),
    ("api-key", "key", _KEY_EDGE, "bfopswl"),
    ("door", "code, pin, combination, combo, passcode, 码, 代码", _LOCKED, ""),
    ("door", "keypad, lock", _LOCKED, ""),
    ("door", "password, 密码", _LOCKED, ""),
    ("kept", "safe, lockbox, padlock, strongbox, voicemail", _EDGE, ""),
    ("kept", "保险箱, 保险柜", None, ""),
    ("puk", "puk, puk1, puk2, puk-code, pukcode", _EDGE, ""),
    ("tan", "tan, itan, mtan, tan-nr", _EDGE, ""),
    ("tan", "tan list, tan-list, tan-liste, tanliste, tans, itans, itan-liste", _EDGE, ""),
    ("question", "security question, secret question", _EDGE, ""),
    ("question", "安全问题, 安全提示问题, 密保问题", None, ""),
    ("door of", "code, combination", _EDGE, ""),
    ("combination", "combination, combo", _EDGE, ""),
    ("totp", "totp, otpauth, 2fa, mfa, two-factor, two factor, authenticator", _EDGE, ""),
    ("totp", "两步验证, 两步骤验证, 二步验证, 双重验证, 双因素, 验证器", None, ""),
    ("random-key", "key", _EDGE, "bfopswl"),
    ("api-key", "金钥, 密钥, 私钥", None, ""),
    ("token", "token", _TOKEN_EDGE, ""),
    ("secret", "secret", _SECRET_EDGE, ""),
    ("token", "credential, session id, sessionid, session_id, phpsessid, jsessionid, connect.sid", _EDGE, ""),
    ("token", "权杖, 令牌, 凭证", None, ""),
    ("token", "api_hash, api hash, hashkey, hashiv", _EDGE, ""),
    ("recovery", "code, key, 码, 代码, 金钥, 密钥", _RECOVERED, ""),
    ("recovery", "2fa code, bitlocker", _EDGE, ""),
    ("authorization", "authorization, x-auth", _EDGE, ""),
    ("auth", '"auth", _auth, sharedaccesssignature', None, ""),
    (
        "id-number",
        "passport, ssn, social security, id card, driver's license, drivers license, driving licence, national id, "
        "identity number, id number, tax id",
        _EDGE,
        "",
    ),
    (
        "id-number",
        "护照, 身份证, 身分证, 健保卡, 居留证, 驾照, 驾驶证, 社保卡, 统一证号, 通行证, 台胞证, 社会安全",
        None,
        "",
    ),
    (
        "bank-account",
        "account number, account no, acct no, bank account, routing number, iban, credit card, card number, card no, "
        "debit card",
        _EDGE,
        "",
    ),
    (
        "bank-account",
        "银行卡, 银行帐号, 银行账号, 银行帐户, 银行账户, 卡号, 帐号, 账号, 户头, 信用卡, 储蓄卡",
        None,
        "",
    ),
]
"""(kind, names, `before`, `not_before`): see `Name`. All are folded."""

RANDOM_RUN = lazily(r"(?=[A-Za-z]{0,11}\d)[A-Za-z0-9]{12}")
"""Whatever is searched for as a random key has so many letters and digits in a row; our own journals have not."""
COMPOUND = lazily(
    r"(?<=密码|口令|密钥)(?:管理(?!员)|学|强度|栏位|字段|策略|原则|规则|政策|加密|工具|产生|生成|长度|类型|格式|提示|保护|错误|失败"
    r"|安全|破解|杂凑|哈希|验证|机制|输入|复杂)"
)
_SUFFIX = (
    r"(?:(?<=[a-z])s(?![a-z]))?(?:[ _\-.]?(?:access|key|value|text|string|plain|number|no\.?|num|code|id|prod"
    r"|production|dev|test|staging|live"
    r"|new|old|current|default|admin|root|user|db|database|base64|b64|data|字号|号码|号|码|值)){0,3}"
    r"(?:_?\d{1,2}(?!\d)| ?#?\d(?=:))?"
)
_CLOSE = r"[\"'`*_\]」』】]{0,3}"
_NOTE = r"(?: ?[(\[](?![\"'])[^()\[\]\n]{1,30}[)\]])?"
_OF = (
    "for|of|to|on|at|in|from|here|de|del|della|delle|dello|dei|di|do|da|dos|das|du|des|dla|od|für|fuer|vom|von|zum|zur"
    "|van|voor|na|para|pour|per|к|от|для|на|til|för"
)
"""Words of many languages between a name and what it opens: contraseña del router, пароль от почты."""
_GAP = (
    rf"(?: (?:{_OF}) [a-z0-9@._'/\- \u00c0-\u024f\u0400-\u04ff]{{1,40}}?| (?:here|there)"
    r"| (?:(?:that|which) )?(?:you|we|i|they)(?: [a-z']{1,12}){1,3}?| (?:env|variable|var|field|setting))?"
)
_HAN_GAP = r"(?:[\u4e00-\u9fff][a-z0-9\u4e00-\u9fff]{0,9}?(?:, ?(?:现在|目前|新的?|暂时|先)?[\u4e00-\u9fff]{0,4}?)?)?"
_SET = (
    r"(?: (?:now|still|just|simply|currently|set|changed|reset|updated|rotated|to|be|been|as|actually|probably"
    r"|used|from \S{1,24}))"
)
_OPEN = lazily(
    r"(?:\[\s{0,12})?[brfuN]?(?P<quote>[\"'`「『“*_]{1,3})|\[\s{0,12}(?P<bare>)(?=[\w!#$%&*@^]{4,64}, ?[\w!#$])"
)
_OPENERS = frozenset("[brfuN\"'`「『“*_")
_NEW_LINE = r"(?:(?:[|>][+\-]?[ \t]{0,4})?\n[ \t>]{0,12}(?:(?:-|\d{1,2}[.)]) {1,3})?)?"
"""The value may stand on the next line, also as a block or the first item of a list (YAML)."""
_FIELD = r"[\s,]{1,24}[\"']?[a-z_\-]{1,20}[\"']?\s{0,4}[:=]\s{0,4}(?:\"[^\"\n]{0,40}\"|'[^'\n]{0,40}'|[\w\-./]{1,40})"
"""Another field between a name and its value: "type": "plain"."""
SIGN = lazily(
    rf"{_SUFFIX}{_CLOSE}{_NOTE}(?:"
    rf"{_GAP}{_NOTE}[ \t]{{0,20}}(?P<direct>:[=\-?]|={{1,3}}>?|<-|->|[→⇒]|::(?=[ \t])|:(?!\?)"
    r"|(?:\.{4,80}|[…─━]{1,80}|[·・]{2,80}) ?[:=]?)"
    rf"[ \t]{{0,12}}(?:(?<=[:=])、|(?<=:), )?(?:!!str |!!binary )?{_NEW_LINE}"
    rf"|(?:{_GAP} {{1,3}}|(?='s ))(?P<word>(?:is|'s|was|are|be|been|has|have|will|should|must|used|to|equals|became"
    rf"|es|è|é|est|ist|jest|это"
    rf"|(?:changed|set|updated|reset|rotated),? (?:it's|it is|to)|as(?! follows)"
    rf"|got)(?: as follows| the following|{_SET}{{0,3}})|as follows)(?::\s{{1,12}}|[ :]{{1,3}})"
    rf"| ?{_HAN_GAP}(?:从 ?[!-~]{{1,24}} ?)?(?P<han>(?:就?是|设?为|系|叫|[はがを는은이가] ?"
    r"|(?:改|换|设|变|更新|重置|设[定置])[成为]|用的?|给你)了?|=>?|:)"
    r" ?:?[ \n]{0,4}"
    r"|(?P<call> ?\()(?=[\"'])|(?P<dash> --? )"
    r"|\s{0,3}(?P<cell>\|{1,2})[ \t]{0,20}"
    rf"|(?:{_FIELD}){{0,3}}[\s,#>+\-*]{{0,24}}[\"']?(?P<pair>value|content|default_value|val)[\"']?\s{{0,4}}[:=]\s{{0,4}}"
    r"|(?P<next>(?<=[\"'])(?:\s{0,4},\s{0,12}|[ \t]{1,4})(?=b?[\"']))"
    r"|(?P<link>(?<=\])\((?:<|[^\s()]{0,200}[ \t]{1,3}[\"'(])?)"
    r"|(?P<space>[ \t]{1,8}))"
)
_JOINED = lazily(
    r"(?:(?P<joined>(?<=[\u4e00-\u9fff])(?:我?(?:设定?|订|用|改|换|填|是|先用|先设)|还是|一样)? {0,2}"
    r"(?:,? ?[(\[【〔《]|,|:{2,3}|[=\-]{1,3}>?)? {0,2}"
    r"| ?(?:[【〔《]|(?=[「『])))"
    r"|(?P<aside>, ?| [(\[]))(?=[!-~「『])"
)
"""A value that only a bracket or a comma sets off from its name, and nothing after Han words: 密码Adm1n@2024,
密码「Adm1n@2024」, password，x9Kd#2pq, password (x9Kd#2pq)."""
_BELOW = lazily(
    rf"{_SUFFIX}{_CLOSE}{_NOTE}{_GAP}[ \t]{{0,8}}"
    rf"(?P<said>(?:如下|见下|在下面|as follows|is below|below|is|是)?[:=?]?){_CLOSE}"
    r"(?P<below>(?:[ \t]{0,20}\n(?:={3,40}|-{3,40})(?=[ \t]{0,20}\n))?(?:[ \t]{0,20}\n[ \t>+#*\-]{0,12}){1,4}"
    r"(?:(?:\d{1,2}[.)]|\[[ x]\]) {1,3})?"
    r"(?:(?:(?:```|~~~)[a-z]{0,10}|text|txt|sh|bash|console|ini|env|yaml|json)\n[ \t>+#*]{0,12})?)(?=[!-~])"
)
"""A value on a line below its name, also after an empty line or in a block of code."""
_MAX_LABEL_CHARS = 40
"""Of the line that names the value below it."""
_WRAPPED = lazily(
    r"(?=[\-=~|:>\"'`*_ ]{0,8}(?:[(\[{<]|[^\x00-\x7f\w\s]|(?P<mark>[=~|])(?P=mark)))"
    r"(?P<open>(?:[(\[{<\-=~|:>\"'`*_ ]|[^\x00-\x7f\w\s]){1,10}+)(?P<value>[!-~]{3,200}?)"
    r" ?(?:[)\]}>\"'`*_]|[^\x00-\x7f\w\s]|==|~~|\|\|){1,10}+(?=[\s,;:.!?|<]|[^\x00-\x7f]|\Z)(?!\.\S)"
)
"""A value alone between brackets, marks of emphasis or other signs, a run of them on either side: (x), ==x==, 【x】."""
_WRAPPING = frozenset(("direct", "env", "word", "han", "dash", "cell"))
"""The signs after which a value may be wrapped."""
_OF_PLACES = lazily(r"[{<]|\[\[")
"""In these brackets stands the name of what is put there, or of a note: {password2}, <password2>, [[Note2024]]."""
_TAG = lazily(r"[^<>\n=]{0,60}(?P<tag>>)\s{0,8}")
_SCHEME = lazily(r"(?:basic|bearer|token|apikey|api-key|digest|bot|key|negotiate)[ :]{1,3}")
_BARE = lazily(r"[^\s'\"`<>「」『』【】〔〕《》，。；、！？（）\u3400-\u9fff|]{1,300}")
_NUMBER = lazily(
    r"[A-Za-z]{0,3}[ \-]?(?=\d(?:[ \-.]?[\dA-Za-z*]){3,30})\d[\dA-Za-z*]*(?:[ \-.](?=[A-Z*]{0,4}[\d*])[\dA-Za-z*]+)*"
)
"""A word without a digit (… 3000 und danke) is no part of it."""
_CUT = lazily(r";(?=\s|\Z|[A-Za-z ]{1,30}=)|&(?=[\w.\-\[\]]{1,40}=)|,(?=\s|\Z|[\"'\w]{1,30}[:=])|\\[nrt\"']|\{\{|</")
_QUOTES = {"「": "」", "『": "』", "“": "”", "(": ")", "<": ">"}
_BEFORE_IN_TAG = lazily(
    r"\s(?:value|content|default_value|val)\s{0,4}=\s{0,4}(?P<quote>[\"']?)(?P<value>[^\s\"'<>]{1,200})(?P=quote)"
    r"(?:\s[^<>=]{1,40}=[^<>=]{1,80}){0,5}?\s(?:name|type|id|key|property)\s{0,4}=\s{0,4}[\"']?[\w.\-:]{0,40}\Z"
)
"""A tag up to a name that says what its value is, behind that value: `<input value="x" type="password">`."""
_MAX_TAG_CHARS = 400


ACCOUNT = lazily(
    r"[\w.@+\-]{2,64}(?: ?[:|;、] ?|, ?| / |/(?!\S*/)(?![a-z_\-]{1,40}\d{0,2}(?:[\s.,;]|\Z))|(?<=[@\w]) (?=\S*\d))"
)
_SEED_WORD = r"(?!(?:the|and|for|are|was|not|but|has|had|our|its|their|which|should|would|could|from|your)\b)[a-z]{3,8}"
_SEED = lazily(
    rf"[^\n]{{0,60}}?[\s:=\"'`(]\s{{0,4}}(?P<words>(?:\d{{1,2}}[.):]? ?)?{_SEED_WORD}"
    rf"(?:[\s,]{{1,4}}(?:\d{{1,2}}[.):]? ?)?{_SEED_WORD}){{11,23}})(?![a-z])"
)
_SEED_HAN = lazily(
    r"[^\n]{0,12}?[\s:=是]\s{0,4}(?P<words>[\u3400-\u9fff]{1,4}(?:[ ,、]{1,2}[\u3400-\u9fff]{1,4}){11,23})"
)
_TOTP_BREAK = r"(?:[ \-]|\n[ >]{0,4})"
_TOTP = lazily(
    r"[^\n]{0,60}?(?:\s[\s>]{0,4}|(?<=[:=\"'`(*])|(?<=[^\x00-\x7f]))"
    r"(?P<groups>(?=[A-Za-z2-7 \-]{0,80}(?:[A-Za-z][2-7]|[2-7][A-Za-z]))"
    rf"(?:[A-Z2-7]{{4}}(?:{_TOTP_BREAK}?[A-Z2-7]{{4}}){{3,15}}|[a-z2-7]{{4}}(?:{_TOTP_BREAK}[a-z2-7]{{4}}){{3,15}}))"
    r"(?![A-Za-z0-9])"
)
"""A key in base 32, in groups of four as it is shown beside the code to scan."""
_NO_SEED = range(4, 8)
"""So many different words has no seed phrase; test phrases have two or three (abandon abandon … about)."""
KINDS = {
    "pin": "password",
    "one-time": "password",
    "phrase": "password",
    "passcode": "password",
    "code": "password",
    "app password": "password",
    "login": "password",
    "authorization": "token",
    "auth": "credentials",
    "seed": "private-key",
    "saying": "password",
    "answer": "password",
    "combination": "password",
    "door of": "password",
    "wifi": "password",
    "recovery": "token",
    "totp": "token",
    "door": "password",
    "secret": "token",
    "random-key": "api-key",
    "setting": "api-key",
    "bearer": "token",
    "kept": "password",
    "puk": "password",
    "tan": "token",
    "question": "password",
}
"""What the secret of a name is called, where it is not called like the name's kind."""


class Near:
    """What could belong to a name and stands near it; a text is searched for it once, for all names."""

    def __init__(self, text: str, folded: str) -> None:
        self.text, self.folded = text, folded
        self.has_tags = "<" in text

    @cached_property
    def has_denials(self) -> bool:
        """Whether anything in the text is said not to be so."""
        return stands_in(self.folded, _DENIED)

    def has_value(self, name: Name, after: int) -> bool:
        """Whether a value may follow a name that ends at `after`."""
        of_keys = self._of_keys if name.kind in _OF_RANDOM else self._visible
        starts, ends = self._digits if name.kind in _WITH_DIGITS else of_keys
        at = bisect_right(ends, after)
        if at < len(ends) and starts[at] < after + _REACH_CHARS:
            return True
        return (name.kind in (*_IN_HAN, "answer", "question") and bool(_MAY_BE_HAN.match(self.folded, after))) or (
            name.kind == "seed" and bool(_SEED_HAN.match(self.folded, after))
        )

    @cached_property
    def _digits(self) -> _Runs:
        return self._runs(_DIGITS)

    @cached_property
    def _of_keys(self) -> _Runs:
        return self._runs(_KEYS)

    @cached_property
    def _visible(self) -> _Runs:
        return self._runs(_VISIBLES)

    def _runs(self, pattern: re.Pattern[str]) -> _Runs:
        starts, ends = array("L"), array("L")  # there may be millions
        for found in matches(pattern, self.text):
            starts.append(found.start())
            ends.append(found.end())
        return starts, ends


_REACH_CHARS = 700
"""Fewer characters stand between a name and the first digit of its value."""
_Runs = tuple["array[int]", "array[int]"]
"""Where runs of characters begin, and where they end; a very long one is several."""
_DIGITS = lazily(r"[0-9]{1,1000}")
_KEYS = lazily(r"[0-9]{1,1000}|[A-Za-z]{12,1000}")
_VISIBLES = lazily(r"[!-~]{3,997}(?:[!-~]{1,2}(?![!-~]))?")
_WITH_DIGITS = frozenset(
    (
        *("random-key", "recovery", "totp", "pin", "one-time", "door", "id-number"),
        *("bank-account", "door of", "combination", "wifi", "kept", "puk", "tan"),
    )
)
"""Kinds of which every value has a digit; the others have three visible characters."""
_OF_RANDOM = frozenset(("api-key", "setting", "token", "login"))
"""Kinds of which every value has a digit or twelve letters."""


def values_after(near: Near, name: Name, at: int) -> Iterator[tuple[int, int]]:
    """Where the secrets stand that a name at `at` announces; more than one if they are a list."""
    text, folded, after = near.text, near.folded, at + len(name.text)
    if name.kind in ("recovery", "tan") and (codes := _list_of_codes(folded, after)):
        yield codes
    found = _value_after(near, name, at)
    if found and (
        (name.kind == "pin" and _is_postal(text, at, found))
        or (name.text == "key" and _is_key_id(text, at, found))
        or (name.kind == "random-key" and _is_no_secret_key(folded, at, found[0]))
    ):
        return
    if near.has_denials and name.kind in AFTER_VALUE and (other := _INSTEAD.match(folded, after)):
        said = _said(text, other.end(), "", "han", name.kind)
        if said and values.is_secret(name.kind, said):
            yield other.end(), other.end() + len(said.value)
    old = _CHANGED.match(folded, after) if name.kind in _LISTED else None
    for start in (old.start("old"), old.end()) if old else ():
        said = _said(text, start, "", "word", name.kind)
        if said and values.is_secret(name.kind, _one_of_several(said, name)):
            yield start, start + len(said.value)
    has_lines = text.find("\n", after, after + _MAX_LABEL_CHARS) >= 0
    if has_lines and name.kind in _LISTED and (heading := _HEADING.match(folded, after)) and _is_label(text, at):
        yield from _items(text, folded, name, heading.end())
    for _ in range(_MAX_ITEMS):
        if not found:
            return
        yield found
        start, end = found
        if new := _NEW_ONE.match(folded, end):
            at, said = new.end(), _said(text, new.end(), "", "word", name.kind)
        elif _ITEM.search(text, max(0, start - 16), start) and (item := _NEXT_ITEM.match(text, end)):
            at, said = item.end(), _said(text, item.end(), item["quote"] or "", "direct", name.kind)
            if said and item["quote"] is None and item["bare"] is None:
                said = said._replace(how="item", rest="")
        elif name.kind in _SEVERAL and (further := _further(text, start, end)):
            at, said = further.end(), _said(text, further.end(), further["quote"] or "", "item", name.kind)
            said = _one_of_several(said, name) if said else None
        else:
            return
        is_one = said and values.is_secret(name.kind, said)
        found = (at, at + len(said.value)) if said and is_one else None


_LISTED = ("password", "passcode")
_KEYED_IN = ("pin", "one-time", "door", "door of")
_NO_KEY = lazily(r"[,(]")
"""Such values have no comma in them, also none of a Chinese sentence, and no remark."""
_SEVERAL = (*_LISTED, "phrase", "app password", *_KEYED_IN)
"""Kinds of which one name may announce several values."""
_INSTEAD = lazily(
    r"[^\s,;:]{0,4}? ?(?:(?:并?不|不再)是|isn't|is (?:not|no longer)|was not|wasn't) ?[!-~]{1,64}?[,;。 ]{1,3}"
    r"(?:[而现在应该改换]{0,3}(?:是|成)|(?:but |it's |it is |now |rather ){1,3})[: ]{0,2}"
)
"""A value that is denied before another is told: 密碼不是 A，是 B."""
_DENIED = lazily(r"不是|不再是|isn't|is (?:not|no longer)|was not|wasn't")
"""Each of them has one of these."""
_MAX_ITEMS = 20
_ITEM = lazily(r"(?:[\[,]\s{0,12}[\"']?|\n[ \t]{0,12}- {1,3}[\"']?)\Z")
_NEXT_ITEM = lazily(
    r"[\"']\s{0,2},\s{0,12}(?=[\"'])(?P<quote>[\"'])|[\"']?\n[ \t]{0,12}- {1,3}(?P<bare>[\"']?)"
    r"|, ?(?=[^\s\"':=]{4,64}[,\]])"
)
_FURTHER = lazily(
    r"(?P<closed>[\"'`」』]?)(?: ?[,、;/] ?(?:(?:and|or) )?| (?:and|or|&) | ?[和或跟及與与] ?)(?P<quote>[\"'`「『]?)"
    r"(?=[!-~])"
)
"""What stands between several values of one name: A and B, A、B, 7731, 8842."""


def _further(text: str, start: int, end: int) -> re.Match[str] | None:
    """What stands between a value and the next one; they are in quotes each, or neither is."""
    found = _FURTHER.match(text, end)
    is_quoted = text[start - 1 : start] in _QUOTED
    return found if found and bool(found["closed"]) == is_quoted == bool(found["quote"]) else None


def _one_of_several(said: Said, name: Name) -> Said:
    """A value beside another one: with fewer than two digits it may be any word."""
    how = "space" if name.kind in _KEYED_IN else "word" if len(_SOME_DIGIT.findall(said.value)) > 1 else "item"
    return said._replace(value=said.value.partition(",")[0], how=how, rest="")


_SOME_DIGIT = lazily(r"[0-9]")
_QUOTED = ("'", '"', "`", "「", "『")
_NEW_ONE = lazily(r"[\"'`]?[,;.]?(?: (?:and |but |now )?(?:the |my )?new one(?:'s| is|:) (?:now )?| ?新的(?:是|:) ?)")
"""A value that is told beside the one it replaces: the old password was x, the new one is y."""
_CHANGED = lazily(
    r"(?:[^\n,;:.!?]{0,30}? from |[^\n,;:]{0,8}?[从由] ?)(?P<old>[!-~]{4,64}?)"
    r"(?: to (?=[!-~])| ?[改换变更][成为到]了? ?)"
)
"""The value that is given up, up to the new one: I changed the password from x to y, 密碼從 x 改成 y."""


_HEADING = lazily(rf"s?{_CLOSE}{_NOTE}[ \t]{{0,8}}:?{_CLOSE}[ \t#]{{0,8}}\n(?:[=\-]{{3,60}}[ \t]{{0,8}}\n)?")
"""The end of a line that heads a list: «## Passwords», 密碼：."""
_LISTED_LINE = lazily(
    r"(?P<indent>[ \t>]{0,12})(?P<bullet>(?:[\-*+•]|\d{1,2}[.)])[ \t]{1,4})?"
    r"(?:(?:[^\n:=|]{1,40}?(?:[ \t]{0,2}[:=：][ \t]{0,4}|[ \t]-{1,2}[ \t]{1,2})|[^\s:=|]{1,40}[ \t]{1,4})?"
    r"[\"'`*]{0,2}(?P<value>[!-~]{6,64}?)[\"'`*]{0,2}[ \t]{0,8}|(?P<other>[^\n]{0,200}))(?:\n|\Z)"
)
"""A line of such a list: a value, alone or after what it opens (nas: x, github - x, wifi x), or another text."""
_MAX_LISTED_LINES = 50


def _items(text: str, folded: str, name: Name, start: int) -> Iterator[tuple[int, int]]:
    """The secrets in the list that starts below a heading.

    A list with bullets ends at a line without; one without bullets at a line that is more than a word and a value.
    """
    has_bullets = None
    for _ in range(_MAX_LISTED_LINES):
        line = _LISTED_LINE.match(text, start)
        if not line or not line[0] or folded.find(name.text, start, line.end()) >= 0:
            return
        start = line.end()
        if not line[0].strip():
            continue
        has_bullets = bool(line["bullet"]) if has_bullets is None else has_bullets
        if not line["bullet"] if has_bullets else line["other"] is not None:
            return
        if line["value"] and values.is_secret(name.kind, Said(line["value"], "item", False, "")):
            yield line.span("value")


_BEFORE_CODE = r"(?:(?:- \[[ x]\]|\d{1,3}[.):]?|[\-*•+]) +)?"
_CODE_OF_LIST = (
    r"(?:\d{6,10}|\d{4}[ \-]\d{4}|(?=[a-z\-]{0,12}\d)[a-z0-9]{4,8}(?:-[a-z0-9]{4,8}){1,3}"
    r"|(?=[a-z]{0,11}\d)[a-z0-9]{8,12})(?![\w\-])"
)
_FIRST_CODE = lazily(rf"(?:[:=]|\n)[ \t>]{{0,8}}{_BEFORE_CODE}(?P<code>{_CODE_OF_LIST})")
_FURTHER_CODE = lazily(
    r"(?=\W)[ \t]{0,12}(?:(?:[,、;/|&]|and|und|et|y|和|或)[ \t]{0,12})?(?:\n[ \t>]{0,8}){0,3}"
    rf"{_BEFORE_CODE}{_CODE_OF_LIST}"
)
_MAX_CODES, _MIN_CODES, _BEFORE_CODES_CHARS = 400, 3, 240


def _list_of_codes(folded: str, after: int) -> Found:
    """The codes that open an account once, as a list of any length and in any number of columns, a sentence or two
    below the name: as the files have it that providers let one download."""
    first = _FIRST_CODE.search(folded, after, after + _BEFORE_CODES_CHARS)
    if not first:
        return None
    end, count = first.end(), 1
    while count < _MAX_CODES and (further := _FURTHER_CODE.match(folded, end)):
        end, count = further.end(), count + 1
    return (first.start("code"), end) if count >= _MIN_CODES else None


def _is_postal(text: str, at: int, value: tuple[int, int]) -> bool:
    """Whether six digits are a postal code of India (PIN code): a place is named, and nothing that a PIN opens."""
    start, end = value
    if end - start != 6 or _OPENED.search(text, max(0, at - 40), start):
        return False
    return bool(_POSTAL.search(text, max(0, at - 20), at) or _PLACE.search(text, at + 3, min(start, at + 60))) or (
        bool(_PLACE_AFTER.match(text, end))
    )


_OPENED = lazily(
    r"\b(?:my|your|his|her|card|sim|bank|atm|door|phone|account|log ?in|unlock|device|safe)\b", re.IGNORECASE
)
_POSTAL = lazily(r"\b(?:postal|post|area|zip|city|district|delivery)\b", re.IGNORECASE)
_PLACE = lazily(r" (?:for|of|in|at) (?:[a-z ]{0,20} )?[A-Z][a-z]")
_PLACE_AFTER = lazily(r",? \(?[A-Z][a-z]")


def _is_key_id(text: str, at: int, value: tuple[int, int]) -> bool:
    """Whether a value is the id of a public key: git config user.signingkey ABCD…"""
    return text[max(0, at - 8) : at].lower().rstrip(" _-.").endswith(("signing", "rsa", "dsa")) and bool(
        _KEY_ID.fullmatch(text, *value)
    )


_KEY_ID = lazily(r"(?:0x)?(?:[0-9A-Fa-f]{8}|[0-9A-Fa-f]{16}|[0-9A-Fa-f]{40})")


def _is_no_secret_key(folded: str, at: int, value: int) -> bool:
    """Whether a key is public or finds something: of a table, a cache, a store."""
    return bool(_OTHER_KEY.search(folded, max(0, at - 24), at) or _FINDS.match(folded, at + 3, value))


_OTHER_KEY = lazily(
    r"(?:pub(?:lic)?|primary|foreign|unique|cache|cached|partition|sort|range|row|hash|object|s3|idempotency"
    r"|dedup\w{0,12}|lookup|index|item|record|entry|map|dict|group|message|routing|issue|translation|host|bucket|file|blob"
    r"|composite|surrogate|natural|document|build|commit|etag|checksum"
    r"|websocket|rsa|dsa|gpg|pgp|did|公|主|外|缓存|索引|分区|排序|分组|哈希|对象)[ _\-.:/]{0,2}\Z"
)
_FINDS = lazily(r"[ _\-]?(?:id|no|num|number|code)\b")


def _value_after(near: Near, name: Name, at: int) -> Found:
    text, folded, after = near.text, near.folded, at + len(name.text)
    if name.kind == "seed":
        return _seed(folded, after)
    if name.kind == "login" and folded.endswith("allow_", 0, at):
        return None  # a setting of CORS
    if name.kind == "question":
        answer = _ANSWER_BELOW.match(folded, after)
        return answer.span("answer") if answer and values.is_answer(answer["answer"]) else None
    if name.kind == "totp":
        return groups.span("groups") if (groups := _TOTP.match(text, after)) else None
    if name.kind == "door of":
        if not (lock := _OF_LOCK.match(folded, after)):
            return None
        after = lock.end()
    found: Found = None
    if near.has_tags and _in_tag(text, at) and (sign := _TAG.match(folded, after)):
        found = value_behind(near, name, at, sign)
    if not found:  # it may be words in an attribute
        found = value_behind(near, name, at, SIGN.match(folded, after))
    if not found and (joined := _JOINED.match(folded, after)) and _may_be_loose(text, name, joined.end()):
        found = value(text, folded, name, at, joined)
    has_lines = text.find("\n", after, after + _MAX_LABEL_CHARS) >= 0
    if not found and has_lines and (below := _BELOW.match(folded, after)):
        if _is_label(text, at):
            found = value(text, folded, name, at, below, "below")
        elif below["said"]:
            found = value(text, folded, name, at, below, "announced")
    if not found and name.kind in _LISTED and (asked := _ASKED.match(folded, after)):
        found = answered(text, folded, name, asked.end())
    if not found and name.kind in AFTER_VALUE:
        line_end = text.find("\n", after, after + _MAX_APART_CHARS)
        found = _apart(name, text, after, line_end if line_end >= 0 else after + _MAX_APART_CHARS)
    return found


_ASKED = lazily(
    r"(?:[^\n?.!]{0,30}\?|[^\n?,;。]{0,4}(?:多少|什么)[呀啊呢]?[ ,:]?)(?:\s{1,3}(?:a|answer|答)[:.])?"
    r"|[^\n]{0,30}\n(?=\[\d)"
)
"""A question for what a name means: wifi password?, 密碼多少？, and in a chat the line behind the name."""
_REPLY = lazily(
    r"\s{0,3}(?:\[\d[^\]\n]{1,20}\] ?[^\n:]{1,24}: ?)?(?:(?:sure|yes|ok|okay|yep|here[^\n:.]{0,30}|好的?|嗯)[,:.!] ?)?"
    r"(?:it's |it is |that's |就?是 ?)?[\"'`*「]{0,3}"
)
_REQUESTED = lazily(r"[^\n]{0,60}?(?:\?|(?:什么|多少|吗|呢)[呀啊]?[。?]?|(?:for|to) (?:me|us)[.!]?)\s{0,3}\Z")


def is_requested(folded: str, name: Name, after: int) -> bool:
    """Whether a text ends with a question, or a wish, for what its name means that ends at `after`."""
    return name.kind in _LISTED and bool(_REQUESTED.match(folded, after))


def answered(text: str, folded: str, name: Name, start: int) -> Found:
    """The value that an answer at `start` begins with, and nothing else on its line."""
    if not (reply := _REPLY.match(folded, start)):
        return None
    said = _said(text, reply.end(), "", "announced", name.kind)
    is_one = said and values.is_secret(name.kind, said)
    return (reply.end(), reply.end() + len(said.value.rstrip(".!?"))) if said and is_one else None


_ANSWER = r"[^\W_][\w'&\-]{0,30}(?:\.? [\w'&\-]{1,20}){0,4}(?=[ .!\"')\]」』]{0,3}(?:\Z|[\r\n,;，。；|]))"
_ANSWER_BELOW = lazily(
    rf"(?::[^\n]{{3,160}}|[^\n]{{0,160}}\?)[ \t\"*_]{{0,4}}\n[ \t>*\-]{{0,6}}(?P<answer>{_ANSWER})(?![,;|])"
)
_MAX_APART_CHARS = 56
_APART = lazily(
    r"(?<![!-~])[\"'`(]?(?P<value>(?=[A-Za-z0-9]{0,40}[!#$*@%^])[A-Za-z0-9][A-Za-z0-9!#$*@%^._\-]{7,39}?)[\"'`)]?"
    r"(?=[,.;:!?]?(?:[^!-~]|\Z))"
)
_APART_KEY = lazily(r"(?<![A-Za-z0-9_\-./+@#%~\\])(?P<value>[A-Za-z0-9]{24,80}?)(?=[,.;:!?\"'`)]{0,2}(?:[^!-~]|\Z))")
_APART_SIGN = lazily(r"[A-Za-z0-9](?:[!#$*]|[A-Za-z0-9]{23})")
"""Every such value has one of these."""


def _apart(name: Name, text: str, begin: int, end: int) -> Found:
    """A value that nothing joins to the name on its line: use Monday!8672 to log in, that's the password.

    A password with letters, digits and a sign, as no word has them, or a key of both cases and digits.
    """
    is_key = name.kind not in _LISTED
    if not _APART_SIGN.search(text, begin, end):
        return None
    for found in (_APART_KEY if is_key else _APART).finditer(text, begin, end):
        value = found["value"]
        is_one = is_mixed(value) if is_key else values.is_secret("beside", Said(value, "account", False, ""))
        if is_one and not (found.end() == end and text[end : end + 1] > " "):  # it may be cut
            return found.span("value")
    return None


def value_behind(near: Near, name: Name, at: int, sign: re.Match[str] | None) -> Found:
    """The secret behind a sign that follows a name."""
    text, folded = near.text, near.folded
    if sign and sign.lastgroup == "next" and not _STRING_START.search(folded, max(0, at - _MAX_LABEL_CHARS), at):
        sign = None
    is_bare = sign and sign.lastgroup == "space" and not _may_be_loose(text, name, sign.end())
    found = value(text, folded, name, at, sign) if sign and not is_bare else None
    if not found and sign and sign.lastgroup in _WRAPPING and name.kind != "login":
        found = _wrapped(text, name, sign.end())
    return found


def _may_be_loose(text: str, name: Name, start: int) -> bool:
    """Whether a value may begin at `start`, after a sign that says little: its first word has a digit or is random."""
    if name.kind in ("login", "auth") or _LOOSE.match(text, start):
        return True
    if name.kind == "app password":
        return bool(_SIXTEEN_LETTERS.match(text, start))
    if name.kind == "phrase":
        return text[start : start + 1] in "\"'「“"
    if name.kind in _OF_RANDOM:
        run = _RANDOM_LETTERS.match(text, start)
        return run is not None and is_random_letters(run["run"])
    word = _WORD.match(text, start) if name.kind in _LISTED else None
    return word is not None and values.is_like_no_word(word["word"].rstrip("!"))


_LOOSE = lazily(r"\S{0,300}?[0-9]|\S{0,4}(?:[A-Za-z]{0,3} [0-9]|[a-z]{4} )")
"""A word with a digit, a number in groups, or words of four letters."""
_SIXTEEN_LETTERS = lazily(r"[A-Za-z]{16}(?![\w\-])|[A-Za-z]{4}(?:-[A-Za-z]{4}){3}(?![\w\-])")
_WORD = lazily(r"[「『\"'`]?(?P<word>[A-Za-z][A-Za-z@$!]{5,63})(?![\w(\[{=]|[.:\-]\w)")
_RANDOM_LETTERS = lazily(r"[「『\"'`]?(?P<run>[A-Za-z]{12,300})(?![\w(\[{=]|[.:\-]\w)")
_PHRASE = lazily(r"[a-z]{2,9}(?:[ \-][a-z]{2,9}){3,11}(?=[ \t]{0,9}(?:\Z|\n))")
"""The words of a passphrase, up to the end of its line: correct horse battery staple."""
_BEFORE_PHRASE = (
    "direct",
    "env",
    "shell",
    "word",
    "han",
    "below",
    "space",
    "joined",
    "cell",
    "pair",
    "dash",
    "announced",
)
_HAN_WORDS = lazily(r"(?=[A-Za-z0-9!@#$]{0,12}[〇\u3400-\u9fff])[〇\u3400-\u9fffA-Za-z0-9!@#$]{2,24}(?![：:])")
_IN_HAN = ("password", "passcode", "phrase", "saying")
"""Kinds whose values may be Chinese words or digits."""
_MAY_BE_HAN = lazily(r"[^\n]{0,16}?[:=是为成「『\"] {0,2}[\"「『“]?[〇\u3400-\u9fff]")
_ONE_CODE = r"(?:\d{6,8}|\d{4}[ \-]\d{4}|(?=[a-z\-]{0,12}\d)[a-z0-9]{4,6}(?:-[a-z0-9]{4,6}){1,2})(?![\w\-])"
"""Of a list of recovery codes."""
_NEXT_CODE = r"(?:[ \t]*[,、;\n][ \t\r\n]*(?:(?:- \[[ x]\]|\d{1,2}[.)]|[-*]) +)?| )"
_WRITTEN: dict[str, tuple[re.Pattern[str], Callable[[str], bool]]] = {
    "recovery": (
        lazily(
            rf"{_ONE_CODE}(?:{_NEXT_CODE}{_ONE_CODE}){{1,24}}|"
            r"[a-z0-9]{3,8}(?:(?:-| (?=\d{4}))[a-z0-9]{3,8}){1,7}(?: \d{4} \d{4}| \d{8}){0,9}(?![\w\-])"
            r"|\d{8}(?: \d{8}){1,9}(?!\w)"
        ),
        values.is_in_groups,
    ),
    **dict.fromkeys(
        ("door", "door of", "combination", "passcode", "password"),
        (lazily(r"[rl]?\d{1,2}(?:(?:-|, ?| - )[rl]?\d{1,2}){2,3}(?![\w\-:./])"), lambda text: True),
    ),
    "answer": (
        lazily(_ANSWER),
        values.is_answer,
    ),
}
"""Values of several words or groups: how they are written, and what else they must be."""
_REMARK = lazily(r"\s{0,20}(?:[#(].{0,40})?")
_END_OF_CLAUSE = lazily(r"[ \t]{0,9}(?:\Z|[.;!?。；！？\u3400-\u9fff])")
_GOES_ON = lazily(r"[ \t]+\w|[\u3400-\u9fff]")
_FOUR_WORDS = lazily(r"[a-z]{4}(?: [a-z]{4}){3}(?! ?[\w'])")
_STRING_START = lazily(r"[\"'][\w.\-:/]{0,30}\Z")
"""A string that is nothing but a name: "db.password"; no sentence that ends with one."""


def value(text: str, folded: str, name: Name, at: int, sign: re.Match[str], how: str = "") -> Found:
    """The value after a sign, if it is a secret."""
    start, how = sign.end(), how or str(sign.lastgroup)
    if how == "direct" and sign["direct"] == "=" and text[sign.start("direct") - 1 : start].isupper():
        how = "env"
    elif how == "next" and text[max(0, at - 1)] == "_" and text[at : sign.start()].isupper():
        how = "env"  # define('DB_PASSWORD', 'swordfish')
    opened = _OPEN.match(text, start) if text[start : start + 1] in _OPENERS else None
    if opened and how == "direct" and sign["direct"] == "=" and text[at : at + len(name.text)].isupper():
        how = "env"  # SECRET_KEY = '…'
    may_be_generated = name.kind in _GENERATED and how in _BEFORE_WHOLE
    if may_be_generated and (generated := _generated(text, start, opened, False)):
        return generated
    begin, start = start, opened.end() if opened else start
    prefix = {"authorization": _SCHEME, "login": ACCOUNT}.get(name.kind)
    if prefix and (before := prefix.match(folded, start)):
        start = before.end()
    elif name.kind == "login":
        return None
    elif name.kind == "phrase" and how in _BEFORE_PHRASE and (words := _PHRASE.match(text, start)):
        is_one = values.is_phrase(words[0]) if how == "direct" else values.is_phrase_in_a_sentence(words[0])
        return words.span() if is_one else None
    elif (
        text[start + 4 : start + 5] == " "
        and (words := _FOUR_WORDS.match(text, start))
        and values.is_app_password(words[0])
    ):
        return words.span()
    if how in _BEFORE_PHRASE and (of_words := _in_words(folded, name, start, how, bool(opened))):
        return of_words
    if how == "link":  # [password](x) is written like a call with two strings
        said = _said(text, start, sign["link"][-1], "next", name.kind)
        if said and sign["link"][-1] in "(<" and values.is_destination(said.value):
            return None
    else:
        said = _said(text, start, (opened["quote"] or "") if opened else "", how, name.kind)
    if said and opened and opened["quote"] is None:
        said = said._replace(how="item", rest="")  # passwords: [x, y]
    if said and how == "word" and sign["word"] == "as":
        said = said._replace(how="announced")
    if said and name.text == "pass" and how in ("space", "direct") and not said.is_quoted:
        if how == "space" and ("/" in said.value or values.is_parameter(said.value)):
            return None  # pass force_zip64 to it
        if how == "direct" and said.value.isalpha() and text[max(0, at - 1)] == " ":
            return None  # bus pass: monthly
    if said and how == "cell" and _line_before(text, at).lstrip("> \t").startswith("|"):
        said = said._replace(rest="")  # a row of a table
    if said and how == "joined" and "," in sign[0] and _GOES_ON.match(said.rest) and values.is_document(said.value):
        return None  # 密碼，ISO27001 有規定
    if said and how == "aside" and sign[0] == "," and name.kind in _LISTED and _is_last(text, at, said):
        said = said._replace(how="joined")
    if said and how == "direct" and _REMARK.fullmatch(said.rest) and _is_setting(text, at, sign):
        said = said._replace(how="env")  # JWT_SECRET: keyboardcat
    if said and how == "direct" and not said.is_quoted and " = " in sign[0] and values.is_identifier(said.value):
        is_key = name.kind in _OF_RANDOM and is_random_letters(said.value)
        return (start, start + len(said.value)) if is_key else None  # password = typedPhrase
    if said and how == "direct" and not said.is_quoted and "\n" in sign[0] and _GOES_ON.match(said.rest):
        return None  # a sentence on the next line
    if said and values.is_secret(name.kind, said):
        return start, start + len(said.value)
    return _generated(text, begin, opened, True) if may_be_generated else None


_GENERATED = ("password", "passcode", "phrase", "app password")
_BEFORE_WHOLE = ("direct", "env", "shell", "option", "word", "han", "pair", "dash")
_RUN = lazily(r"[!-~]{10,200}(?![!-~])")
_QUOTE_ENDS = {quote: lazily(rf"{quote}(?=[\s,;:.)\]}}>/<|\\\"'`]|\Z)") for quote in "\"'`"}
_BRACKETS_AND_STOPS = ",;:)]}>([{\"'`*"


def _generated(text: str, start: int, opened: re.Match[str] | None, is_whole: bool) -> Found:
    """The password at `start` that a program made, with whatever signs are in it, up to a blank or the end of its
    quotes, and unless it `is_whole` up to what looks like the next setting."""
    quote = _QUOTE_ENDS.get((opened["quote"] or "")[-1:]) if opened else None
    begin = opened.end() if opened else start
    if not (run := _RUN.match(text, begin)):
        return None
    end = run.end()
    if quote and (closed := quote.search(text, begin, end)):
        end = closed.start()
    elif quote:
        begin = start
    if not is_whole and (cut := _CUT.search(text, begin + 1, end)):
        end = cut.start()
    written = text[begin:end]
    word = written.rstrip(_BRACKETS_AND_STOPS)
    opens, closes = (sum(map(written.count, brackets)) for brackets in ("([{", ")]}"))
    is_left_open = opens > closes and written[-1] not in "([{," and text[end : end + 1] not in (" ", "\t")
    return (begin, begin + len(word)) if values.is_made_by_a_program(word, is_left_open) else None


def _in_words(folded: str, name: Name, start: int, how: str, is_quoted: bool) -> Found:
    """A value of several words or groups, or of Chinese words."""
    pattern, is_one = _WRITTEN.get(name.kind, (None, bool))
    if pattern and (match := pattern.match(folded, start)) and is_one(match[0]):
        return match.span()
    may_be_han = name.kind in _IN_HAN and how in ("direct", "han", "env")
    han = _HAN_WORDS.match(folded, start) if may_be_han else None
    return han.span() if han and values.is_said_in_han(han[0], name.kind == "saying" or is_quoted) else None


def _wrapped(text: str, name: Name, start: int) -> Found:
    """The value in the brackets or emphasis that open at `start`, if it is a secret."""
    wrapped = _WRAPPED.match(text, start)
    if not wrapped:
        return None
    said = Said(wrapped["value"], "aside" if _OF_PLACES.search(wrapped["open"]) else "joined", False, "")
    return wrapped.span("value") if values.is_secret(name.kind, said) else None


def _is_setting(text: str, at: int, sign: re.Match[str]) -> bool:
    """Whether a name ends a variable of the environment in YAML."""
    return sign["direct"] == ":" and text[max(0, at - 1)] == "_" and text[sign.start("direct") - 1].isupper()


def _is_last(text: str, at: int, said: Said) -> bool:
    """Whether a name, a comma and a value are all, and no part of a list."""
    return bool(_END_OF_CLAUSE.match(said.rest)) and "," not in said.value + _line_before(text, at)


def _line_before(text: str, at: int) -> str:
    """What stands on the line before `at`; of a long line its end."""
    begin = max(0, at - _MAX_LABEL_CHARS)
    return text[max(begin, text.rfind("\n", begin, at) + 1) : at]


def _is_label(text: str, at: int) -> bool:
    """Whether little stands on the line before `at`, and no sentence; a line that is «pass» is Python."""
    line = text.rfind("\n", max(0, at - _MAX_LABEL_CHARS), at) + 1
    if text.startswith("pass\n", at) and text[line:at].isspace():
        return False
    return (line > 0 or at < _MAX_LABEL_CHARS) and not _SENTENCE.search(text, line, at)


_SENTENCE = lazily(r"[,;!?。，；！？={}]|\w\. ")


def _seed(folded: str, after: int) -> Found:
    """The words of a seed phrase (BIP 39)."""
    found = _SEED.match(folded, after) or _SEED_HAN.match(folded, after)
    return found.span("words") if found and len(set(found["words"].split())) not in _NO_SEED else None


_LINK = lazily(
    r"(?: {1,2}(?:as|is|for) (?:the|my|our|his|her|their|your|a)(?: [a-z\-]{1,12})? | {1,2}as "
    r"| ?[(\[【](?:[a-z]{0,8} ?|[\u4e00-\u9fff]{0,4})"
    r"| ?这[个组串]| ?(?:[当做]作?|作为|是|为)(?:[我你他她]们?|咱)?的?(?:[a-z]{0,8} ?|[\u4e00-\u9fff]{0,4}))\Z"
)
_LINK_CHARS = 32
_USE = lazily(r"(?<![a-z])(?:use|used|using|put|enter|type|try|set|take|have|has) [\"'`(]{0,2}\Z")
_ANOTHER = lazily(
    r"[a-z]{1,12}(?:[_\-][a-z]|s? (?:hash\w*|field|format|manager|store|column|algorithm|name|type|policy)(?![a-z]))"
)
"""Another thing than a password: use argon2id as the password hash."""
_VISIBLE = lazily(r"[!-~]")
_MAY_LINK = lazily(r"[ (\[【当做作为是个组串](?:(?<! )|(?=(?:as|is|for) ))")
"""Every `_LINK` has one of these."""
_BEFORE = lazily(r"(?<![!-~])[!-~]{4,64}\Z")
_ATTRIBUTE = lazily(r"[\w:\-]{1,40}=[\"']")
"""What stands before the first word in an attribute of a tag."""


AFTER_VALUE = ("password", "passcode", "one-time", "api-key", "token", "secret")
"""Kinds of names that may stand after their value."""


def value_before(near: Near, name: Name, at: int) -> Found:
    """«X as the password», 用 X 當密碼, X（密碼）, «X is your verification code», «X, that's the password»."""
    if linked := _linked_before(near, name, at):
        return linked
    text, begin = near.text, max(0, at - _MAX_APART_CHARS)
    return _apart(name, text, max(begin, text.rfind("\n", begin, at) + 1), at)


def _linked_before(near: Near, name: Name, at: int) -> Found:
    text, folded = near.text, near.folded
    begin = max(0, at - _LINK_CHARS)
    if not _VISIBLE.search(folded, begin, at) or not _MAY_LINK.search(folded, begin, at):
        return None  # no value can stand there
    link = _LINK.search(folded, begin, at)
    found = link and _BEFORE.search(folded, max(0, link.start() - 65), link.start())
    if not found:
        return None
    if link and link[0] == " as " and text[at + len(name.text) : at + len(name.text) + 1].isalnum():
        return None  # V1 as PassThrough
    begin, end = found.span()
    if near.has_tags and (opened := _ATTRIBUTE.match(text, begin, end)):
        begin = opened.end()
    word = text[begin:end].rstrip("\"'`")
    value = word.lstrip("\"'`(:=,")
    begin += len(word) - len(value)
    if name.kind == "one-time":
        is_one = values.is_secret("one-time", Said(value, "space", False, ""))
    elif name.kind not in _LISTED:
        is_one = is_random(value) and values.is_secret(name.kind, Said(value, "space", False, ""))
    elif link and link[0].lstrip()[:1] in ("(", "[", "【"):  # «str (password)» is code
        is_one = values.is_secret("argument", Said(value, "next", True, ""))
    else:
        how = "option" if _USE.search(folded, max(0, begin - 16), begin) else "space"
        is_one = len(value) >= 6 and not _ANOTHER.match(folded, at)
        is_one = is_one and values.is_secret("password", Said(value, how, False, ""))
    return (begin, begin + len(value)) if is_one else None


def value_before_in_tag(near: Near, name: Name, at: int) -> Found:
    """The value in the tag whose later attribute holds a name: attributes have no order."""
    if not (near.has_tags and _in_tag(near.text, at, _MAX_TAG_CHARS)):
        return None
    begin = near.text.rfind("<", max(0, at - _MAX_TAG_CHARS), at)
    found = _BEFORE_IN_TAG.search(near.text, begin, at)
    if not found or not values.is_secret(name.kind, Said(found["value"], "pair", bool(found["quote"]), "")):
        return None
    return found.span("value")


def _in_tag(text: str, at: int, reach: int = 80) -> bool:
    opened = text.rfind("<", max(0, at - reach), at)
    begins = text[opened + 1 : opened + 2]
    return opened >= 0 and (begins.isalpha() or begins in "/?") and text.find(">", opened, at) < 0


def _said(text: str, start: int, opened: str, how: str, kind: str) -> Said | None:
    """The value at `start`, after the quotes or emphasis `opened`, and how it is written."""
    if kind in ("id-number", "bank-account"):
        if iban := numbers.iban_at(text, start):
            return Said(text[start:iban], how, bool(opened), "")
        match = _NUMBER.match(text, start)
        return Said(match[0].rstrip(" -."), how, bool(opened), "") if match else None
    if opened[-2:] in ("''", '""', "``") and len(opened) == 2:
        return None  # nothing is between the quotes
    quote = opened[-1:] if opened[-1:] not in ("*", "_") else ""
    if quote:
        end = text.find(_QUOTES.get(quote, quote), start, start + _MAX_VALUE_CHARS)
        line_end = text.find("\n", start, start + _MAX_VALUE_CHARS)
        if end > start and not start <= line_end < end:
            return Said(text[start:end], how, True, text[end + 1 : end + 20])
    match = _BARE.match(text, start)
    if not match:
        return None
    cut = _CUT.search(match[0], 1)
    value = match[0][: cut.start()] if cut else match[0]
    if kind in _KEYED_IN:
        value = _NO_KEY.split(value, maxsplit=1)[0]
    value = value.rstrip(",;:)]}*").rstrip("\\")
    if text[start + len(value) : start + len(value) + 1] > "\u3000":
        value = value.rstrip("([{")  # 密碼：Tiger2024（公司）
    rest = text[start + len(value) : start + len(value) + 40].partition("\n")[0]
    return Said(value, how, bool(quote), rest) if value else None
