"""What a message asks to be forgotten, and of which memories that is meant (rows E8, R2)."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pace import assert_at_most
from vault_memory.core.memorable import memorable, to_forget, without_requests

LABELLED = Path(__file__).parents[2] / "data/memorable/forgetting.jsonl"


def goes(memory: str, said: str) -> bool:
    return any(asked.means(memory) for asked in to_forget(said))


def test_labelled_requests() -> None:
    """Nothing goes that nobody asks for; nineteen in twenty of the others do."""
    rows = [json.loads(line) for line in LABELLED.read_text("utf-8").splitlines()]
    assert not [row for row in rows if not row["goes"] and goes(row["memory"], row["said"])]
    asked = [row for row in rows if row["goes"]]
    missed = [row for row in asked if not goes(row["memory"], row["said"])]
    assert len(missed) <= 0.05 * len(asked), missed


@pytest.mark.parametrize(
    ("said", "words", "is_sure"),
    [
        ("forget about my guitar lessons", "guitar lessons", True),
        ("把我喜歡爵士樂的事忘了", "我喜歡爵士樂", True),
        ("刪掉關於長笛的記憶", "長笛", True),
        ("You can forget what I told you about my dog, thanks", "dog", True),
        ("Forget about coffee.", "coffee", False),
    ],
)
def test_what_is_named_is_told_in_the_persons_words(said: str, words: str, is_sure: bool) -> None:
    (asked,) = to_forget(said)
    assert (asked.words, asked.is_sure) == (words, is_sure)


@pytest.mark.parametrize(
    "said",
    [
        "忘掉一切",
        "忘掉所有的事",
        "把一切都忘掉",
        "把所有的事都忘了",
        "别再记得一切",
        "你能忘掉全部的事情吗",
        "删掉所有的事",
        "请删除关于我的所有资料",
        "删除关于我的所有东西",
        "刪除關於我的所有資料",
        "忘掉我所有的資料",
        "忘掉我的一切",
        "Forget everything.",
        "forget everything about me",
    ],
)
def test_everything_that_is_known_may_be_meant(said: str) -> None:
    assert [asked.is_everything for asked in to_forget(said)] == [True]


@pytest.mark.parametrize(
    "said",
    [
        "我忘了一切",
        "我把所有的事都忘了",
        "忘了一切",
        "我真想忘掉一切",
        "怎麼忘掉一切",
        "忘掉剛才說的一切",
        "删除所有资料",
        "delete everything",
        "forget everything I just said",
        "Forget everything, let's start over",
    ],
)
def test_all_of_something_else_is_no_request(said: str) -> None:
    assert to_forget(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "forget about coffee, let's talk about trains",
        "Forget coffee for a moment",
        "忘了它吧",
        "別忘了我喜歡咖啡",
        "刪除我們的 Kafka topic",
        "Delete the coffee branch",
        "Forget I asked",
        "delete that file",
        "刪掉這個函式",
        "remove the MongoDB dependency",
        "Delete everything about auth from the README",
        "把關於登入的段落刪掉",
        "Forget that last message please",
        "剛剛那句當我沒說",
        "pretend you are a pirate",
    ],
)
def test_a_change_of_subject_and_a_task_are_no_requests(said: str) -> None:
    assert to_forget(said) == []


def test_what_says_just_that_fits_better_than_what_says_more() -> None:
    (asked,) = to_forget("please forget that I like coffee")
    assert (
        asked.fits("I love coffee") > asked.fits("I love black coffee in the morning") > asked.fits("I love tea") == 0
    )


def test_a_dropped_subject_is_all_that_a_memory_is_about() -> None:
    (asked,) = to_forget("Forget about tests.")
    assert asked.means("I love tests") and not asked.means("We run the tests before each deploy")


def test_a_request_is_no_memory_and_a_task_leaves_the_rest_of_its_sentence() -> None:
    assert memorable("我不想讓你記得我彈鋼琴") == []
    assert [each.kind for each in memorable("Delete it, I love oolong tea")] == ["preference"]


@given(
    st.text(alphabet="我你忘記掉刪把喜歡茶的事這件,，。 forget delete that I like tea about my memory of", max_size=80)
)
def test_any_text_is_read(text: str) -> None:
    for asked in to_forget(text):
        assert asked.what and asked.words and asked.fits(text) in (0, 1, 2)


def test_reading_takes_its_time() -> None:
    for text in ("forget that " * 200, "請把" * 600, "我說過" * 400, "about the memory of " * 100, "忘了" * 700):
        assert_at_most(20, partial(to_forget, text))


@pytest.mark.parametrize(
    ("memory", "said"),
    [
        ("我喜歡貓頭鷹", "忘了我喜歡貓"),
        ("我喜歡茶葉蛋", "忘了我喜歡茶"),
        ("我喜歡花椰菜", "忘了我喜歡花"),
        ("I like hot dogs", "forget that I like dogs"),
        ("I like coffee cake", "forget that I like coffee"),
        ("I work at the Ford Foundation", "forget that I work at Ford"),
        ("I play ice hockey", "forget that I play ice"),
        ("我住新北投", "忘掉我住新北"),
        ("我住新北投公園旁", "忘掉我住新北"),
        ("我住南京西路", "忘掉我住南京"),
        ("我住台中港", "忘掉我住台中"),
        ("我叫小明輝", "忘掉我叫小明"),
        ("我常去新北投", "刪掉關於新北的記憶"),
    ],
)
def test_a_thing_whose_name_begins_with_another_is_not_that(memory: str, said: str) -> None:
    assert [asked.means(memory) for asked in to_forget(said)] == [False]


@pytest.mark.parametrize(
    ("memory", "said"),
    [
        ("我超愛黑咖啡", "忘了我喜歡咖啡"),
        ("I love black coffee in the morning", "forget that I like coffee"),
        ("We decided to use Redis for caching", "forget that we decided to use Redis"),
        ("我們決定用 MongoDB 存訂單", "把我們選了 MongoDB 的事刪掉"),
        ("我住台南安平", "忘掉我住台南"),
        ("我住新北市板橋區", "忘掉我住新北"),
        ("我住在新北投", "忘掉我住新北投"),
        ("我住高雄三年了", "忘掉我住高雄"),
    ],
)
def test_a_sort_of_a_thing_is_that(memory: str, said: str) -> None:
    assert [asked.means(memory) for asked in to_forget(said)] == [True]


@pytest.mark.parametrize(
    "said",
    [
        "忘掉我喝酒",
        "忘掉我吃辣",
        "關於我游泳的記憶請刪除",
        "取消記住我每天喝咖啡",
        "請刪掉我養狗的紀錄",
        "我不想再讓你記著我養貓",
    ],
)
def test_what_is_to_be_forgotten_is_not_kept(said: str) -> None:
    assert to_forget(said) and not memorable(said, "")


@pytest.mark.parametrize(
    ("memory", "said"),
    [
        ("My cat is called Nimbus", "Forget everything about my cat."),
        ("我家有隻柴犬", "關於我柴犬的事請忘記"),
        ("我每週練瑜伽", "有關我瑜伽的記錄請清除"),
        ("We decided to use RabbitMQ for the queue", "Forget our decision to use RabbitMQ"),
    ],
)
def test_a_thing_of_the_person_is_enough(memory: str, said: str) -> None:
    assert goes(memory, said)
    assert not goes("I like the old plan", "Forget everything about the old plan, we start again")


@pytest.mark.parametrize(
    "said",
    [
        "Forget everything about me",
        "Delete everything you know about me",
        "忘掉關於我的一切",
    ],
)
def test_everything_is_understood_and_deletes_nothing(said: str) -> None:
    (asked,) = to_forget(said)
    assert asked.is_everything and not asked.means("I know that you told me about me") and not asked.means("我喜歡我")


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("我喜歡爬山那件事就當我沒說過", "我喜歡爬山"),
        ("我愛爬山這事，就當我沒說過吧", "我愛爬山"),
        ("Pretend I never mentioned the cello", "cello"),
        ("Delete everything about Finnish you remember", "Finnish"),
        ("forget the thing about my knee", "knee"),
        ("I take back what I said about durian", "durian"),
        ("Forget that my name is Anna", "my name is Anna"),
    ],
)
def test_what_is_taken_back_or_named_otherwise_is_a_request(said: str, words: str) -> None:
    assert [(asked.words, asked.is_sure) for asked in to_forget(said)] == [(words, True)]


@pytest.mark.parametrize(
    ("memory", "said", "left"),
    [
        ("I play the oboe and keep three goldfish", "forget that I play the oboe", "I keep three goldfish"),
        ("我是老師，住在台南，喜歡登山", "忘掉我住在台南", "我是老師，喜歡登山"),
        ("我喜歡茶、咖啡和可可", "忘了我喜歡可可", "我喜歡茶和咖啡"),
        ("I like tea because it calms me, and coffee", "forget that I like tea", "I like coffee"),
        ("I play the oboe, like tea and coffee", "forget that I like tea", "I play the oboe and I like coffee"),
        ("I like coffee and tea but hate cola", "forget that I hate cola", "I like coffee and tea"),
        ("I like coffee, tea and figs, but I hate cola", "forget that I hate cola", "I like coffee, tea and figs"),
        (
            "I like coffee, tea and figs, but I hate cola",
            "forget that I like figs",
            "I like coffee and tea, but I hate cola",
        ),
        ("I like tea but hate cola and milk", "forget that I hate cola", "I like tea but I hate milk"),
        ("我喜歡貓跟狗，也喜歡兔子", "忘掉我喜歡兔子", "我喜歡貓跟狗"),
        ("我會彈鋼琴和吉他，在教數學", "忘掉我教數學", "我會彈鋼琴和吉他"),
        ("I'm a nurse and live in Rome", "forget that I'm a nurse", "I live in Rome"),
        ("I have a dog called Rex and I play the cello", "forget what I told you about my dog", "I play the cello"),
        ("I like tea, coffee and cocoa", "Forget about coffee.", "I like tea and cocoa"),
        ("I like tea, coffee and cocoa", "forget that I like tea and coffee", "I like cocoa"),
        ("I like tea, coffee and cocoa", "forget that I like tea, coffee and cocoa", ""),
        ("I love tea, my wife loves coffee", "forget that I love tea", ""),
        ("我喜歡和牛", "忘掉我喜歡牛", ""),
        ("我养了一只猫，还会弹吉他", "忘记我养猫", "我会弹吉他"),
        ("I have a dog and can play the piano", "forget that I have a dog", "I can play the piano"),
        ("我有一個妹妹，住在台南", "忘記我有一個妹妹", ""),
        ("我有一個弟弟，會彈吉他", "忘記我有一個弟弟", ""),
    ],
)
def test_the_part_that_is_meant_goes(memory: str, said: str, left: str) -> None:
    """The rest is a statement of its own; what says nothing alone goes with the part before it."""
    (asked,) = to_forget(said)
    cut = asked.cut(memory)
    assert cut.left == left and cut.fit and (cut.gone == memory) == (left == "")


@pytest.mark.parametrize(
    ("memory", "said"),
    [
        ("I like rock and roll", "forget that I like rock"),
        ("I like mac and cheese", "forget that I like mac"),
        ("I love New York and Paris", "forget that I love York"),
        ("I play the oboe and swim", "forget that I swim in the sea"),
    ],
)
def test_one_thing_of_two_words_is_no_list(memory: str, said: str) -> None:
    (asked,) = to_forget(said)
    assert asked.cut(memory).fit == 0


@given(st.text(alphabet="我你茶狗和、，,. and but I like tea dogs keep 喜歡討厭養", min_size=1, max_size=60))
def test_any_text_is_taken_apart(text: str) -> None:
    """What is left is never empty, and never all."""
    for said in ("forget that I like tea", "忘掉我喜歡茶"):
        cut = to_forget(said)[0].cut(text)
        assert cut.left != text and (cut.left == "") == (cut.gone == text)


@pytest.mark.parametrize(
    "said",
    [
        "忘了喝咖啡",
        "忘了喝牛奶",
        "忘了打籃球",
        "忘了跑步",
        "忘了看電影",
        "忘记喝咖啡了",
        "忘了吃肉",
        "忘了去健身房",
        "忘了餵貓",
        "忘記開會",
    ],
)
def test_who_has_forgotten_to_do_something_asks_for_nothing(said: str) -> None:
    assert to_forget(said) == []


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ("忘了咖啡", "咖啡"),
        ("忘了我的狗", "狗"),
        ("忘掉喝咖啡", "喝咖啡"),
        ("請忘記我打籃球", "我打籃球"),
        ("忘記喝咖啡這件事", "喝咖啡"),
        ("把打籃球忘掉", "打籃球"),
    ],
)
def test_the_same_words_with_a_thing_or_a_request_ask_for_it(said: str, what: str) -> None:
    assert [each.words for each in to_forget(said)] == [what]


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ("我住羅馬也忘掉", "我住羅馬"),
        ("我愛披薩也請忘掉", "我愛披薩"),
        ("我愛披薩這件事也忘掉吧", "我愛披薩"),
        ("我養貓也刪掉", "我養貓"),
        ("我爱披萨这事儿你就忘了吧", "我爱披萨"),
        ("我愛披薩，忘掉吧", "我愛披薩"),
        ("我喜歡咖啡，這個請忘掉", "我喜歡咖啡"),
        ("我在學德文的事不要留", "我在學德文"),
        ("I love pizza, please forget it", "I love pizza"),
        ("I live in Rome, forget that too", "I live in Rome"),
        ("I play the piano, delete that please", "I play the piano"),
        ("Don't keep that I love pizza", "I love pizza"),
        ("Remember to forget that I use Vim", "I use Vim"),
        ("記得忘掉我用 Vim", "我用 Vim"),
    ],
)
def test_a_request_behind_what_it_names_is_one_and_no_memory(said: str, what: str) -> None:
    assert [(each.words, each.is_said) for each in to_forget(said)] == [(what, True)]
    assert memorable(said) == [] and not any(part.isalnum() for part in without_requests(said))


@pytest.mark.parametrize(
    "said",
    [
        "我寫的檔案也刪掉",
        "密碼我忘了",
        "我住哪也忘了",
        "我學過法文都忘了",
        "我有一個檔案，刪掉",
        "I have a file, remove it",
        "I love pizza, but forget it",
        "I live in Rome, don't forget that",
        "我住羅馬，別忘了",
        "我住羅馬，這段刪掉",
    ],
)
def test_a_task_and_what_the_person_has_forgotten_are_none(said: str) -> None:
    assert to_forget(said) == []


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("忘掉我愛披薩，還有我住羅馬", ["我愛披薩", "我住羅馬"]),
        ("忘掉我愛披薩，也忘掉我住羅馬", ["我愛披薩", "我住羅馬"]),
        ("忘掉我愛披薩，我住羅馬也忘掉", ["我愛披薩", "我住羅馬"]),
        ("忘掉我愛披薩。我住羅馬也一起忘掉", ["我愛披薩", "我住羅馬"]),
        ("忘掉我愛披薩和我住哪裡", ["我愛披薩", "我住哪裡"]),
        ("忘掉我住哪裡跟我愛披薩", ["我住哪裡", "我愛披薩"]),
        ("Forget that I love pizza, and where I live", ["I love pizza", "where I live"]),
        ("Forget that I love pizza; also that I live in Rome", ["I love pizza", "I live in Rome"]),
        ("Forget that I love pizza. And that I live in Rome.", ["I love pizza", "I live in Rome"]),
        ("Forget my job, and my dog", ["job", "dog"]),
        ("Forget that I love pizza, and tell me a joke", ["I love pizza"]),
        ("Forget that I love pizza. I live in Rome.", ["I love pizza"]),
        ("忘掉我愛披薩，還有教我德文", ["我愛披薩"]),
    ],
)
def test_each_request_of_a_message_is_one(said: str, named: list[str]) -> None:
    assert [each.words for each in to_forget(said)] == named


def test_a_place_of_work_means_what_may_be_there() -> None:
    """An editor is one of the tools; each is found by its name."""
    for said in ("忘掉我的編輯器", "Forget my editor", "forget which editor I use"):
        (asked,) = to_forget(said)
        assert [asked.means(each) for each in ("我用 Vim", "I use VS Code", "我用 Docker")] == [True, True, False]
        assert any("vim" in each.split() for each in asked.found_by)


@pytest.mark.parametrize(
    ("content", "request_", "left", "is_more"),
    [
        ("I teach history and on Sundays I sail", "Forget that I sail", "I teach history", False),
        ("I work in a bank, and in the evenings I paint", "Forget that I paint", "I work in a bank", False),
        ("I'm a teacher, on weekends I sail", "Forget that I sail", "I'm a teacher", False),
        ("In winter I ski, in summer I sail", "Forget that I sail", "In winter I ski", False),
        ("I teach history, but these days I mostly sail", "Forget that I sail", "", True),
        ("我住根特，養了一隻狗叫阿福，平常畫畫", "忘掉我養狗的事", "我住根特", True),
        ("我住根特，養了一隻狗叫阿福", "忘掉我養狗的事", "我住根特", False),
        ("I play the oboe, and I keep goldfish on weekends", "Forget that I keep goldfish", "I play the oboe", False),
        ("I sail", "Forget that I sail", "", False),
        ("I live in Ghent", "Forget where I live", "", False),
        ("我住根特", "忘掉我住哪裡", "", False),
        ("I live in Ghent because of my job", "Forget where I live", "", True),
    ],
)
def test_what_goes_with_it_stays_or_is_told(content: str, request_: str, left: str, is_more: bool) -> None:
    cut = to_forget(request_)[0].cut(content)
    assert (cut.fit > 0, cut.left, cut.is_more) == (True, left, is_more)


@pytest.mark.parametrize(
    ("content", "said", "left"),
    [
        ("我住在淡水", "忘掉我住哪裡", ""),
        ("I live in Cork", "forget where I live", ""),
        ("I live near Leeds", "forget where I live", ""),
        ("I live in the countryside", "forget where I live", ""),
        ("我住在鄉下", "忘掉我的地址", ""),
        ("我住在台北", "忘掉我住的地方", ""),
        ("我住在台北", "我住哪裡請你刪掉", ""),
        ("我住在台北", "別存我住哪裡", ""),
        ("我住在台北", "我不想讓你知道我住哪裡", ""),
        ("I live in Leeds", "You needn't keep where I live", ""),
        ("我養了一隻狗", "忘掉狗的事", ""),
        ("我喜歡喝茶", "忘掉茶的事", ""),
        ("我喜欢打篮球和游泳", "忘掉我喜欢打篮球", "我喜欢游泳"),
        ("我養了兩隻兔子，住在宜蘭", "忘記我住宜蘭", "我養了兩隻兔子"),
    ],
)
def test_what_was_not_found(content: str, said: str, left: str) -> None:
    """Where one lives is a place, whatever else its word is, or in what, near what or with whom; a thing of one
    character is a matter, too; and more ways to ask."""
    (asked,) = to_forget(said)
    assert asked.cut(content).fit and asked.cut(content).left == left


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("我喜歡吃熱狗", "忘掉狗的事"),
        ("我住院三天", "忘掉我住哪裡"),
        ("I live for music", "forget where I live"),
        ("I live on coffee", "forget where I live"),
        ("我有一個妹妹，住在台南", "忘記我住台南"),
        ("My dentist lives in Cork", "forget where I live"),
    ],
)
def test_what_is_not_meant_stays(content: str, said: str) -> None:
    """The near misses of these."""
    assert [asked.cut(content).fit for asked in to_forget(said)] == [0]


def test_two_kinds_at_once() -> None:
    """Two kinds of things of one's own are two requests; 別存我的檔案 is a task."""
    assert [asked.words for asked in to_forget("忘掉我的工作跟寵物")] == ["工作", "寵物"]
    assert [asked.fits("我養了一隻狗") for asked in to_forget("忘掉我的工作跟寵物")] == [0, 1]
    for task in ("別存我的檔案", "我不想讓你知道答案", "you needn't keep the comments", "不用保留我在第三行加的註解"):
        assert not to_forget(task)


