from __future__ import annotations

from runner.definitions.step_inputs import idempotency_key


def test_an_idempotency_key_ignores_the_session_and_nothing_else():
    key = idempotency_key("run_1", "a", {"x": 1})
    assert key == idempotency_key("run_1", "a", {"x": 1}, b'{"x":1}'), "the text is only there to be used"
    assert key == idempotency_key("run_1", "a", {"_session_id": "ses_1", "x": 1})
    assert key == idempotency_key("run_1", "a", {"_session_id": "ses_1", "x": 1}, b'{"_session_id":"ses_1","x":1}')
    assert key == idempotency_key("run_1", "a", {"_session_id": "ses_2", "x": 1})
    others = {
        idempotency_key("run_1", "a", {"x": 2}),
        idempotency_key("run_1", "b", {"x": 1}),
        idempotency_key("run_2", "a", {"x": 1}),
        idempotency_key("run_1", "a", {"x": 1, "nested": {"_session_id": "ses_1"}}),
    }
    assert len(others | {key}) == 5
    assert len(key) == 64
