"""Dataclasses behave the same with the methods that starts give them."""

import dataclasses
import pickle
import sys
from dataclasses import FrozenInstanceError, dataclass, field

import pytest

from app.dataclass_methods import share_methods

#: What `share_methods` replaces.
REPLACED = ("_repr_fn", "_cmp_fn", "_hash_fn", "_frozen_get_del_attr")


def declare():
    @dataclass(frozen=True, slots=True)
    class Point:
        x: float
        y: float = 0.0
        note: str = field(default="", compare=False, repr=False)

    @dataclass(frozen=True)
    class One:
        only: object

    @dataclass(frozen=True)
    class Empty:
        pass

    @dataclass
    class Open:
        items: list = field(default_factory=list)
        hidden: int = field(default=1, hash=False)

    @dataclass(frozen=True, order=True)
    class Ordered:
        rank: int
        name: str

    @dataclass(frozen=True)
    class Child(One):
        more: int = 2

    @dataclass(eq=False)
    class Plain:
        value: int

    class Loose(One):
        pass

    return Point, One, Empty, Open, Ordered, Child, Plain, Loose


@pytest.fixture(params=["as Python has it", "as a start has it"])
def kinds(request, monkeypatch):
    if request.param == "as a start has it":
        if sys.version_info >= (3, 13):
            share_methods()  # leaves them alone
        else:
            for name in REPLACED:
                monkeypatch.setattr(dataclasses, name, getattr(dataclasses, name))
            share_methods()
            assert all(getattr(dataclasses, name).__module__ == share_methods.__module__ for name in REPLACED)
    return declare()


def test_equality_and_hashes(kinds):
    Point, One, Empty, Open, _, Child, Plain, Loose = kinds
    assert Point(1, 2, "a") == Point(1, 2, "b")
    assert hash(Point(1, 2, "a")) == hash(Point(1, 2, "b")) == hash((1, 2))
    assert Point(1, 2) != Point(2, 1)
    assert Point(1, 2).__eq__((1, 2)) is NotImplemented
    assert hash(One(5)) == hash((5,))
    assert Empty() == Empty()
    assert hash(Empty()) == hash(())
    assert Empty() != One(1)
    nan = float("nan")
    assert One(nan) == One(nan), "one object equals itself inside a tuple"
    assert Open([1]) == Open([1])
    assert Open.__hash__ is None
    assert Child(1) != One(1)
    assert Loose(1) != One(1)
    assert Plain(1) != Plain(1)
    with pytest.raises(TypeError, match="unhashable"):
        hash(One([]))


def test_what_is_shown(kinds):
    Point, One, Empty, Open, *_ = kinds
    assert repr(Point(1, 2, "secret")).endswith("Point(x=1, y=2)")
    assert repr(Point(1)) == f"{Point.__qualname__}(x=1, y=0.0)"
    assert repr(Empty()).endswith("Empty()")
    round_and_round = Open()
    round_and_round.items.append(round_and_round)
    assert repr(round_and_round).endswith("Open(items=[...], hidden=1)")
    assert repr(One("é")).endswith("One(only='é')")


def test_frozen_ones_stay_as_they_are(kinds):
    Point, One, Empty, _, _, Child, _, Loose = kinds
    for frozen, name in ((Point(1), "x"), (One(1), "only"), (One(1), "new"), (Empty(), "new"), (Child(1), "more")):
        with pytest.raises(FrozenInstanceError, match=f"cannot assign to field '{name}'"):
            setattr(frozen, name, 3)
        with pytest.raises(FrozenInstanceError, match=f"cannot delete field '{name}'"):
            delattr(frozen, name)
    loose = Loose(1)
    loose.new = 4
    assert loose.new == 4
    del loose.new
    with pytest.raises(FrozenInstanceError):
        loose.only = 2
    assert dataclasses.replace(Point(1), y=5.0) == Point(1, 5.0)


def test_order(kinds):
    Ordered = kinds[4]
    assert sorted([Ordered(2, "a"), Ordered(1, "b"), Ordered(1, "a")])[0] == Ordered(1, "a")
    assert Ordered(1, "a") <= Ordered(1, "a")
    assert Ordered(1, "a").__lt__(1) is NotImplemented


def test_methods_are_named_after_their_class(kinds):
    for kind in kinds[:3]:
        for name in ("__repr__", "__eq__", "__setattr__", "__delattr__"):
            assert getattr(kind, name).__qualname__ == f"{kind.__qualname__}.{name}"


def test_pickles(kinds, monkeypatch):
    Point = kinds[0]
    monkeypatch.setattr(sys.modules[__name__], "Point", Point, raising=False)
    Point.__qualname__ = "Point"
    assert pickle.loads(pickle.dumps(Point(1, 2))) == Point(1, 2)
