"""What `govctl explain` says of each code, beside what must hold and why.

Knows when a rule speaks and how a reader mends what it found. A test demands one text for each code.
"""

from __future__ import annotations

_FILES = {
    "G0101": (
        "A file holds bytes that are not UTF-8, often because an editor saved it in a code page or as UTF-16. Save "
        "it again as UTF-8; the finding names the first byte that is wrong."
    ),
    "G0102": (
        "A file begins with the three bytes EF BB BF. They cannot be seen, and readers of TOML disagree about them. "
        "Save the file as UTF-8 without a byte order mark."
    ),
    "G0103": (
        "A specification file cannot be parsed: a quote is missing, a key or table stands twice, a value is no "
        "TOML. Nothing else is said about the file until this is mended; its id counts as known, so that no flood "
        "follows."
    ),
    "G0104": (
        "A name is there and its content is not: a folder with the name of a file, a link that leads nowhere, a "
        "file without the right to read it. Make it a plain file, or remove it."
    ),
    "G0105": (
        "A name in gov/rfc or gov/clauses is neither an id nor hidden. Rename it to the id that it holds, or move "
        "it out of the folder."
    ),
    "G0106": (
        "Editors complete and underline a file by its first line, such as #:schema ../../schema/rfc.schema.json. "
        "Begin the file with the line of its kind."
    ),
    "G0107": (
        "A source that may hold marks cannot be parsed, and the marks could not be read without that. A file whose "
        "marks all stand at the margin is read without its bodies, so a mistake inside a body is left to the tests."
    ),
    "G0108": "A glob of govctl.toml matches nothing. Mend the glob, or remove it together with what it once matched.",
    "G0109": (
        "A carriage return stands alone, without the line feed of a CRLF. Some readers end a line there and others "
        "do not. Save the file with LF or CRLF ends; both give equal ids and digests."
    ),
    "G0110": (
        "govctl reads TOML 1.1; editors and other tools may read 1.0 only. Line breaks and a last comma in inline "
        "tables, the escapes \\e and \\x, and times without seconds are forms of 1.1. Each can be written in 1.0."
    ),
}
_SETTINGS = {
    "G0201": (
        "A value has another type, form or choice than its schema says. The message names the value; the "
        "description of the key in the schema says what is wanted."
    ),
    "G0202": "A key is in no schema: most often it is misspelt or stands in the wrong table. The nearest key is named.",
    "G0203": "A key that every reader relies on is missing. The message says what it stands for: add it.",
    "G0204": "A date has the form of one and is no day of the calendar, such as 2026-02-30. Write a real one.",
    "G0205": (
        "A table of govctl.toml gives a severity to a rule, or suppresses it, and no rule has that code or name. "
        "See govctl list rules."
    ),
    "G0206": (
        "A suppression covers nothing: what it hid is mended, or its code, id or path is wrong. Remove it. It is "
        "known only after all other rules have run, and it cannot be suppressed."
    ),
    "G0207": (
        "The last day of a suppression is over, so it hides nothing any more. Mend what it hid, or give it a new "
        "end with a reason for more time. The day comes from the clock (UTC), or from --today."
    ),
    "G0208": (
        "A suppression names a code alone, and would hide findings that nobody has seen yet. Name the id or the "
        "path of the finding that is borne."
    ),
}
_IDS = {
    "G0301": (
        "The id inside a file differs from the file's name. Ids are permanent: rename the file, or give the id its "
        "old value back."
    ),
    "G0302": (
        "Two RFCs, clauses or statements have one id; both places are named. The newer one takes an id that was "
        "never used."
    ),
    "G0303": (
        "A section lists a clause that has no file. Write the file; if the clause is withdrawn, its file stays and "
        "says so in its status."
    ),
    "G0304": "A clause has a file and stands in no section of its RFC, so no reader meets it. List it.",
    "G0305": "A clause is listed in two sections, or twice in one. Keep one of the two places.",
    "G0306": "A folder of clauses has no RFC file beside it. Write the RFC, or move the clauses.",
    "G0307": (
        "An id in prose, in refs or in superseded_by does not exist. Bare ids count as references like bracketed "
        "ones; code spans and addresses do not. The nearest id is named."
    ),
    "G0308": (
        "Something looks like a reference and is none: [[rfc-1]], [[C-NAME]], RFC-1:C-NAME or a wrong case. No tool "
        "would follow it. Write the full id, letter by letter; the one that is probably meant is named."
    ),
    "G0309": (
        "A law, check, mutant or benign variant names a statement that does not exist. Mend the id, or write the "
        "statement first."
    ),
    "G0310": (
        "A mark names a statement of which nothing is demanded any more: it was withdrawn, its clause is deprecated "
        "or superseded, or its RFC is deprecated. Move the mark to the successor, or remove it."
    ),
    "G0311": (
        "Two checks, or two mutants or benign variants, have one slug. Slugs are permanent and stand in reports: "
        "the newer one takes a slug that was never used."
    ),
    "G0312": (
        "An id, slug or reason in a mark is not a string literal. govctl reads source and never runs it, so names, "
        "f-strings and unpacking would be lost."
    ),
    "G0313": (
        "A mark has not the arguments of its kind: a law takes one id, a check a slug and ids, a mutant a slug and "
        "kills, a benign variant a slug."
    ),
    "G0314": "A check depends on a slug that no check has, so it could never be unblocked. Mend the slug.",
    "G0315": (
        "The facet word in an RFC and the RFC of that facet in govctl.toml do not name one another. One word leads "
        "to the RFC, its model, its suite and its reference: use it in both places."
    ),
    "G0316": (
        "Clauses supersede one another in a circle. Every circle is reported, with each of its places. The clause "
        "that is in force must be active."
    ),
    "G0317": (
        "Checks depend on one another in a circle, or one on itself. Every circle is reported once. Remove the "
        "dependency that is not needed."
    ),
}
_TEXT = {
    "G0401": (
        "A statement holds no upper-case BCP 14 keyword, or more than one. One sentence makes one demand and gets "
        "one verdict. In a clause of prose, where sentences are found by their keywords, several are a note."
    ),
    "G0402": (
        "The text of a statement holds more than one sentence. What explains belongs to the clause's text; what "
        "demands is a statement of its own."
    ),
    "G0403": (
        "A keyword stands where no check can name it: beside the statements of a clause, in a title, in a "
        "rationale, or in an informative clause. Make it a statement, or write another verb. Code spans do not "
        "count."
    ),
    "G0404": (
        "An informative clause has a table of statements. Readers skip what is informative: change its kind, or "
        "make its statements plain text."
    ),
    "G0405": (
        "An active normative clause demands nothing: no sentence of it holds a keyword. Write what it demands, or "
        "make it informative."
    ),
    "G0406": (
        "A since is above the RFC's version, is no version of the changelog, or is below that of the clause around "
        "it. Use the version that brought the clause or the statement."
    ),
    "G0407": "An RFC that has left phase spec has a clause without since. Add the version that brought it.",
    "G0408": (
        "The changelog does not begin with the RFC's version, or does not run from the newest version and date to "
        "the oldest. Versions are ordered by number: 1.10.0 is above 1.9.0."
    ),
    "G0409": (
        "Status superseded and the key superseded_by come together, name another clause, and lead to one that is "
        "not deprecated."
    ),
    "G0410": (
        "The pair of status and phase is not in the table: a draft is never stable, and what is deprecated is "
        "either in phase spec or stable."
    ),
    "G0411": (
        'A normative clause says "must" or "shall" in lower case. BCP 14 gives only upper case a meaning, and '
        "readers see a demand that nobody checks. It is a hint: write a statement, or another verb."
    ),
    "G0412": (
        "A text holds TODO, TBD, FIXME, XXX, ??? or a template's words. A note in phase spec, a warning in impl, an "
        "error from test on. Code spans do not count."
    ),
    "G0413": (
        'A statement holds a word that each reader measures differently, such as "appropriate", "sufficient" or '
        '"etc.". It is a hint: say what is seen, and from which number on.'
    ),
    "G0414": "A statement is longer than 500 characters, which most often hides a second demand. It is a hint.",
    "G0415": "created, the dates of the changelog and updated are not in order. Mend the one that is wrong.",
}
_COVERAGE = {
    "G0501": (
        "A MUST has no check that runs and no exclusion. Nothing in phase spec, a note in impl, a warning in test, "
        "an error in stable. Write a check with the statement's id, or exclude the statement with a class and a "
        "reason."
    ),
    "G0502": (
        "A MUST has no mutant: a wrong variant that its checks have to kill. Without one, nobody has seen them "
        "fail. A note in phase test, an error in stable."
    ),
    "G0503": "A SHOULD has no check that runs and no exclusion. A note in phase test, a warning in stable.",
    "G0504": (
        "A check is skipped or expected to fail, by its own mark or by that of its class or module. It counts for "
        "nothing. Let it run, or exclude its statement."
    ),
    "G0505": "A mutant is to die by a statement that no check names. Write the check first.",
    "G0506": (
        "A row of the backlog that the RFC promises to house is the origin of no statement. Name the row in the "
        "origin of the statement that speaks of it, if need be of an excluded one."
    ),
}
_LOCK = {
    "G0601": (
        "A line of gov/statements.lock is none, or a name stands there twice. Only govctl writes the file: restore "
        "it from version control, and see what the merge lost."
    ),
    "G0602": (
        "A sentence differs from the one that was accepted. Its checks may test what it no longer says: they are "
        "named. Look at each, then accept the sentence by name with govctl lock ID. White space does not count."
    ),
    "G0603": "A statement is not in the lock. Accept it with govctl lock --new, which accepts nothing that changed.",
    "G0604": (
        "A locked statement is gone without a tombstone, or a withdrawn id is used again. Put it back, deprecate "
        "its clause, or withdraw it by name with govctl lock --withdraw ID."
    ),
    "G0605": (
        "A sentence stands under another number than the one it was locked with. Reports and checks name the "
        "number: give it back, whatever the order."
    ),
    "G0606": (
        "An RFC in phase stable whose facet is configured has no evidence. Run the self-test in full and write the "
        "evidence with govctl evidence --from FILE --write."
    ),
    "G0607": "An evidence file is not what govctl writes: it was edited, merged or cut short. Write it again.",
    "G0608": (
        "The text, the suite, the model, the mutants or the reference changed since the evidence was written. It "
        "shows what was. Run the self-test and write it again."
    ),
    "G0609": (
        "The evidence shows a check that did not pass, lacks one that runs, or holds one that does not exist. "
        "Vacuous is not a pass."
    ),
    "G0610": (
        "The evidence does not show that a mutant died by a check of the statement that must kill it. Sharpen the "
        "check, or make the mutant wrong in the way it says."
    ),
    "G0611": (
        "Only govctl evidence --compare says this: the self-test that it was given shows something else than the "
        "committed evidence. Equal results give equal bytes, so one of the two is old or wrong."
    ),
    "G0612": (
        "The file that [catalogue] names holds the statements for those who have no gov/. It is missing, or the "
        "clauses changed since. Write it again with govctl catalogue --write."
    ),
    "G0613": (
        "The statements of an RFC are not those with which its version was sealed. Raise the version, with an entry "
        "in the changelog, accept the sentences and seal the new version. In phase spec nothing is sealed."
    ),
    "G0614": (
        "Between the last sealed version and this one a MUST was added, changed or removed, and only the patch "
        "number moved; or the version went back. A changed MUST may be a tighter one, so it needs a new minor "
        "number at least."
    ),
    "G0615": (
        "An RFC has left phase spec, and its version has no seal in the lock. When its sentences are accepted, seal "
        "it: govctl lock --seal RFC-0001. From then on every change of its statements is an amendment."
    ),
}

EXPLANATIONS: dict[str, str] = {**_FILES, **_SETTINGS, **_IDS, **_TEXT, **_COVERAGE, **_LOCK}
