"""Hostile programs in the real, locked worker end with their expected faults and have no other effect."""

import select
import socket
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import anyio
import pytest

from tests.batches import LITTLE, batch_of, match_of, matches_of
from tests.sandbox.hostile import ANY, HOSTILE
from tournament.engine.batch import Batch, Played
from tournament.engine.play import play
from tournament.engine.run import workers
from tournament.errors import WorkerLost
from tournament.match import Fault
from tournament.sandbox.image import Image
from tournament.sandbox.instance import Image as Sandbox
from tournament.sandbox.limits import Limits
from tournament.sandbox.pool import Pool

VICTIM = 'def act(view):\n    return "CDD"[len(view.mine) % 3]\n'
OTHER = """
import random

def act(view):
    return random.choice("CD") if view.mine else view.them.source[0].upper()[:0] + "D"
"""
EXPECTED = "011"


@dataclass
class Damage:
    """The results of a program: twice in strict play, and once in a batch beside a match between others."""

    first: Played
    second: Played
    beside: Batch
    together: Played


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder in which workers start, where programs may try to leave files."""
    folder = tmp_path_factory.mktemp("work")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield folder


@pytest.fixture(scope="module")
def listener() -> Iterator[socket.socket]:
    """A socket that programs may try to reach."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


@pytest.fixture(scope="module")
def damages(image: Image, folder: Path, listener: socket.socket) -> dict[str, Damage | WorkerLost]:
    """All programs, played one after the other in one worker."""

    async def damage(pool: Pool, source: str) -> Damage:
        async def played(batch: Batch) -> Played:
            return await pool.call(batch.encoded(), partial(Played.decoded, batch=batch))

        alone = batch_of([source, VICTIM], alone=True)
        beside = batch_of([source, VICTIM], [VICTIM, OTHER], [OTHER, source])
        return Damage(await played(alone), await played(alone), beside, await played(beside))

    async def main() -> dict[str, Damage | WorkerLost]:
        damages: dict[str, Damage | WorkerLost] = {}
        async with workers(image, 1, LITTLE) as pool:
            for name, (_, source) in HOSTILE.items():
                source = source.replace("PORT", str(listener.getsockname()[1]))
                try:
                    damages[name] = await damage(pool, source)
                except WorkerLost as lost:
                    damages[name] = lost
        return damages

    return anyio.run(main)


@pytest.fixture(scope="module")
def undisturbed(image: Image) -> tuple[object, ...]:
    """The match between others, played without a hostile program."""

    async def main() -> tuple[object, ...]:
        batch = batch_of([VICTIM, OTHER])
        async with workers(image, 1, LITTLE) as pool:
            played = await pool.call(batch.encoded(), partial(Played.decoded, batch=batch))
        return match_of(batch, played, 0)

    return anyio.run(main)


@pytest.fixture
def damage(request: pytest.FixtureRequest, damages: dict[str, Damage | WorkerLost]) -> Damage:
    """The results of the program of the test."""
    found = damages[request.param]
    assert isinstance(found, Damage), found
    return found


each = pytest.mark.parametrize("damage", HOSTILE, indirect=True)
each_with_its_fault = pytest.mark.parametrize(
    ("damage", "kind"), [(name, kind) for name, (kind, _) in HOSTILE.items()], indirect=["damage"]
)


@each_with_its_fault
def test_a_hostile_program_has_the_expected_fault_or_none(damage: Damage, kind: str | None) -> None:
    fault = damage.first.faults.get(0)
    assert (fault and fault.kind) == kind or kind == ANY
    assert 1 not in damage.first.faults


@each
def test_strict_play_of_a_hostile_program_is_the_same_twice_and_so_is_its_fuel(
    damage: Damage,
) -> None:
    assert damage.first == damage.second
    assert all(0 < fuel <= 4 * LITTLE.fuel for fuel in damage.first.fuel)


@each
def test_the_opponent_of_a_hostile_program_plays_as_usual(damage: Damage) -> None:
    assert EXPECTED.startswith(damage.first.moves[1])
    fault = damage.first.faults.get(0)
    assert len(damage.first.moves[1]) == (fault.round if fault else 3)


