"""Any reply gives either a program or a named outcome."""

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tournament.oracles.oracle import Answer, CallOutcome
from tournament.oracles.prompts import fence
from tournament.oracles.reply import ends_in_code, read, read_review, read_text, without_thoughts

F = "```"
ACT = "def act(view):\n    return 'C'\n"
OTHER = "def act(view):\n    return 'D'\n"
DIFF = "--- a/bot.py\n+++ b/bot.py\n@@ -1,2 +1,2 @@\n def act(view):\n-    return 'C'\n+    return 'D'\n"

PROGRAMS = {
    "fenced": f"{F}python\n{ACT}{F}",
    "prose around it": f"Here it is:\n\n{F}python\n{ACT}{F}\n\nIt cooperates.",
    "a summary in another block": f"{F}python\n{ACT}{F}\nIn short:\n{F}text\ndef act: cooperates\n{F}",
    "marked py": f"{F}py\n{ACT}{F}",
    "marked Python": f"{F}Python\n{ACT}{F}",
    "marked {.python}": f"{F}{{.python}}\n{ACT}{F}",
    "marked with a title": f'{F}python title="bot.py"\n{ACT}{F}',
    "not marked": f"{F}\n{ACT}{F}",
    "marked as something else": f"{F}javascript\n{ACT}{F}",
    "tildes": f"~~~python\n{ACT}~~~",
    "longer fences": f"`````python\n{ACT}`````",
    "carriage returns": f"Yes.\n{F}python\n{ACT}{F}\n".replace("\n", "\r\n"),
    "byte order mark": f"\ufeff{F}python\n{ACT}{F}",
    "no line before the closing fence": f"{F}python\n{ACT.rstrip()}{F}\nThat is it.",
    "never closed": f"{F}python\n{ACT}",
    "code on the opening line": f"{F}python def act(view):\n    return 'C'\n{F}",
    "indented": textwrap.indent(f"{F}python\n{ACT}{F}", "   "),
    "in a list": f"1. Cooperate:\n\n   {F}python\n   def act(view):\n       return 'C'\n   {F}\n",
    "in a list, fence on its line": f"- {F}python\n  def act(view):\n      return 'C'\n  {F}\n",
    "indented as a whole": f"{F}python\n{textwrap.indent(ACT, '    ')}{F}",
    "no fences": ACT,
    "no fences, prose around it": f"Sure! I will cooperate:\n\n{ACT}\nThis cooperates.",
    "thought before": f"<think>\nMaybe:\n{F}python\n{OTHER}{F}\n</think>\n{F}python\n{ACT}{F}",
    "thought in one line": f"<think>{F}python draft{F}</think>{F}python\n{ACT}{F}",
    "thinking": f"<thinking>{OTHER}</thinking>\n{F}python\n{ACT}{F}",
    "thought opened in the prompt": f"Maybe\n{F}python\n{OTHER}{F}\n</think>\n{F}python\n{ACT}{F}",
    "thought closed in a block": f"{F}python\n{OTHER}</think>\n{F}python\n{ACT}{F}",
    "thought and no fences": f"<think>hm</think>\n\n{ACT}",
}

NONE = {
    "prose": ("Sure! I would cooperate.", CallOutcome.NO_CODE),
    "a block of something else": (f"{F}text\nI cooperate\n{F}", CallOutcome.NO_CODE),
    "a block without the function": (f"{F}python\nx = 1\n{F}", CallOutcome.NO_CODE),
    "inline code only": ("Use `def act(view)` and return `'C'`.", CallOutcome.NO_CODE),
    "empty": ("", CallOutcome.EMPTY),
    "blank": (" \n\t\n", CallOutcome.EMPTY),
    "only thought": (f"<think>{ACT}</think>", CallOutcome.EMPTY),
    "thought without end": (f"<think>\n{F}python\n{ACT}{F}\n", CallOutcome.EMPTY),
    "refusing": ("I'm sorry, but I can't help with that.", CallOutcome.REFUSED),
    "refusing, curly": ("I can\u2019t assist with this request.", CallOutcome.REFUSED),
    "wrong name": (
        f"{F}python\ndef policy(view):\n    return 'C'\n{F}",
        CallOutcome.WRONG_FUNCTION,
    ),
    "wrong class": (
        f"{F}python\nclass Player:\n    def act(self, v): ...\n{F}",
        CallOutcome.WRONG_FUNCTION,
    ),
    "wrong name, no fences": ("def strategy(view):\n    return 'C'", CallOutcome.WRONG_FUNCTION),
    "act with another name": (
        f"{F}python\ndef act_now(view):\n    pass\n{F}",
        CallOutcome.WRONG_FUNCTION,
    ),
    "a diff": (f"{F}diff\n{DIFF}{F}", CallOutcome.DIFF),
    "a diff marked as python": (f"{F}python\n{DIFF}{F}", CallOutcome.DIFF),
    "a diff without fences": (DIFF, CallOutcome.DIFF),
    "search and replace": (
        f"{F}python\n<<<<<<< SEARCH\n{ACT}=======\n{OTHER}>>>>>>> REPLACE\n{F}",
        CallOutcome.DIFF,
    ),
    "a NUL": (f"{F}python\n{ACT}#\0\n{F}", CallOutcome.BAD_TEXT),
    "text that reads backwards": (f"{F}python\n{ACT}# \u202e\n{F}", CallOutcome.BAD_TEXT),
    "half a character": (f"{F}python\n{ACT}# \ud800\n{F}", CallOutcome.BAD_TEXT),
    "more than a program may have": (f"{F}python\n{ACT}{'#' * 300_000}\n{F}", CallOutcome.BAD_TEXT),
}

