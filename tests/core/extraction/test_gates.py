"""What the gates keep out of the profile although its words look like a preference, and its near misses."""

from __future__ import annotations

import pytest

from vault_memory.core.extraction import explain, extract
from vault_memory.core.extraction.skills import TECHNOLOGY_LISTS
from vault_memory.core.memorable import memorable


def _learned(said: str) -> set[tuple[str, str]]:
    """Keys and values that a message writes or suggests."""
    return {(signal.key, signal.value) for signal in extract(said)}


@pytest.mark.parametrize(
    "said",
    [
        "我們沒有用 Docker",
        "我們沒用 Docker",
        "我们没用 Redis",
        "沒有用 Angular",
        "We didn't use Angular",
        "We never actually used Angular",
        "忘了 Docker 吧",
        "Remember to forget that I use Vim",
    ],
)
def test_a_technology_that_is_not_used_is_not_learned(said: str) -> None:
    assert _learned(said) == set()


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("我們用 Docker", "Docker"),
        ("別忘了我在用 Docker", "Docker"),
        ("We don't use Angular, we use React", "React"),
        ("我沒用 Angular，用的是 React", "React"),
        ("I didn't use Docker until last year, now I use Docker every day", "Docker"),
    ],
)
def test_one_that_is_used_beside_it_is_learned(said: str, value: str) -> None:
    assert {learned for _, learned in _learned(said)} == {value}


@pytest.mark.parametrize(
    "said",
    [
        "我是高中物理老師，教書十二年了",
        "I've been a chef for twenty years",
        "我是新手爸爸",
        "我是鋼琴初學者",
        "I'm a beginner at yoga",
        "就當我是你的老闆",
    ],
)
def test_the_level_of_another_craft_is_none(said: str) -> None:
    assert "level" not in dict(_learned(said))


@pytest.mark.parametrize(
    ("said", "level"),
    [
        ("我是新手", "beginner"),
        ("I'm a beginner at programming", "beginner"),
        ("我是 Python 初學者", "beginner"),
        ("我是老師，寫程式的新手", "beginner"),
        ("我寫程式寫了十年", "advanced"),
        ("I've been a backend developer for twenty years", "advanced"),
        ("I lead a team of six developers now, talk to me accordingly", "advanced"),
        ("高一生，程式完全沒寫過，老師叫我們交一個網頁", "beginner"),
        ("honestly I'm intermediate at best", "intermediate"),
        ("I'd call myself an expert at this, skip the basics", "advanced"),
        ("你就當我是內行，名詞直接用", "advanced"),
        ("treat me as a beginner at music theory", "beginner"),
        ("我是錄音師，做了二十年，術語隨便用", "advanced"),
    ],
)
def test_that_of_work_with_computers_is_one(said: str, level: str) -> None:
    assert dict(_learned(said))["level"] == level


@pytest.mark.parametrize("said", ["最后决定了，我们用 Kafka 做消息队列", "We're going with Terraform for the infra"])
def test_the_choice_of_a_technology_is_a_decision_and_no_project(said: str) -> None:
    assert "current_projects" not in dict(_learned(said))
    assert [each.kind for each in memorable(said)] == ["decision"]


@pytest.mark.parametrize(
    "said",
    [
        "我们用 Flutter 做一个记账 App",
        "我要用 Pygame 做賽車遊戲送給我姪子",
        "我用 Django 幫診所做掛號系統，病人要能收到簡訊",
        "We picked Django for the new library catalogue",
    ],
)
def test_what_is_built_with_a_technology_is_a_project(said: str) -> None:
    assert "current_projects" in dict(_learned(said))


def test_a_wish_for_a_style_may_open_with_what_seems_or_is_imagined() -> None:
    assert ("response_style", "step-by-step") in _learned("好像在看天書，能不能一步一步講")


