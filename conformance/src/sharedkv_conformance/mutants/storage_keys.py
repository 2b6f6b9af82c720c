"""Wrong variants of keys: what is left out of them, what runs together in them, and what gets in that should not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.storage import StorageNamespace
from sharedkv_conformance.marks import mutant
from sharedkv_conformance.model.storage import StorageModel
from sharedkv_conformance.model.storage_keys import digest_of, session_namespace


@mutant("storage.key-of-a-started-page", kills="RFC-0010:C-KEYS#S1")
class KeyOfAStartedPage(StorageModel):
    """Gives the page that is not full a key as well."""

    def num_tokens(self, namespace: StorageNamespace, tokens: Sequence[int]) -> int:
        del namespace
        return len(tokens)


@mutant("storage.pages-of-the-session", kills="RFC-0010:C-KEYS#S1")
class PagesOfTheSession(StorageModel):
    """Cuts tokens by the page size of the session, whatever the namespace says."""

    def keys(self, namespace: StorageNamespace, tokens: Sequence[int]) -> tuple[str, ...]:
        keys = super().keys(namespace, tokens)
        count = len(tokens) // self.config.page_size
        return (*keys[:count], *[digest_of(f"{keys} {at}") for at in range(len(keys), count)])


@mutant("storage.order-of-fields", kills="RFC-0010:C-KEYS#S2")
class OrderOfFields(StorageModel):
    """Digests the fields in the order in which they are named."""

    def text(self, namespace: StorageNamespace) -> str:
        return repr(vars(namespace))


@mutant("storage.key-of-the-whole-prompt", kills="RFC-0010:C-KEYS#S2")
class KeyOfTheWholePrompt(StorageModel):
    """Puts the number of tokens behind the last whole page into every key."""

    def keys(self, namespace: StorageNamespace, tokens: Sequence[int]) -> tuple[str, ...]:
        self.num_behind = len(tokens) % namespace.page_size
        return super().keys(namespace, tokens)

    def seed(self, namespace: StorageNamespace) -> str:
        return digest_of(f"{super().seed(namespace)} {self.num_behind}")


@mutant("storage.keys-age", kills="RFC-0010:C-KEYS#S2")
class KeysAge(StorageModel):
    """Chains keys of another namespace than the session's on those of the call before."""

    before = ""

    def keys(self, namespace: StorageNamespace, tokens: Sequence[int]) -> tuple[str, ...]:
        keys = super().keys(namespace, tokens)
        self.before = keys[-1] if keys else self.before
        return keys

    def seed(self, namespace: StorageNamespace) -> str:
        own = session_namespace(self.config)
        return super().seed(namespace) if namespace == own else digest_of(self.before + super().seed(namespace))


@mutant(
    "storage.tokens-alone",
    kills="RFC-0010:C-KEYS#S3",
    also={"RFC-0010:C-HITS#S4": "sessions of two namespaces look under one key"},
)
class TokensAlone(StorageModel):
    """Makes keys of tokens alone: every tenant finds what any tenant wrote."""

    def text(self, namespace: StorageNamespace) -> str:
        del namespace
        return ""


@mutant("storage.fields-joined", kills="RFC-0010:C-KEYS#S3")
class FieldsJoined(StorageModel):
    """Joins the values of the fields, in the order of their names, with nothing between them."""

    def text(self, namespace: StorageNamespace) -> str:
        joined = "".join(value for _, value in sorted(namespace.fields))
        return super().text(replace(namespace, fields=(("", joined),) if namespace.fields else ()))


@mutant("storage.names-left-out", kills="RFC-0010:C-KEYS#S3")
class NamesLeftOut(StorageModel):
    """Takes the value of a field without its name: an adapter stands in for a salt."""

    def text(self, namespace: StorageNamespace) -> str:
        values = tuple((str(at), value) for at, (_, value) in enumerate(sorted(namespace.fields)))
        return super().text(replace(namespace, fields=values))


@mutant("storage.empty-is-none", kills="RFC-0010:C-KEYS#S3")
class EmptyIsNone(StorageModel):
    """Leaves fields without a value out."""

    def text(self, namespace: StorageNamespace) -> str:
        return super().text(replace(namespace, fields=tuple(field for field in namespace.fields if field[1])))


@mutant("storage.fields-run-together", kills="RFC-0010:C-KEYS#S3")
class FieldsRunTogether(StorageModel):
    """Joins names and values, sorted by name, with nothing between them."""

    def text(self, namespace: StorageNamespace) -> str:
        joined = "".join(text for field in sorted(namespace.fields) for text in field)
        return f"{len(namespace.fields)} {super().text(replace(namespace, fields=(('', joined),)))}"


@mutant("storage.fields-as-a-line", kills="RFC-0010:C-KEYS#S3")
class FieldsAsALine(StorageModel):
    """Writes fields as `name=value` with a mark between them that a value may hold."""

    def text(self, namespace: StorageNamespace) -> str:
        line = "&".join(f"{name}={value}" for name, value in sorted(namespace.fields))
        return super().text(replace(namespace, fields=(("", line),) if namespace.fields else ()))


