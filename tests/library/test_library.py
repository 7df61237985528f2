"""Games and bots are found by path or name, and what cannot be used is refused in one line."""

import sys
from pathlib import Path

import pytest

from tournament import library
from tournament.errors import NotFound, ParameterError, ProgramRefused, UsageError
from tournament.program import read_program

GAME = '''"""Toy: both are paid what they are told to be.

More of it.
"""

from tournament.game import MatrixGame, common_payoff_game


def game(*, pay: float = 1, times: int = 2, twice: bool = False, move: str = "x") -> MatrixGame:
    value = pay * times * (2 if twice else 1)
    parameters = {"pay": pay, "times": times, "twice": twice, "move": move}
    return common_payoff_game("toy", (move,), [[value]], parameters)
'''


def write(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text(text)
    return file


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    return write(tmp_path, "toy.py", GAME)


def refusal(file: Path) -> str:
    """Return the one line with which a game's file is refused, without the name of the file."""
    with pytest.raises(UsageError) as caught:
        library.load_game(file)
    line = str(caught.value)
    assert line.startswith(f"{file}: ")
    assert "\n" not in line
    return line.removeprefix(f"{file}: ")


def test_the_games_that_are_listed_are_the_files_of_the_package() -> None:
    assert library.games() == sorted(library.games())
    assert {"prisoners_dilemma", "public_goods"} <= set(library.games())
    assert "__init__" not in library.games()


def test_a_game_is_loaded_by_its_name() -> None:
    assert library.load_game("chicken").name == "chicken"


def test_a_game_is_loaded_from_a_path_relative_or_absolute_as_text_or_not(toy: Path) -> None:
    relative = Path(toy.root).joinpath(*[".."] * 3, *toy.parts[1:])
    for path in (toy, str(toy), relative):
        assert library.load_game(path).payoff((0, 0)) == (2.0, 2.0)


def test_a_file_is_read_anew_each_time(toy: Path) -> None:
    assert library.load_game(toy).name == "toy"
    toy.write_text(GAME.replace('"toy"', '"changed"'))
    assert library.load_game(toy).name == "changed"


def test_a_misspelt_name_of_a_game_is_refused_with_the_right_one() -> None:
    with pytest.raises(NotFound) as caught:
        library.load_game("prisoner_dilemma")
    expected = "no game called 'prisoner_dilemma'; did you mean: prisoners_dilemma"
    assert str(caught.value) == expected


def test_a_name_unlike_any_game_is_refused_with_all_games() -> None:
    with pytest.raises(NotFound) as caught:
        library.load_game("xyz")
    assert str(caught.value).endswith("; there are: " + ", ".join(library.games()))


@pytest.mark.parametrize(
    "name", ["__init__", "../games/chicken", "chicken.py", "", ".", "nobody.py"]
)
def test_only_names_and_files_that_exist_are_games(name: str) -> None:
    with pytest.raises(NotFound, match=r"^no game called "):
        library.load_game(name)


def test_parameters_are_listed_with_their_defaults_and_a_game_with_its_first_line(
    toy: Path,
) -> None:
    assert library.parameters_of(toy) == {"pay": 1, "times": 2, "twice": False, "move": "x"}
    assert library.describe_game(toy) == "Toy: both are paid what they are told to be."
    assert library.parameters_of("climbing") == {}


def test_text_is_converted_to_the_type_of_its_parameter(toy: Path) -> None:
    texts = {"pay": "1.5", "times": "3", "twice": "True", "move": "3"}
    game = library.load_game(toy, texts)
    assert game.parameters == {"pay": 1.5, "times": 3, "twice": True, "move": "3"}
    assert game.payoff((0, 0)) == (9.0, 9.0)


def test_without_a_declared_type_text_is_converted_to_the_type_of_the_default(
    tmp_path: Path,
) -> None:
    undeclared = GAME
    for declared in (": float", ": int", ": bool", ": str"):
        undeclared = undeclared.replace(declared, "")
    texts = {"pay": "2", "times": "3", "twice": "false", "move": "y"}
    game = library.load_game(write(tmp_path, "undeclared.py", undeclared), texts)
    assert game.parameters == {"pay": 2, "times": 3, "twice": False, "move": "y"}


def test_type_annotations_written_as_text_are_understood(tmp_path: Path) -> None:
    late = GAME.replace(
        "\nfrom tournament", "\nfrom __future__ import annotations\nfrom tournament", 1
    )
    assert library.load_game(write(tmp_path, "late.py", late), {"pay": "2"}).payoff((0, 0)) == (
        4,
        4,
    )


@pytest.mark.parametrize(
    ("texts", "problem"),
    [
        ({"pay": "much"}, "pay is 'much', but must be a number"),
        ({"pay": "nan"}, "payoff is nan, but must be from -1e+12 to 1e+12"),
        ({"times": "2.5"}, "times is '2.5', but must be a whole number"),
        ({"times": "9" * 5000}, f"times is '{'9' * 5000}', but must be a whole number"),
        ({"twice": "2"}, "twice is '2', but must be true or false"),
        ({"pya": "1"}, "pya is not a parameter of this game; there are: pay, times, twice, move"),
    ],
)
def test_text_that_cannot_be_read_is_refused_in_one_line(
    toy: Path, texts: dict[str, str], problem: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        library.load_game(toy, texts)
    assert str(caught.value) == f"toy: {problem}"


def test_a_parameter_for_a_game_without_any_is_refused() -> None:
    with pytest.raises(ParameterError) as caught:
        library.load_game("climbing", {"height": "1"})
    assert str(caught.value) == "climbing: height is not a parameter of this game; it has none"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("\ndef game(:\n", "line 2: SyntaxError: invalid syntax"),
        ("\n\nimport nowhere\n", "line 3: ModuleNotFoundError: No module named 'nowhere'"),
        ("x = 1\nx / 0\n", "line 2: ZeroDivisionError: division by zero"),
        ("raise ValueError('two\\nlines')", "line 1: ValueError: two lines"),
        ("def game():\n    return 1 / 0\n", "line 2: ZeroDivisionError: division by zero"),
        ("import json\n\n\ndef game():\n    json.loads(1)\n", "line 5: TypeError: "),
        ("def game(x: nope = 1): pass", "line 1: NameError: name 'nope' is not defined"),
        ("x = 1", "has no function game(...) that returns a MatrixGame"),
        ("game = 1", "has no function game(...) that returns a MatrixGame"),
        ("def game(): return 3", "game(...) returned int, which is not a game"),
        ("def game(x): pass", "parameter x of game(...) has no default"),
        ("def game(**more): pass", "parameter more of game(...) has no default"),
        ("x = '\0'", "line 1: SyntaxError: source code string cannot contain null bytes"),
    ],
)
def test_a_file_that_is_not_a_game_is_refused_with_its_line(
    tmp_path: Path, text: str, problem: str
) -> None:
    assert refusal(write(tmp_path, "broken.py", text)).startswith(problem)