@pytest.mark.parametrize(
    "said",
    [
        "想像一下我決定辭職，然後去環島",
        "设想我在北京工作，怎么通勤",
        "想像我住在巴黎",
        "試想我每天跑步",
        "Picture this: I live in Tokyo",
        "聽說我們公司決定換成 Go",
        "據說我們公司決定搬到台中",
        "好像我們公司決定搬家",
        "Rumour has it we decided to move to Berlin",
    ],
)
def test_what_is_imagined_or_heard_is_neither_learned_nor_a_memory(said: str) -> None:
    assert _learned(said) == set()
    assert memorable(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "我們公司決定搬到台中",
        "我喜歡想像力豐富的小說",
        "聽說你會記事情，我喜歡咖啡",
        "我在聽說讀寫裡最喜歡寫",
        "Picture books are my favourite",
        "I love this picture: I live near the sea",
    ],
)
def test_the_same_words_in_a_statement_leave_it_one(said: str) -> None:
    assert len(memorable(said)) == 1


@pytest.mark.parametrize("text", ["我" * 200_000, "我" * 40 + "。", "a" * 50_000, "x " * 500_000, "哈\n" * 30])
def test_a_sign_that_is_repeated_says_nothing(text: str) -> None:
    """A key that was held down is no wish for short answers."""
    assert extract(text, "ok") == [] and explain(text) == []


@pytest.mark.parametrize(
    "said",
    [
        "我差點改用 Vim",
        "我們差點用了 Rust",
        "I nearly switched to Vim",
        "我應徵的公司用 Rust",
        "我面試的公司用 Kotlin",
        "我拒絕了一家寫 Java 的公司",
        "I turned down a job at a Kotlin shop",
        "昨天夢見我在寫 Java",
        "我上一份工作用 Rust",
        "In my last job we used Rust",
        "I play Go every weekend",
        "我喜歡下圍棋 (Go)",
        "我開 Swift",
        "My Swift (the car) broke down",
        "I like Julia, my colleague",
        "I went to school with Dart",
    ],
)
def test_what_nearly_came_is_of_another_job_or_another_word_is_no_technology(said: str) -> None:
    assert not {key for key, _ in _learned(said)} & {*TECHNOLOGY_LISTS}


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("I work at a Kotlin shop", "Kotlin"),
        ("I write Go every weekend", "Go"),
        ("I almost only use Go", "Go"),
        ("我寫 Swift", "Swift"),
        ("I like Julia, my friend uses R", "Julia"),
        ("I used Rust in my last job and I still use Rust", "Rust"),
        ("我面試上了，新公司用 Kotlin", "Kotlin"),
    ],
)
def test_the_same_names_in_use_are(said: str, value: str) -> None:
    assert ("languages", value) in _learned(said)


@pytest.mark.parametrize("said", ["我在首爾出差", "我在東京轉機", "我在巴黎度假", "I'm in Seoul on a business trip"])
def test_where_somebody_is_for_a_while_sets_no_time_zone(said: str) -> None:
    assert "timezone" not in dict(_learned(said))


@pytest.mark.parametrize(
    ("said", "zone"),
    [
        ("記得我現在在法蘭克福打工度假，所有時間都換算成這邊的", "Europe/Berlin"),
        ("出差到雪梨兩個月，交付時間請都寫成這邊的幾點", "Australia/Sydney"),
    ],
)
def test_on_a_trip_times_may_be_asked_for_as_they_are_there(said: str, zone: str) -> None:
    assert dict(_learned(said))["timezone"] == zone


@pytest.mark.parametrize(("said", "zone"), [("我住首爾", "Asia/Seoul"), ("我在東京工作", "Asia/Tokyo")])
def test_where_somebody_lives_sets_it(said: str, zone: str) -> None:
    assert dict(_learned(said))["timezone"] == zone


def _zones(said: str) -> list[str]:
    """The time zones that a message sets, or suggests, in a profile that has one."""
    heard = extract(said, existing={"timezone": "Asia/Taipei"})
    return [each.value for each in heard if each.key == "timezone"]


