"""The published outcomes of modal agents, under the names of the bots in this package."""

import csv
from pathlib import Path

MATRIX = Path(__file__).parent / "data" / "modal_matrix.csv"
NAMES = {
    "CooperateBot": "always_cooperate",
    "DefectBot": "always_defect",
    "FairBot": "fair_bot",
    "FairBot1": "fair_bot_1",
    "FairBot2": "fair_bot_2",
    "PrudentBot": "prudent_bot",
    "PrudentBot2": "prudent_bot_2",
    "PrudentBot5": "prudent_bot_5",
    "ImprudentBot0": "imprudent_bot",
    "JustBot": "just_bot",
    "NiceBot": "nice_bot",
    "TrollBot": "troll_bot",
    "MagicBot": "magic_bot",
    "WaitFairBot1": "wait_fair_bot_1",
    "WaitFairBot2": "wait_fair_bot_2",
    "WaitFairBot3": "wait_fair_bot_3",
    "ReverseFair": "reverse_fair_bot",
    "ToughButFair2": "tough_but_fair",
    "HobsonBot": "hobson_bot",
    "CUPOD": "cupod",
    "CIMCIC": "cimcic",
    "DIMCID": "dimcid",
}
"""Bots by the names of the agents in the published matrix."""


def published_matrix() -> dict[tuple[str, str], str]:
    """Return the joint move of each pair of bots, by their names."""
    with MATRIX.open() as file:
        rows = {row.pop("row_vs_col"): row for row in csv.DictReader(file)}
    return {(NAMES[x], NAMES[y]): joint for x, row in rows.items() for y, joint in row.items()}