@pytest.mark.parametrize(
    ("content", "said", "is_more"),
    [
        ("I drive a Mazda", "Forget my car", False),
        ("I drive a Mazda", "Forget what you know about my car", False),
        ("I ride a Yamaha", "Forget my motorbike", False),
        ("我開一輛福特", "忘掉車的事", False),
        ("我最喜欢的电影是泰坦尼克号", "忘掉我最喜欢的电影", False),
        ("我最喜欢的电影是泰坦尼克号", "忘掉我最喜欢的电影是什么", False),
        ("My favorite movie is Titanic", "忘掉我最喜欢哪部电影", False),
        ("我最喜歡的食物是拉麵", "Forget my favorite food", False),
        ("我每週上瑜伽課", "忘掉瑜珈的事", False),
        ("我養了一隻柴犬", "忘掉狗的事", False),
        ("I have a beagle", "forget about my dog", False),
        ("My cat is called Mochi", "forget my cat's name", False),
        ("我的貓叫麻糬", "忘掉我的貓叫什麼", False),
        ("I have a beagle named Otis", "forget my dog's name", True),
        ("I live in Leeds", "Would you mind forgetting where I live?", False),
        ("I live in Leeds", "Remove where I live from memory", False),
        ("I live in Leeds", "Where I live: forget it", False),
        ("我喜欢喝咖啡", "别记我喜欢喝什么了，忘了吧", False),
        ("I like ramen", "Forget what I like to eat", False),
        ("我喜歡聽爵士樂", "忘掉我喜歡聽什麼", False),
        ("My favorite author is Borges", "Forget who my favorite author is", False),
    ],
)
def test_a_kind_tells_what_is_meant(content: str, said: str, is_more: bool) -> None:
    """By what the categories and what one does with a thing say of its kind: a Mazda is driven, a beagle is a dog."""
    (asked,) = to_forget(said)
    cut = asked.cut(content)
    assert (cut.fit > 0, cut.left, cut.is_more) == (True, "", is_more)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("I run a bakery", "Forget my car"),
        ("I have a bike", "Forget my car"),
        ("I ride a scooter", "Forget my bike"),
        ("I drive a Mazda", "Forget my bike"),
        ("我開一家咖啡店", "忘掉我的車"),
        ("I love corgis", "Forget my dog"),
        ("I have a corgi", "Forget my cat"),
        ("我喜歡茶葉蛋", "忘掉茶的事"),
        ("我喜歡咖啡色", "忘掉咖啡的事"),
        ("My favorite movie is Titanic", "Forget my favorite book"),
        ("I play the cello", "Forget my favorite instrument"),
        ("My cat is called Mochi", "Forget my dog's name"),
        ("我養了一隻貓", "忘掉我的貓叫什麼"),
        ("我喜歡吃壽司", "忘掉我喜歡喝什麼"),
        ("我喜歡聽爵士樂", "忘掉我喜歡看什麼"),
    ],
)
def test_another_kind_is_not_meant(content: str, said: str) -> None:
    """The near misses of these: they are requests, and answered, and nothing goes."""
    assert [asked.cut(content).fit for asked in to_forget(said)] == [0]