def test_an_error_that_a_game_raises_about_its_parameters_is_passed_on(toy: Path) -> None:
    toy.write_text(
        "from tournament.game import check_whole\n"
        "def game(x: int = 1): check_whole('toy', 'x', x, 0, 1)\n"
    )
    with pytest.raises(
        ParameterError, match=r"^toy: x is 2, but must be a whole number from 0 to 1$"
    ):
        library.load_game(toy, {"x": "2"})


def test_a_game_may_define_dataclasses(tmp_path: Path) -> None:
    text = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "from typing import ClassVar\n\n@dataclass\nclass Cell:\n    kind: ClassVar[int] = 1\n"
    )
    file = write(tmp_path, "with_dataclass.py", text + GAME.partition('"""\n\n')[2])
    assert library.load_game(file).name == "toy"


def test_the_bots_of_a_folder_are_its_python_files_except_private_ones(
    tmp_path: Path,
) -> None:
    for name in ("b.py", "a.py", "_private.py", ".hidden.py", "notes.txt"):
        write(tmp_path / "bots", name, f"# {name}")
    write(tmp_path / "bots" / "deeper", "c.py", "# c")
    found = library.find_bots([tmp_path / "bots"])
    assert [program.name for program in found.programs] == ["a", "b"]
    assert found == library.Entrants(found.programs)


def test_bots_come_in_the_order_of_the_paths_and_each_file_once(tmp_path: Path) -> None:
    one = write(tmp_path / "one", "z.py", "# 1")
    two = write(tmp_path / "two", "a.py", "# 2")
    found = library.find_bots([one, two.parent, one.parent, two])
    assert found.programs == (read_program(one), read_program(two))
    assert found.duplicates == ()


def test_a_file_that_is_given_by_path_is_a_bot_even_with_a_private_name(tmp_path: Path) -> None:
    file = write(tmp_path, "_scratch.txt", "# scratch")
    assert library.find_bots([file]).programs == (read_program(file),)


def test_equal_sources_are_entered_once_and_reported(tmp_path: Path) -> None:
    first = write(tmp_path, "a.py", "# same\n")
    second = write(tmp_path, "b.py", "# same\n")
    (tmp_path / "c.py").write_bytes(b"# same\r\n")
    found = library.find_bots([tmp_path])
    assert found.programs == (read_program(first),)
    assert [(left_out.name, entered.name) for left_out, entered in found.duplicates] == [
        ("b", "a"),
        ("c", "a"),
    ]
    assert found.duplicates[0] == (read_program(second), read_program(first))


def test_different_programs_of_one_name_get_their_digests_added(tmp_path: Path) -> None:
    for folder in ("one", "two", "three"):
        write(tmp_path / folder, "bot.py", f"# {folder}\n")
    write(tmp_path / "three", "other.py", "# other\n")
    folders = [tmp_path / folder for folder in ("one", "two", "three")]
    programs = library.find_bots(folders).programs
    assert [p.name for p in programs] == [
        *(f"bot@{p.digest[:6]}" for p in programs[:3]),
        "other",
    ]
    assert {p.name for p in library.find_bots(folders[::-1]).programs} == {p.name for p in programs}