@pytest.mark.parametrize(
    "said",
    [
        "我想搬到溫哥華",
        "我好想搬到倫敦",
        "我打算搬到柏林",
        "我考慮搬到紐約",
        "我明年要搬到東京",
        "我夢想搬到巴黎",
        "我可能會搬到倫敦",
        "我差點搬到東京",
        "我老闆叫我搬到東京",
        "我想住在東京",
        "我想移居加拿大溫哥華",
        "我希望能搬到溫哥華",
        "我好想住溫哥華",
        "I'd love to move to Vancouver",
        "I may move to Paris",
        "I'm moving to Paris next year",
        "我太太搬到東京了",
        "我公司搬到東京了",
        "我把網站搬到法蘭克福了",
        "We moved the database to Singapore",
        "My team moved to Berlin",
        "我女兒住在倫敦",
        "我姊姊移居溫哥華了",
        "我們的伺服器搬到東京了",
        "我們總公司搬到新加坡了",
        "我爸媽叫我搬回高雄",
        "我一直想住在巴黎",
        "我沒有搬到東京",
        "我不住在東京",
        "My sister lives in London",
        "My parents moved to Tokyo",
        "Our office moved to Singapore",
        "Our servers live in Frankfurt",
        "We moved our servers to Frankfurt",
        "I almost moved to Tokyo",
        "I wish I lived in Paris",
        "I hope to move to Berlin",
        "I was going to move to Berlin",
        "If I moved to Berlin I'd be happier",
        "I can't move to London",
        "My boss wants me to move to Tokyo",
        "I dream of living in Paris",
        "I'm thinking about moving to Seoul",
        "I might live in Tokyo one day",
        "Someday I'll live in Paris",
        "我朋友住東京",
        "我客戶在東京",
        "我要是搬到東京就好了",
        "我計畫移居柏林",
        "我同事搬去首爾了",
        "我去年差一點搬去倫敦",
        "我本來要搬到東京",
        "他叫我搬到首爾",
        "我在東京出生",
        "我在日本東京長大",
        "我在东京工作过",
        "我在東京住過兩年",
        "我在巴黎念大學",
        "我在倫敦待過三年",
        "我昨天在東京",
        "我在東京認識我太太",
        "我在東京買了這台相機",
        "我在东京有很多朋友",
        "我在首爾吃烤肉",
        "我大三在巴黎交換",
        "我曾住在首爾",
    ],
)
def test_a_wish_a_plan_and_others_set_no_time_zone(said: str) -> None:
    assert _zones(said) == []


@pytest.mark.parametrize("reply", ["", "好的", "Nice, how was the transport?"])
@pytest.mark.parametrize(
    "said",
    [
        "我把錢轉到新加坡了",
        "我把貓送到洛杉磯了",
        "我把航班改到伦敦了",
        "我將存款移到新加坡",
        "我寄了三箱衣服到首爾",
        "我钱都转到新加坡了",
        "我搬了一箱書到東京",
        "我的鋼琴搬到東京了",
        "我在遊戲裡搬到東京了",
        "I moved my piano to Paris.",
        "My piano moved to Paris.",
        "I moved all my books to Berlin.",
        "I shipped my car to Berlin.",
        "I relocated my servers to Singapore.",
        "I moved to Tokyo in the game.",
    ],
)
def test_a_thing_that_its_person_moves_sets_no_time_zone_whatever_the_reply(said: str, reply: str) -> None:
    heard = extract(said, reply, existing={"timezone": "Asia/Taipei"})
    assert [each.value for each in heard if each.key == "timezone"] == []