@pytest.mark.parametrize(
    "said",
    [
        "Forget the car, take the train",
        "忘掉車的事，我們搭捷運吧",
        "忘掉工作，好好休息",
        "I forget, do I love sushi?",
        "Forget my favorite movie, what's playing tonight?",
        "我最喜歡的電影刪掉了",
        "我忘了我最喜歡的電影是什麼",
        "別忘了我喜歡喝什麼",
        "Would you mind removing where I live from the README?",
        "Where do I live? Oh, forget it",
        "Forgetting my keys is what I do",
    ],
)
def test_what_only_sounds_like_a_request_is_none(said: str) -> None:
    assert not to_forget(said)


def test_a_request_that_nothing_answers_is_a_request() -> None:
    """So the answer can say that nothing was found."""
    assert [asked.words for asked in to_forget("忘掉我最怕什麼")] == ["我最怕什麼"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("我喜歡釣魚", "就當我沒說過我喜歡釣魚"),
        ("我喜欢钓鱼", "你就当我没说过喜欢钓鱼吧"),
        ("我住在花蓮", "就當我沒告訴過你我住哪裡"),
        ("我喜歡打桌球", "就當我沒提過打桌球的事"),
        ("我最愛吃火鍋", "我最愛吃火鍋這條不要了"),
        ("我讨厌榴莲", "我讨厌榴莲这条作废"),
        ("我念法律系", "請不要保留我念法律系的資訊"),
        ("我喜欢喝可乐", "别存我喜欢喝可乐的信息"),
        ("I love techno", "Scratch what I said about techno."),
        ("I love techno", "Scratch that thing about techno."),
        ("I live in Ghent", "Please don't keep in mind where I live."),
        ("I live in Ghent", "I'd rather you didn't keep that I live in Ghent."),
        ("I have two dogs", "Never mention or remember my dogs again."),
        ("I work as a locksmith", "Don't remember my job."),
        ("我的職業是鎖匠", "忘掉我的職業"),
        ("I study law", "Get rid of what I told you about my studies."),
        ("我家有一隻鸚鵡", "把我家鸚鵡的事刪掉"),
        ("我家养了两只狗", "把我家的狗的事忘掉"),
        ("I have a hamster", "No need to keep what I told you about my hamster."),
        ("I play the harp", "I'd rather you not keep that I play the harp"),
        ("I play the harp", "Let's just pretend I never mentioned the harp"),
        ("I study geology", "Forget what I'm studying"),
        ("我住在屏東", "我不想讓你保留我住哪裡"),
        ("我家有三隻貓", "我家貓咪的事，請忘了"),
        ("我家有三隻貓", "我們家的貓請忘掉"),
        ("我喜歡看恐怖片", "關於恐怖片的事請忘掉"),
        ("我喜歡看恐怖片", "關於恐怖片的那件事，麻煩你忘掉"),
    ],
)
def test_a_request_takes_what_it_means_and_is_not_kept(content: str, said: str) -> None:
    """However it is said: as never told, as not to be kept, behind what it names; by a kind or a matter."""
    (asked,) = to_forget(said)
    assert asked.cut(content).fit and not memorable(said)