CUT = {
    "in the program": f"{F}python\ndef act(view):\n    if view.th",
    "in the program's second version": f"{F}python\n{ACT}{F}\nBetter:\n{F}python\n{OTHER}",
    "before the program": "Let me think about what the opponent would",
    "before anything": "",
    "in code without fences": ACT,
    "in a thought": f"<think>\n{F}python\n{ACT}{F}\nBut",
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_the_program_is_found_in_replies_of_all_forms(text: str) -> None:
    reply = read_text(text)
    assert (reply.outcome, reply.program) == (CallOutcome.OK, ACT)


@pytest.mark.parametrize(("text", "outcome"), NONE.values(), ids=NONE)
def test_a_reply_without_a_program_has_a_named_outcome(text: str, outcome: CallOutcome) -> None:
    reply = read_text(text)
    assert (reply.outcome, reply.program) == (outcome, "")


@pytest.mark.parametrize("text", CUT.values(), ids=CUT)
def test_half_a_program_is_not_taken(text: str) -> None:
    assert read_text(text, cut_off=True).outcome is CallOutcome.TRUNCATED
    answer = Answer(text, CallOutcome.TRUNCATED, finish="length")
    assert read(answer).program == ""


@pytest.mark.parametrize("rest", ["It cooper", f"Try it:\n{F}python\nprint(ac", f"{F}text\nit"])
def test_a_whole_program_is_taken_even_if_the_text_after_it_was_cut_off(rest: str) -> None:
    reply = read_text(f"{F}python\n{ACT}{F}\n{rest}", cut_off=True)
    assert (reply.outcome, reply.program) == (CallOutcome.OK, ACT)


def test_of_several_blocks_the_last_that_defines_the_bot_is_taken() -> None:
    blocks = [OTHER, ACT, "print(act(None))\n"]
    reply = read_text("\nor\n".join(f"{F}python\n{block}{F}" for block in blocks))
    assert (reply.outcome, reply.program) == (CallOutcome.SEVERAL_BLOCKS, ACT)
    assert reply.outcome.good
    assert "3 blocks" in reply.note


def test_a_block_marked_as_python_is_preferred_to_a_later_unmarked_one() -> None:
    reply = read_text(f"{F}python\n{ACT}{F}\n{F}text\n{OTHER}{F}")
    assert reply.program == ACT


@pytest.mark.parametrize(
    "code",
    [
        "class Bot:\n    def act(self, view):\n        return 'C'\n",
        "import random\n\n\nclass Bot(object):\n    def act(self, view):\n        return 'C'\n",
        "act = lambda view: 'C'\n",
        "act: object = lambda view: 'C'\n",
        '"""A bot.\n\nPlays: climbing\n"""\n\nX = 1\n\n\ndef act (view):\n    return "C"\n',
        'def act(view):\n    """Like this:\n\n        --- me\n    """\n    return 1\n',
    ],
)
@pytest.mark.parametrize("form", ["```python\n{}```", "Here:\n\n{}\nDone."])
def test_bots_of_all_forms_are_found_whole(code: str, form: str) -> None:
    assert read_text(form.format(code)).program == code


def test_texts_of_failed_calls_are_not_read() -> None:
    answer = Answer(f"{F}\n{ACT}{F}", CallOutcome.TIMEOUT, detail="too slow")
    assert (read(answer).outcome, read(answer).program, read(answer).note) == (
        CallOutcome.TIMEOUT,
        "",
        "too slow",
    )


def test_thoughts_are_not_without_thoughts() -> None:
    assert without_thoughts("<think>no</think>\nIt is greedy.") == "It is greedy."
    assert without_thoughts("no</think>It is greedy.") == "It is greedy."
    assert without_thoughts("<think>for ever") == ""
    assert without_thoughts("It is greedy.") == "It is greedy."


FRAGMENTS = st.sampled_from(
    [
        *[
            "```",
            "````",
            "~~~",
            "```python",
            "<think>",
            "</think>",
            "def",
            "act(",
            "class",
            "Bot:",
            "#",
        ],
        *("\n", "\r\n", ACT, OTHER, "  ", "- ", "1. ", DIFF, "I'm sorry", "\ud800", "\0"),
        *("import x", "x = 1", "prose", '"""'),
    ]
)


@given(
    st.lists(st.one_of(FRAGMENTS, st.text(st.characters(), max_size=20)), max_size=30),
    st.booleans(),
)
def test_reading_a_reply_never_raises(parts: list[str], cut_off: bool) -> None:
    for text in ("".join(parts), "\n".join(parts)):
        reply = read_text(text, cut_off=cut_off)
        assert bool(reply.program) == reply.outcome.good
        without_thoughts(text)


@given(st.lists(st.one_of(FRAGMENTS, st.text(max_size=20)), max_size=8))
def test_no_program_can_break_its_fence(parts: list[str]) -> None:
    """A program in the fence that prompts put around it is read back unchanged."""
    comments = "".join(f"# {line}\n" for part in parts for line in part.splitlines())
    program = read_text(fence(f"{comments}{ACT}", "python"))
    if program.outcome is not CallOutcome.BAD_TEXT and "</think>" not in comments:
        assert program.program.splitlines()[-2:] == ACT.splitlines()
        assert program.program.count("#") == f"{comments}{ACT}".count("#")


@pytest.mark.parametrize("unit", ["```\n", "``` ", " ", "x:", "<think>", "`", "import a,", "\n"])
def test_long_replies_are_read_in_short_time(unit: str) -> None:
    read_text(unit * (200_000 // len(unit)), cut_off=True)
    read_text("def act(view):" + unit * (200_000 // len(unit)))


REFUSALS = (
    "I'm sorry, but I can't help with that.",
    "I cannot assist with reviewing programs that deceive.",
    "Sorry, I can\u2019t do that.",
    "I must decline.",
    "Unfortunately, I am unable to provide a review of this program.",
    "<think>Is this allowed?</think>\nI won't continue with this request.",
)
REVIEWS = (
    "I cannot find anything wrong: it is a best response.",
    "I can't see how this could be better. It helps nobody to change it.",
    "Unfortunately, I can see three faults: it will not answer a defection in round 0.",
    "Sorry to say, but this program is bad: it defects when it should cooperate.",
    "The program says: I will not help those who defect.",
    "I can't help but notice that it never looks at view.theirs. " + "It should. " * 60,
    "```python\nreturn 'C'\n``` is wrong.",
)


@pytest.mark.parametrize("text", REFUSALS)
def test_a_declined_review_is_a_refusal(text: str) -> None:
    reply = read_review(Answer(text))
    assert reply.outcome is CallOutcome.REFUSED and reply.note


@pytest.mark.parametrize("text", REVIEWS)
def test_a_review_that_only_begins_like_a_refusal_is_not_a_refusal(text: str) -> None:
    assert read_review(Answer(text)).outcome is CallOutcome.OK


def test_a_review_of_thoughts_alone_is_empty_and_a_truncated_one_stays_truncated() -> None:
    assert read_review(Answer("<think>It is bad.</think>")).outcome is CallOutcome.EMPTY
    cut = Answer("It is b", CallOutcome.TRUNCATED, finish="length")
    assert read_review(cut).outcome is CallOutcome.TRUNCATED


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        (f"{F}python\n{ACT}", True),
        (f"{F}python\n{ACT}{F}\n\nOr:\n{F}\n", True),
        (f"{F}python\n{ACT}{F}", False),
        (f"{F}python\r\n{ACT}return 1{F}", False),
        (ACT, False),
        ("It cooperates.", False),
    ],
)
def test_a_reply_that_ends_inside_code_is_recognised(text: str, ends: bool) -> None:
    assert ends_in_code(text) is ends
