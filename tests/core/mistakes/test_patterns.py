"""B3: what mistakes have in common, by type and by similar text, with counts, trend and the latest prevention."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests import pace
from vault_memory.core.mistakes import Mistake, patterns

NOW = datetime(2026, 3, 31, 12, tzinfo=UTC)


def mistake(
    number: int, action: str, days_ago: float | None, error_type: str = "other", prevention: str = ""
) -> Mistake:
    at = None if days_ago is None else NOW - timedelta(days=days_ago)
    return Mistake(
        id=f"mistake_{number}_x", action=action, error_type=error_type, created_at=at, prevention_method=prevention
    )


def test_by_type_in_any_spelling() -> None:
    found = patterns(
        [
            mistake(1, "a", 70, "Deployment_Error", "look at CI"),
            mistake(2, "b", 40, "deployment-error", "run the tests"),
            mistake(3, "c", 2, "deployment error"),
            mistake(4, "d", 1, "typo"),
            mistake(5, "e", None, "ｔｙｐｏ"),
        ],
        NOW,
    )
    assert [(each.error_type, each.count, each.trend) for each in found.by_type] == [
        ("deployment error", 3, "steady"),
        ("typo", 2, "rising"),
    ]
    deploy, typo = found.by_type
    assert deploy.prevention_method == "run the tests" and deploy.ids == ("mistake_3_x", "mistake_2_x", "mistake_1_x")
    assert (deploy.recent, deploy.earlier) == (1, 1) and deploy.first_at == NOW - timedelta(days=70)
    assert typo.last_at == typo.first_at == NOW - timedelta(days=1) and typo.prevention_method == ""
    assert found.total == 5 and found.by_month == {"2026-01": 1, "2026-02": 1, "2026-03": 2}


def test_by_similar_text_whatever_the_type() -> None:
    found = patterns(
        [
            mistake(1, "沒有跑測試就部署到正式環境", 50, "a"),
            mistake(2, "没跑测试，又直接部署到正式环境", 3, "b", "先看 CI"),
            mistake(3, "Deployed before the tests had been run", 9, "c"),
            mistake(4, "Deploying without running tests", 35, "d"),
            mistake(5, "簡報每一頁都塞滿文字", 1, "a"),
        ],
        NOW,
    )
    assert [each.ids for each in found.similar] == [("mistake_2_x", "mistake_1_x"), ("mistake_3_x", "mistake_4_x")]
    assert found.similar[0].action.startswith("没跑测试") and found.similar[0].prevention_method == "先看 CI"
    assert found.similar[0].trend == found.similar[1].trend == "steady"


def test_how_it_is_done_rightly_stands_in_for_a_prevention() -> None:
    one = Mistake(id="mistake_1_x", action="a", correct_method="b", created_at=NOW)
    assert patterns([one], NOW).by_type[0].prevention_method == "b"
    assert patterns([], NOW).as_dict() == {"total": 0, "by_type": [], "similar": [], "by_month": {}}


def test_it_takes_a_time_in_proportion_to_their_number() -> None:
    """All alike, and all different but for one word that each of them has."""

    def alike(count: int) -> None:
        patterns([mistake(n, "deployed without running the tests", n) for n in range(count)], NOW)

    def different(count: int) -> None:
        found = patterns(
            [mistake(n, f"migration of table{n} at host{n} for team{n}", n % 90) for n in range(count)], NOW
        )
        assert found.total == count and found.similar == ()

    for run in (alike, different):
        pace.assert_in_proportion(run, 4_000)