def test_a_duplicate_of_a_renamed_program_is_reported_with_the_new_name(tmp_path: Path) -> None:
    write(tmp_path / "one", "bot.py", "# 1")
    write(tmp_path / "two", "bot.py", "# 2")
    write(tmp_path / "two", "copy.py", "# 1")
    found = library.find_bots([tmp_path / "one", tmp_path / "two"])
    ((left_out, entered),) = found.duplicates
    assert left_out.name == "copy"
    assert entered is found.programs[0]
    assert entered.name.startswith("bot@")


def test_a_file_that_cannot_be_a_program_is_refused_and_the_others_are_entered(
    tmp_path: Path,
) -> None:
    good = write(tmp_path, "good.py", "# good")
    bad = tmp_path / "bad.py"
    bad.write_bytes(b"\xff")
    found = library.find_bots([tmp_path])
    assert found.programs == (read_program(good),)
    assert [refused.file for refused in found.refused] == [str(bad)]


def test_a_folder_called_like_a_bot_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.py").mkdir()
    (refused,) = library.find_bots([tmp_path]).refused
    assert refused.problem == "is not a file"


@pytest.mark.skipif(sys.platform == "win32", reason="links need privileges there")
def test_a_link_to_a_file_outside_the_folder_is_refused(tmp_path: Path) -> None:
    secret = write(tmp_path / "home", "secret.txt", "a key")
    folder = tmp_path / "bots"
    bot = write(folder, "bot.py", "# bot")
    (folder / "alias.py").symlink_to("bot.py")
    (folder / "device.py").symlink_to("/dev/zero")
    (folder / "loop.py").symlink_to("loop.py")
    (folder / "stolen.py").symlink_to(secret)
    found = library.find_bots([folder])
    assert [program.source for program in found.programs] == ["# bot"]
    assert {Path(refused.file).name: refused.problem for refused in found.refused} == {
        "device.py": "is not a file",
        "loop.py": "is not a file",
        "stolen.py": "is a link that leads out of its folder",
    }
    linked = tmp_path / "linked"
    linked.symlink_to(folder)
    assert library.find_bots([linked / "stolen.py"]).programs[0].source == "a key"
    assert library.find_bots([linked / "bot.py"]).programs[0].digest == read_program(bot).digest


def test_a_missing_path_and_a_folder_without_bots_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere: there is no such file or folder$"):
        library.find_bots([tmp_path / "nowhere"])
    with pytest.raises(UsageError, match="has no bots"):
        library.find_bots([tmp_path])


def test_the_bots_of_the_package_are_found_and_loaded_by_name() -> None:
    found = library.find_bots([library.packaged_bots()])
    assert found.programs
    assert found.refused == ()
    assert [library.load_bot(program.name) for program in found.programs] == list(found.programs)


def test_a_path_is_preferred_to_a_name_when_a_bot_is_loaded(tmp_path: Path) -> None:
    file = write(tmp_path, "bot.py", "# mine")
    assert library.load_bot(file) == library.load_bot(str(file)) == read_program(file)


def test_a_missing_bot_is_refused_with_similar_names() -> None:
    some = library.find_bots([library.packaged_bots()]).programs[0].name
    with pytest.raises(NotFound, match=f"^no bot called '{some}x'; did you mean: .*{some}"):
        library.load_bot(some + "x")


def test_a_bot_that_cannot_be_a_program_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_bytes(b"\0")
    with pytest.raises(ProgramRefused, match="NUL"):
        library.load_bot(tmp_path / "bad.py")


def test_a_bot_is_never_imported(tmp_path: Path) -> None:
    write(tmp_path, "loud.py", "raise SystemExit('imported')")
    write(tmp_path, "broken.py", "def (")
    assert len(library.find_bots([tmp_path]).programs) == 2
    assert library.load_bot(tmp_path / "loud.py").source.startswith("raise")


def test_a_parameter_is_set_for_every_game_that_has_it_or_for_the_named_game() -> None:
    names = ["penalty", "climbing", "chicken"]
    given = {"penalty.p": "-50", "p": "-3", "chicken.punishment": "-7"}
    loaded = library.load_games(names, given)
    assert [game.name for game in loaded] == names
    assert loaded[0].parameters == library.load_game("penalty", {"p": "-50"}).parameters
    assert loaded[2].parameters == library.load_game("chicken", {"punishment": "-7"}).parameters
    [alone] = library.load_games(["penalty"], {"p": "-3"})
    assert alone.parameters == library.load_game("penalty", {"p": "-3"}).parameters


@pytest.mark.parametrize(
    ("names", "parameter", "message"),
    [
        (["penalty", "penalty"], "p", "--game penalty is given twice"),
        (["penalty", "climbing"], "q", "q is not a parameter of penalty or climbing"),
        (["penalty"], "climbing.p", "climbing.p is not a parameter of penalty"),
        (["penalty"], "q", "penalty: q is not a parameter of this game"),
        (["penalty", "climbing"], "climbing.p", "climbing: p is not a parameter of this game"),
    ],
)
def test_a_parameter_that_no_game_has_is_refused(
    names: list[str], parameter: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        library.load_games(names, {parameter: "1"})
