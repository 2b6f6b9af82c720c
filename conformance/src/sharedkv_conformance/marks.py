"""The marks that tie code to sentences: laws, witnesses, checks, mutants and benign variants.

Ids and slugs in marks are string literals, because `govctl` reads them from the source without importing it.
Marks record; they register nothing. The catalogue collects them from an explicit list of modules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

LawFunction = Callable[[Any, Any, Any], Iterable[str]]
Predicate = Callable[[Any, Any, Any], bool]
Marked = TypeVar("Marked")


@dataclass(frozen=True, kw_only=True)
class Law:
    """A pure function of one step, bound to one statement: yields what is wrong with the answer, or nothing.

    `on` names the operations whose answers it sees. `history` is the kind of history that it judges, where that is
    not the one of its statement's facet.
    """

    name: str
    statement: str
    on: frozenset[str]
    violations: LawFunction
    meaning: str
    history: str = ""

    def __call__(self, before: Any, call: Any, answer: Any) -> Iterable[str]:
        """Yield each way in which the answer breaks the law."""
        return self.violations(before, call, answer)


@dataclass(frozen=True, kw_only=True)
class Witness:
    """A predicate of one step that says whether a check's trigger occurred in it, in a kind of history as a law's."""

    name: str
    on: frozenset[str]
    occurred: Predicate
    history: str = ""


@dataclass(frozen=True, kw_only=True)
class Check:
    """What a check function is bound to. `needs` are features beyond the facet that it cannot run without."""

    slug: str
    statements: tuple[str, ...]
    function: Callable[..., None]
    witnesses: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()

    @property
    def facet(self) -> str:
        """Return the facet word, which every slug begins with."""
        return self.slug.partition(".")[0]

    @property
    def required_features(self) -> frozenset[str]:
        """Return every feature that must be claimed for the check to apply."""
        return frozenset({self.facet, *self.needs})

    @property
    def meaning(self) -> str:
        """Return the one sentence that says what would go wrong for a user."""
        return (self.function.__doc__ or "").strip().partition("\n")[0]


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A wrong variant of the model: breaks one statement, and others only as `also` explains."""

    slug: str
    kills: str
    variant: type
    also: Mapping[str, str] = field(default_factory=dict)

    @property
    def meaning(self) -> str:
        """Return the one sentence that says what is wrong."""
        return (self.variant.__doc__ or "").strip().partition("\n")[0]


@dataclass(frozen=True, kw_only=True)
class Benign:
    """An odd but right variant of the model: passes every MUST, and every SHOULD that it does not decline."""

    slug: str
    variant: type
    declines: Mapping[str, str] = field(default_factory=dict)

    @property
    def meaning(self) -> str:
        """Return the one sentence that says what is odd."""
        return (self.variant.__doc__ or "").strip().partition("\n")[0]


def law(statement: str, *, on: str | tuple[str, ...], history: str = "") -> Callable[[LawFunction], Law]:
    """Bind a law to its statement, to the operations that it judges and to the kind of history."""

    def bind(function: LawFunction) -> Law:
        meaning = (function.__doc__ or function.__name__.replace("_", " ")).strip().partition("\n")[0]
        return Law(
            name=function.__name__,
            statement=statement,
            on=_names(on),
            violations=function,
            meaning=meaning,
            history=history,
        )

    return bind


def witness(*, on: str | tuple[str, ...], history: str = "") -> Callable[[Predicate], Witness]:
    """Make a witness of a predicate; its name is the function's."""

    def bind(function: Predicate) -> Witness:
        return Witness(name=function.__name__, on=_names(on), occurred=function, history=history)

    return bind


def check(
    slug: str,
    *statements: str,
    witnesses: tuple[str, ...] = (),
    cases: tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
    depends_on: tuple[str, ...] = (),
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Bind a check function to its statements. It stays a function, so that pytest collects it."""

    def bind(function: Callable[..., None]) -> Callable[..., None]:
        bound = Check(
            slug=slug,
            statements=statements,
            function=function,
            witnesses=witnesses,
            cases=cases,
            needs=needs,
            depends_on=depends_on,
        )
        vars(function)["kvconform_check"] = bound
        return function

    return bind


def mutant(slug: str, *, kills: str, also: Mapping[str, str] | None = None) -> Callable[[type[Marked]], type[Marked]]:
    """Mark a variant of a model as wrong."""

    def bind(variant: type[Marked]) -> type[Marked]:
        variant.kvconform_mutant = Mutant(slug=slug, kills=kills, variant=variant, also=also or {})  # type: ignore[attr-defined]
        return variant

    return bind


def benign(slug: str, *, declines: Mapping[str, str] | None = None) -> Callable[[type[Marked]], type[Marked]]:
    """Mark a variant of a model as odd but right."""

    def bind(variant: type[Marked]) -> type[Marked]:
        variant.kvconform_benign = Benign(slug=slug, variant=variant, declines=declines or {})  # type: ignore[attr-defined]
        return variant

    return bind


def _names(on: str | tuple[str, ...]) -> frozenset[str]:
    return frozenset((on,) if isinstance(on, str) else on)