@pytest.mark.parametrize(
    "said",
    [
        "scratch that, let's get pizza",
        "I need to scratch my dog behind the ears",
        "Don't save the chess game yet",
        "Don't keep the job running overnight",
        "I'd rather you didn't keep the comments",
        "Keep in mind where I live",
        "Don't save my notes about jazz in that folder",
        "No need to keep the kettle on",
        "別留我在新竹",
        "我家的貓請你記得餵",
        "I never mention my dogs at work",
        "我沒說過我喜歡釣魚嗎",
        "當我沒說話的時候，我在想釣魚",
        "可樂這條不要了，換成雪碧",
        "咖啡不要了",
        "不要保存我在銀行的帳號檔",
        "關於卡通的段落請刪掉",
        "關於資工系的事我忘了",
        "我把科幻片的事忘了",
        "我永遠忘不了我養的兩隻貓",
    ],
)
def test_near_misses_of_these_take_nothing(said: str) -> None:
    assert not to_forget(said)


def test_a_reminder_is_kept_as_what_it_reminds_of() -> None:
    assert [each.content for each in memorable("千萬別忘了我開計程車")] == ["我開計程車"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("I have a corgi named Otis", "forget that I have a dog"),
        ("我養了一隻柴犬叫小白", "請不要再記得我有養狗"),
        ("我养了一只英短叫团子", "忘掉我有猫这件事"),
        ("I have a tabby", "stop remembering that I have a cat"),
        ("I drive a Honda", "forget that I have a car"),
        ("I play the cello", "forget that I play an instrument"),
        ("我養了兩隻烏龜", "忘掉我有寵物"),
        ("我每天抽一包菸", "你不用記得我抽菸"),
        ("我每天抽一包烟", "我抽烟的事你别记了"),
        ("我打了十年的羽球", "忘記我打羽球"),
        ("我學鋼琴學了十年", "忘掉我學鋼琴"),
        ("我每天喝三壺茶", "忘掉我喝茶"),
        ("我每個禮拜去健身房三次", "麻煩把我上健身房的事從記憶裡刪掉"),
        ("我養了一隻貓", "忘掉我養的貓"),
        ("我不吃牛肉", "我不吃牛的事情不用記"),
        ("我不吃豬肉", "不要記得我不吃豬"),
        ("I speak Welsh", "no need to keep a record of me speaking Welsh"),
        ("I moved from Google to Meta", "forget where I work"),
        ('I live in "The Shire" near Bath', "forget where I live"),
        ("我收集郵票", "幫我忘記郵票"),
        ("I collect stamps", "please forget stamps"),
        ("I play chess", "don't keep a note about me playing chess"),
        ("I have a hamster", "please keep no record of my hamster"),
        ("我每个月看两场电影", "我看电影的事你别记了"),
        ("我每天喝兩杯咖啡", "我有喝咖啡這件事別再記了"),
        ("I have a beagle", "erase from memory that I have a dog"),
    ],
)
def test_a_statement_means_what_says_it_more_closely(content: str, said: str) -> None:
    """Of a sort of the thing, or with how much, how long and where."""
    (asked,) = to_forget(said)
    assert asked.cut(content).fit


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("I love corgis", "forget that I have a dog"),
        ("I love corgis", "forget that I love dogs"),
        ("I have a table next to my dog", "forget that I have a dog"),
        ("I have a corgi", "forget that I have a cat"),
        ("I have a dog", "forget that I have a corgi"),
        ("I don't have a dog", "forget that I have a dog"),
        ("我買了一包菸", "忘掉我抽菸"),
        ("我不抽菸", "忘掉我抽菸"),
        ("我住台北", "忘掉我住台灣"),
        ("我养了一只羊", "忘掉我不吃羊"),
        ("我在健身房工作", "忘掉我上健身房"),
        ("我有一台本田", "忘掉我有機車"),
        ("I moved from Vim to Emacs", "forget where I work"),
        ("I moved from sales to support", "forget where I work"),
        ('I live for "Friends"', "forget where I live"),
        ("我收集郵票的故事", "幫我忘記郵票"),
    ],
)
def test_what_says_something_else_stays(content: str, said: str) -> None:
    """The near misses of these."""
    assert [asked.cut(content).fit for asked in to_forget(said)] == [0]


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("烏龜的事情請從你的記憶裡移除", ["烏龜"]),
        ("我收到的邀請請從記憶裡刪掉", ["收到的邀請"]),
        ("刪掉你對我愛看棒球的記憶", ["我愛看棒球"]),
        ("我剛剛說我在學跳舞，你別記下來", ["我在學跳舞"]),
        ("Forget where I live and forget my job", ["where I live", "job"]),
        ("Forget where I live and delete the file", ["where I live"]),
        ("忘掉我住哪裡和忘掉我的工作", ["我住哪裡", "工作"]),
        ("吃辣那個不用記啦", ["吃辣"]),
        ("btw the pizza thing, forget it", ["pizza"]),
        ("could we pretend I never said I play squash?", ["I play squash"]),
        ("I told you that I play the oboe, please don't write that down", ["I play the oboe"]),
        ("我剛才說我住在嘉義，別存下來", ["我住在嘉義"]),
        ("剛才我說我會說西班牙文，請不要存", ["我會說西班牙文"]),
        ("麻煩從你的記憶裡把賽車刪掉", ["賽車"]),
        ("techno stuff, please remove it from your memory", ["techno"]),
        ("Delete where I live and forget where I work", ["where I live", "where I work"]),
        ("don't keep a note about me playing chess", ["me playing chess"]),
    ],
)
def test_what_stands_around_is_not_what_is_named(said: str, named: list[str]) -> None:
    """Politeness, where it is to go from, whose memory it is, when it was said, a verb that is said again."""
    assert [asked.words for asked in to_forget(said)] == named


@pytest.mark.parametrize(
    "said",
    ["別再記得我說的話", "不要再記得我說過的話", "請不要再記得我告訴你的任何事", "stop remembering what I say"],
)
def test_all_that_was_said_is_everything(said: str) -> None:
    assert [asked.is_everything for asked in to_forget(said)] == [True]


@pytest.mark.parametrize(
    "said",
    [
        "我在學跳舞，你別記下來",
        "我剛說我要買茶，你別忘了",
        "我剛剛說的數字你不要記錯",
        "鑰匙那個，我忘了",
        "牛奶那個刪掉",
        "第三章那個不用記",
        "會議那個不用記",
        "remove the login thing",
        "the login thing, delete it",
        "The meeting thing, forget it, let's move on",
        "Should we pretend I never said that?",
        "don't keep a record of my commits",
        "從記憶卡裡刪掉照片",
        "別忘記我說的話",
        "Never forget what I tell you",
    ],
)
def test_what_points_at_something_else_is_no_request(said: str) -> None:
    assert not to_forget(said)