@pytest.mark.parametrize(
    "said",
    [
        "我把家搬到東京了",
        "公司把我調到新加坡了",
        "我換到東京上班了",
        "我回到東京了",
        "我搬了家到首爾",
        "I moved my family to Paris",
        "I moved permanently to Berlin",
        "I moved a year ago to Seoul",
        "我搬到東京了",
        "我上個月搬到倫敦了",
        "我們搬到柏林了",
        "我現在住在紐約",
        "我住東京",
        "我人在溫哥華",
        "我已經移居柏林了",
        "我跟太太搬到東京了",
        "我們全家搬到溫哥華了",
        "上週搬到首爾了",
        "我因為工作搬到新加坡了",
        "我在日本東京",
        "我還在東京",
        "我在紐約市區工作",
        "我在倫敦讀博",
        "我在首爾當老師",
        "我在柏林住了五年了",
        "我在慕尼黑修管風琴，鐘照這裡的",
        "I moved to Berlin",
        "I live in Paris now",
        "We moved to London",
        "My wife and I moved to Tokyo",
        "I'm based in Singapore",
        "I relocated to Vancouver for work",
        "After ten years in Leeds I moved to Berlin",
        "I have moved to Seoul",
        "Moved to Berlin last week",
        "I'm in Tokyo now, so use my local time",
        "我在東京工作，時間用當地的",
        "我搬來東京一年了",
        "I've been living in Berlin since May",
        "Since May I live in Berlin",
        "I finally moved to Paris",
        "My family and I live in London",
        "I live by New York time, give me times in that",
        "I moved my clinic to Lisbon, so put all appointment times in Lisbon time",
    ],
)
def test_where_the_person_lives_sets_it(said: str) -> None:
    assert len(_zones(said)) == 1