@each
def test_a_match_beside_a_hostile_program_is_played_as_without_it(
    damage: Damage, undisturbed: tuple[object, ...]
) -> None:
    assert match_of(damage.beside, damage.together, 1) == undisturbed


@each
def test_fast_play_of_a_hostile_program_is_strict_play(damage: Damage) -> None:
    alone = batch_of([HOSTILE["nothing"][1], VICTIM], alone=True)
    assert match_of(damage.beside, damage.together, 0) == match_of(alone, damage.first, 0)


def test_no_file_is_left_behind_and_no_socket_was_reached(
    damages: dict[str, Damage | WorkerLost], folder: Path, listener: socket.socket
) -> None:
    assert list(folder.iterdir()) == []
    assert select.select([listener], [], [], 0)[0] == []


def test_deep_recursions_inside_nested_simulations_do_not_overflow_the_stack(
    image: Image,
) -> None:
    bot = """
def act(view):
    def deeper(n):
        if not n:
            return view.simulate(view.me, view.me, history=view.history + [("C", "C")])
        return sorted([1], key=lambda _: deeper(n - 1))
    deeper(180)
    return "C"
"""

    async def main() -> Played:
        batch = batch_of([bot, VICTIM], limits=Limits(), alone=True)
        async with workers(image, 1, Limits()) as pool:
            return await pool.call(batch.encoded(), partial(Played.decoded, batch=batch))

    assert not anyio.run(main).faults


# A guest that its bot has taken over: the host trusts none of its answers


def taken_over(answer: str) -> str:
    """Return a bot whose guest gives this answer to every line, for each of its matches."""
    return f"""
import sys

table = sys.modules["app"].bot
answer = {answer}

def play(world, lines):
    answers = [answer(table, line) if callable(answer) else answer for line in lines.split("\\n")]
    return answers[0] if len(answers) == 1 else "\\n".join(answers)

sys.modules["app"].WitWorld.play = play

def act(view):
    return "C"
"""


FAULT = '["error", "message", "trace", "output"]'
NONSENSE = {
    "nothing": "''",
    "a code too few": "lambda table, line: '0' * (len(table.matches) - 1)",
    "a code too many": "lambda table, line: '0' * (len(table.matches) + 1)",
    "a code of no move": "lambda table, line: '2' * len(table.matches)",
    "the code of no match": "lambda table, line: ' ' * len(table.matches)",
    "letters": "lambda table, line: 'é' * len(table.matches)",
    "NUL": "lambda table, line: '\\0' * len(table.matches)",
    "two lines": "'0\\n0'",
    "only line ends": "'\\n' * 10_000",
    "megabytes": "'0' * 10_000_000",
    "no text": "None",
    "bytes": "b'0'",
    "half a surrogate pair": "'\\ud800'",
    "a fault that is not told of": "'!'",
    "faults that are no JSON": "'! {'",
    "faults without end": "'! ' + '[' * 100_000",
    "faults in megabytes": "'! ' + '[' * 2_000_000",
    "faults in a list": "'! []'",
    "faults by number": "'! 1'",
    "a fault for a legal move": f"'0 {{\"0\": {FAULT}}}'",
    "no fault for a legal move": "'0 {}'",
    "a fault of another match": f"'! {{\"1\": {FAULT}}}'",
    "a fault of a match before the first": f"'! {{\"-1\": {FAULT}}}'",
    "a fault that is spelt otherwise": f"'! {{\" 0\": {FAULT}}}'",
    "a fault too many": f'\'! {{"0": {FAULT}, "1": {FAULT}}}\'',
    "a fault that is none": "'! {\"0\": null}'",
    "a fault in a text": '\'! {"0": "error"}\'',
    "a fault that is too short": '\'! {"0": ["error", "", ""]}\'',
    "a fault that is too long": '\'! {"0": ["error", "", "", "", ""]}\'',
    "a fault of an unknown kind": '\'! {"0": ["sabotage", "", "", ""]}\'',
    "a fault that only the host sees": '\'! {"0": ["fuel", "", "", ""]}\'',
    "a fault whose kind is no text": '\'! {"0": [[], "", "", ""]}\'',
    "a fault whose message is no text": '\'! {"0": ["error", 1, "", ""]}\'',
    "a fault with a message without end": '\'! {"0": ["error", "\' + \'x\' * 9_000 + \'", "", ""]}\'',
    "an exception": "lambda table, line: 1 / 0",
}


