"""Which flight or message of the implementation is which of the model: matched by all that is shown of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar

from sharedkv_conformance.contract.probe import ControlMessage, Flight

Shown = TypeVar("Shown", bound=Flight | ControlMessage)
UNSHOWN = -1
"""The number of what the model has and was not shown."""


class Numbers(Generic[Shown]):
    """The numbers of one kind of things, as they were shown so far."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.model_number: dict[int, int] = {}

    def of_model(self, number: int) -> int:
        """Return the number in the model of what was shown by a number."""
        return self.model_number.get(number, UNSHOWN)

    def shown(self, number: int) -> int | None:
        """Return the number by which a thing of the model was shown."""
        return next((shown for shown, own in self.model_number.items() if own == number), None)

    def matched(self, due: Sequence[Shown], given: Sequence[Shown]) -> list[tuple[int, Shown]]:
        """Return the things of the model as they have to be shown, each behind its number in the model.

        Those that were shown before come first, as they were shown; of the others the order is that of what was given.
        """
        names = {own: shown for shown, own in self.model_number.items()}
        left = [each for each in given if self.number(each) not in self.model_number]
        known: list[tuple[int, Shown]] = []
        new: list[tuple[int, Shown]] = []
        for each in due:
            own = self.number(each)
            if own in names:
                known.append((own, self.renumbered(each, names[own])))
                continue
            found = next((other for other in left if self.renumbered(other, own) == each), None)
            if found is not None:
                left.remove(found)
            new.append((own, found if found is not None else self.renumbered(each, UNSHOWN)))
        order = {self.number(each): place for place, each in enumerate(given)}
        ages = {shown: age for age, shown in enumerate(self.model_number)}
        known.sort(key=lambda pair: ages[self.number(pair[1])])
        return [*known, *sorted(new, key=lambda pair: order.get(self.number(pair[1]), len(order)))]

    def learn(self, due: Sequence[Shown], given: Sequence[Shown]) -> None:
        """Take note of numbers."""
        for own, each in self.matched(due, given):
            if self.number(each) != UNSHOWN:
                self.model_number[self.number(each)] = own

    def number(self, each: Shown) -> int:
        """Return the number of a thing."""
        number: int = getattr(each, self.name)
        return number

    def renumbered(self, each: Shown, number: int) -> Shown:
        """Return a thing with another number."""
        named: dict[str, Any] = {self.name: number}
        return replace(each, **named)