@pytest.mark.parametrize(
    "said",
    [
        "我同事不用 Docker 了，改用 Podman",
        "我老闆不用 Docker 了，改用 Podman",
        "我室友從 Docker 換到 Podman",
        "我同學放棄 Docker，改用 Podman",
        "隔壁組不用 Docker 了，換 Podman",
        "我朋友改用 Podman 了",
        "我弟弟把 Docker 換成 Podman 了",
        "My boss switched from Docker to Podman",
        "My friend moved to Podman",
        "A colleague of mine uses Podman now",
        "Her team switched to Podman",
        "我學長現在都用 Podman",
        "我哥用 Podman",
        "他們公司改用 Podman 了",
        "My brother dropped Docker and uses Podman",
        "My manager dropped Docker and moved to Podman",
        "我們老師不用 Docker 了，改用 Podman",
        "Tom switched from Docker to Podman",
        "小明改用 Podman 了",
    ],
)
def test_what_somebody_else_uses_is_not_learned(said: str) -> None:
    assert not any(value == "Podman" for _, value in _learned(said))


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("Netflix 用 Java 寫後端", "Java"),
        ("微信是用 C++ 写的", "C++"),
        ("特斯拉的系統是用 Linux", "Linux"),
        ("Airbnb 的前端是 React 做的", "React"),
        ("Discord 是用 Elixir 寫的", "Elixir"),
        ("B站是用 Go 写的", "Go"),
        ("淘宝用 Java 做的", "Java"),
        ("抖音的后端用 Go", "Go"),
        ("LINE 的伺服器用 Erlang", "Erlang"),
        ("GitHub 是用 Ruby 写的", "GitHub"),
        ("Minecraft 是 Java 寫的", "Java"),
        ("他們的網站是用 Django 做的", "Django"),
        ("这个游戏是用 Unity 做的", "Unity"),
        ("Netflix uses Java for the backend", "Java"),
        ("Twitter uses Scala for its backend", "Scala"),
        ("Figma 用 Rust 寫渲染", "Rust"),
        ("Notion 用 Kotlin 写后端", "Kotlin"),
        ("Figma 的核心是用 C++ 寫的", "C++"),
        ("Plantly runs on Django", "Django"),
        ("My boss's app Plantly is great. Plantly is built with Django", "Django"),
        ("I use an app called Plantly. Plantly is built with Django", "Django"),
        ("My favourite app is Plantly. Plantly is built with Django", "Django"),
        ("I'm building a plugin for Plantly. Plantly runs on Django", "Django"),
        ("I love my Figma setup. Figma is written in Rust", "Rust"),
        ("我同事的專案叫 Plantly，Plantly 的後端用 Django", "Django"),
        ("我在用一個叫 Plantly 的 app，Plantly 的後端用 Django", "Django"),
        ("我在做 Plantly 的插件，Plantly 的後端用 Django", "Django"),
        ("我最常用的 app 是 Plantly，Plantly 的后端用 Django", "Django"),
        ("Their website is built with Django", "Django"),
    ],
)
@pytest.mark.parametrize("reply", ["", "是的"])
def test_what_a_product_or_others_things_are_made_with_is_not_learned(said: str, value: str, reply: str) -> None:
    assert value not in {each.value for each in extract(said, reply)}


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("我們的網站是用 Django 做的", "Django"),
        ("網站是用 Django 做的", "Django"),
        ("這個網站是用 Django 做的", "Django"),
        ("後端用 FastAPI", "FastAPI"),
        ("公司用 Java", "Java"),
        ("毕设是用 Vue 做的", "Vue"),
        ("Telegram bot 是用 Python 寫的", "Python"),
        ("My project Plantly runs on Django", "Django"),
        ("I'm building Plantly, a garden app. Plantly runs on Django", "Django"),
        ("Plantly is our startup. Plantly runs on Django", "Django"),
        ("我做了一個 app 叫 Plantly。Plantly 的後端用 Django", "Django"),
        ("我正在開發 Plantly，Plantly 的後端用 Django", "Django"),
        ("我开发了一款叫 Plantly 的应用，Plantly 后端是用 Django 写的", "Django"),
        ("我們的專案叫 Plantly，Plantly 的後端用 Django", "Django"),
        ("核心是用 Rust 寫的", "Rust"),
        ("VS Code 用 Python 寫腳本", "Python"),
        ("Python 用 FastAPI 寫後端", "FastAPI"),
        ("一開始是用 PHP 寫的", "PHP"),
        ("大二用 Java 写的", "Java"),
        ("CLI 是用 Go 寫的", "Go"),
        ("我的遊戲是用 Unity 做的", "Unity"),
        ("我在 Netflix 用 Java", "Java"),
        ("我哥公司的網站是 Drupal，我接手維護", "Drupal"),
        ("We use Java at Netflix", "Java"),
        ("Our backend uses Java", "Java"),
        ("My cooperative uses Odoo", "Odoo"),
        ("仿真用 Julia 写的", "Julia"),
    ],
)
def test_what_the_persons_things_are_made_with_is_learned(said: str, value: str) -> None:
    assert value in {each for _, each in _learned(said)}


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("我不用 Docker 了，改用 Podman", "Podman"),
        ("我們放棄 Docker，改用 Podman", "Podman"),
        ("我們團隊改用 Podman 了", "Podman"),
        ("我同事推薦，我改用 Podman 了", "Podman"),
        ("My boss made us switch to Podman, we use it every day now", "Podman"),
        ("We switched from Docker to Podman", "Podman"),
        ("I use Podman now", "Podman"),
        ("我學長教我用 Podman，我現在都用 Podman", "Podman"),
        ("跟同事一樣，我改用 Podman 了", "Podman"),
        ("我們家系統把 MySQL 汰換成 MariaDB，上禮拜切完的", "MariaDB"),
        ("小明改用 Podman 了，所以我跟著用 Podman", "Podman"),
        ("我們小組改用 Podman 了", "Podman"),
    ],
)
def test_what_the_person_uses_beside_others_is_learned(said: str, value: str) -> None:
    assert value in {learned for _, learned in _learned(said)}