@pytest.mark.parametrize("answer", NONSENSE.values(), ids=NONSENSE)
def test_nonsense_from_a_guest_is_a_crash_of_its_own_seat_only(
    sandbox: Sandbox, answer: str
) -> None:
    bot = taken_over(answer)
    batch = batch_of([bot, VICTIM], [VICTIM, bot], [VICTIM, OTHER], [VICTIM, VICTIM])
    played = play(sandbox, batch)
    assert {slot: (f.seat, f.kind, f.round) for slot, f in played.faults.items()} == {
        0: (0, "crash", 0),
        3: (1, "crash", 0),
    }
    assert match_of(batch, played, 3) == ([EXPECTED, EXPECTED], None, [None, None])


def test_a_guest_may_report_an_invented_fault_of_its_own(sandbox: Sandbox) -> None:
    told = '["illegal", "half a pair: \\\\ud800", "", "x"]'
    played = play(sandbox, batch_of([taken_over(f"'! {{\"0\": {told}}}'"), VICTIM]))
    assert played.faults == {0: Fault(0, "illegal", 0, "half a pair: ?", "", "x")}


def test_a_guest_that_is_taken_over_during_a_match_harms_only_itself(sandbox: Sandbox) -> None:
    bot = """
import sys

def act(view):
    if view.mine:
        table = sys.modules["app"].bot
        table.encoded = lambda *made: ("nonsense", "")
        table.judged = lambda *made: ("nonsense", None)
    return "C"
"""
    played = play(sandbox, batch_of([bot, VICTIM], [VICTIM, OTHER]))
    assert {slot: (f.kind, f.round) for slot, f in played.faults.items()} == {0: ("crash", 1)}
    assert played.moves[:3] == ["0", "0", EXPECTED]


@pytest.mark.parametrize(
    "theft",
    [
        "sys.modules['app'].bot = None",
        "sys.modules['app'].bot.matches.clear()",
        "sys.modules['app'].bot.acts.clear()",
        "sys.modules['app'].bot.codes[0].clear()",
        "sys.modules['app'].bot.names.clear()",
        "sys.modules['group'].Group.encoded = sys.modules['group'].Group.show = None",
        "sys.modules['app'].WitWorld.play = lambda self, lines: 1 / 0",
        "sys.modules['group'].faults = None",
        "sys.modules['group'].json = None",
        "sys.modules['faults'].raised = lambda *given: given",
        "sys.modules.clear()",
        "builtins.map = builtins.zip = builtins.len = builtins.enumerate = None",
        "builtins.type = lambda value: str",
        "[o.__dict__.clear() for o in gc.get_objects() if type(o).__name__ == 'Bot']",
        "sys.setrecursionlimit(60)",
        "sys._getframe(1).f_locals.clear()",
        "gc.disable()",
        "sys.addaudithook(lambda *given: 1 / 0)",
        "sys.unraisablehook = sys.excepthook = sys.displayhook = None",
    ],
)
def test_a_bot_that_takes_its_guest_apart_harms_only_itself(sandbox: Sandbox, theft: str) -> None:
    bot = f"""
import builtins, gc, sys

def act(view):
    if len(view.mine) == 1:
        {theft}
        return "E"
    return "C"
"""
    batch = batch_of([bot, VICTIM], [OTHER, bot], [VICTIM, OTHER])
    played = play(sandbox, batch)
    assert {0, 3} >= played.faults.keys()
    assert all(played.moves[slot].startswith("0") for slot in (0, 3))
    strict = play(sandbox, replace(batch, alone=True))
    assert matches_of(batch, played) == matches_of(batch, strict)
    assert {f.kind for f in played.faults.values()} <= {"crash", "illegal", "error", "fuel"}