@mutant("storage.fields-counted", kills="RFC-0010:C-KEYS#S3")
class FieldsCounted(StorageModel):
    """Leaves fields without a value out, and says how many fields there are."""

    def text(self, namespace: StorageNamespace) -> str:
        filled = tuple(field for field in namespace.fields if field[1])
        return f"{len(namespace.fields)} {super().text(replace(namespace, fields=filled))}"


@mutant("storage.fields-in-lower-case", kills="RFC-0010:C-KEYS#S3")
class FieldsInLowerCase(StorageModel):
    """Takes values that differ in case for one."""

    def text(self, namespace: StorageNamespace) -> str:
        return super().text(replace(namespace, fields=tuple((name, value.lower()) for name, value in namespace.fields)))


@mutant(
    "storage.any-cp-size",
    kills="RFC-0010:C-KEYS#S3",
    also={"RFC-0010:C-HITS#S4": "groups of two sizes look under one key"},
)
class AnyCpSize(StorageModel):
    """Leaves the CP size out: groups of two sizes fill the gaps of one another's lanes."""

    def text(self, namespace: StorageNamespace) -> str:
        return super().text(replace(namespace, cp_size=0))


@mutant("storage.any-page-size", kills="RFC-0010:C-KEYS#S3")
class AnyPageSize(StorageModel):
    """Leaves the page size out and chains token by token."""

    def text(self, namespace: StorageNamespace) -> str:
        return super().text(replace(namespace, page_size=0))

    def link(self, before: str, tokens: Sequence[int]) -> str:
        for token in tokens:
            before = super().link(before, [token])
        return before


@mutant("storage.layers-added-up", kills="RFC-0010:C-KEYS#S3")
class LayersAddedUp(StorageModel):
    """Counts the layers of target and draft together."""

    def text(self, namespace: StorageNamespace) -> str:
        return super().text(replace(namespace, layers=namespace.layers + namespace.draft_layers, draft_layers=0))


@mutant("storage.tokens-of-the-page", kills="RFC-0010:C-KEYS#S4")
class TokensOfThePage(StorageModel):
    """Digests, in another namespace than the session's, the tokens of the page itself, whatever stands before it."""

    def keys(self, namespace: StorageNamespace, tokens: Sequence[int]) -> tuple[str, ...]:
        if namespace == session_namespace(self.config):
            return super().keys(namespace, tokens)
        size = namespace.page_size
        starts = range(0, len(tokens) // size * size, size)
        self.check_namespace(namespace)
        return tuple(self.link(self.seed(namespace), tokens[start : start + size]) for start in starts)


@mutant("storage.tokens-cut", kills="RFC-0010:C-KEYS#S4")
class TokensCut(StorageModel):
    """Takes the lower sixteen bits of each token."""

    def link(self, before: str, tokens: Sequence[int]) -> str:
        return super().link(before, [token & 0xFFFF for token in tokens])


@mutant("storage.tokens-of-a-small-vocabulary", kills="RFC-0010:C-KEYS#S4")
class TokensOfASmallVocabulary(StorageModel):
    """Takes the lower twenty bits of each token, which is enough for words and not for what stands for images."""

    def link(self, before: str, tokens: Sequence[int]) -> str:
        return super().link(before, [token & 0xFFFFF for token in tokens])


@mutant("storage.digest-cut", kills="RFC-0010:C-KEYS#S4")
class DigestCut(StorageModel):
    """Shows sixteen bits of each digest."""

    def keys(self, namespace: StorageNamespace, tokens: Sequence[int]) -> tuple[str, ...]:
        return tuple(key[:4] for key in super().keys(namespace, tokens))


@mutant("storage.tokens-joined", kills="RFC-0010:C-KEYS#S4")
class TokensJoined(StorageModel):
    """Joins the digits of tokens with nothing between them."""

    def link(self, before: str, tokens: Sequence[int]) -> str:
        return digest_of(before + " " + "".join(map(str, tokens)))


@mutant("storage.order-of-tokens", kills="RFC-0010:C-KEYS#S4")
class OrderOfTokens(StorageModel):
    """Adds tokens up, so that their order is lost."""

    def link(self, before: str, tokens: Sequence[int]) -> str:
        return super().link(before, [sum(tokens)])


@mutant("storage.rank-in-the-key", kills="RFC-0010:C-KEYS#S5")
class RankInTheKey(StorageModel):
    """Puts the rank that asks into the key."""

    def seed(self, namespace: StorageNamespace) -> str:
        return digest_of(f"{super().seed(namespace)} {self.config.rank}")


@mutant("storage.last-value-wins", kills="RFC-0010:C-KEYS#S6")
class LastValueWins(StorageModel):
    """Takes the last value of a field that is named twice."""

    def check_namespace(self, namespace: StorageNamespace) -> None:
        del namespace


@mutant("storage.empty-field-refused", kills="RFC-0010:C-KEYS#S6")
class EmptyFieldRefused(StorageModel):
    """Refuses a field without a value."""

    def check_namespace(self, namespace: StorageNamespace) -> None:
        super().check_namespace(namespace)
        if any(not value for _, value in namespace.fields):
            raise Rejected(Reason.NAMESPACE_INVALID, "a field is empty")