@pytest.mark.parametrize(
    "said",
    [
        "My favorite season is spring",
        "I love spring",
        "I like spring and autumn",
        "I prefer spring to summer",
        "I live near Spring Street",
        "I love gin and tonic",
        "I live in Phoenix",
        "I love Django Reinhardt",
        "I like remix music",
        "I prefer express trains",
        "I like echo chambers",
        "I love rails and trains",
        "I love unity among people",
        "I like crystal and candles",
        "I love my oracle cards",
        "I live in Java",
        "Spring is my favorite season",
        "I drink gin",
        "I moved to Phoenix",
        "I like oak and ember colors",
        "I love a good flask of tea",
        "I love backbone and grit in people",
        "I enjoy long express bus rides",
        "I love swift birds",
        "I love rust colored leaves",
        "I prefer gin over vodka",
        "I adore meteor showers",
        "My favorite flower blooms in spring",
        "I love the ruby ring my mom gave me",
        "I love salsa and dart games",
        "i love swift little birds",
        "I moved to Java last year, the island",
        "I was born in Phoenix",
        "I enjoy fish on Fridays",
        "I love poetry",
        "I love the smell of jasmine",
        "my wife loves orchid flowers",
        "I like mocha in the morning",
        "I hate celery",
        "I collect yarn",
        "I love apollo missions and rocket launches",
        "I drink mocha every morning",
        "I love meteor showers in August",
        "I like bun and noodle soups",
        "I miss spring",
        "我在 Slack 上班",
        "I work at Oracle",
    ],
)
def test_an_ordinary_word_is_no_technology(said: str) -> None:
    assert not any(key in TECHNOLOGY_LISTS for key, _ in _learned(said))


@pytest.mark.parametrize(
    "said",
    [
        "I love Spring Boot",
        "I prefer Spring for backends",
        "I use Spring at work",
        "I love Django",
        "I prefer Express over Fastify",
        "I use Gin for APIs",
        "I love Rails",
        "We use Phoenix with Elixir",
        "I like Remix better than Next.js",
        "I love Unity",
        "I write Crystal",
        "I use Oracle",
        "I love Java",
        "I prefer Flask",
        "My favorite framework is Spring",
        "I love Rust",
        "I like Swift",
        "i love rust",
        "i prefer flask",
        "i like swift a lot",
        "i love rust and go",
        "i love java and hiking",
        "I like python and coffee",
        "i like rust better",
        "i like rust more than anything",
        "i prefer express for my apis",
        "i love unity engine",
        "i use gin",
        "i write dart every day",
        "i prefer vim",
        "we use phoenix",
        "i love elm honestly",
        "i love flask because it is small",
        "i like working with ember",
        "I love Phoenix",
        "I prefer Remix",
        "I like Unity most",
        "I love Oracle",
        "I use Slack at work",
    ],
)
def test_a_technology_with_an_ordinary_name_is_learned(said: str) -> None:
    assert any(key in TECHNOLOGY_LISTS for key, _ in _learned(said))


@pytest.mark.parametrize(
    ("note", "said", "goes"),
    [
        ("don't ever forget about my dog", "Remind me not to forget my tea", False),
        ("don't ever forget about my dog", "forget about my tea", False),
        ("my lessons are about painting", "Forget what I said about my tea", False),
        ("my green tea order", "Don't forget my green tea order", False),
        ("my painting lessons are on Sunday", "I must not forget my painting lessons", False),
        ("我的牙醫預約在週五", "千萬不要忘掉我的牙醫預約", False),
        ("不要忘掉我的牙醫預約", "忘掉我的雨傘", False),
        ("don't ever forget about my dog", "forget about my dog", True),
        ("my painting lessons are on Sunday", "Forget my painting lessons", True),
        ("my painting lessons are on Sunday", "Don't forget to delete the note about my painting lessons", True),
        ("我的牙醫預約在週五", "忘掉我的牙醫預約", True),
    ],
)
def test_a_note_goes_only_where_its_matter_is_taken_back(note: str, said: str, goes: bool) -> None:
    """That a note asks not to forget a thing, and a message asks to forget another one, does not make it that."""
    heard = extract(said, existing={"note": [note]})
    assert [signal.value for signal in heard if signal.op == "remove"] == ([note] if goes else [])
