"""Rows of the report: a mean over questions, its interval, its goal."""
import dataclasses
import random
import statistics
from typing import Optional

RESAMPLES = 1000
# Names of LoCoMo's categories; other data has words.
CATEGORIES = {"1": "multi-hop", "2": "temporal", "3": "open-domain", "4": "single-hop"}


def interval(values):
    """The 95 % interval of a mean: bootstrap over questions, from a fixed seed."""
    resample = random.Random(0)
    means = sorted(statistics.fmean(resample.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return means[round(0.025 * (RESAMPLES - 1))], means[round(0.975 * (RESAMPLES - 1))]


@dataclasses.dataclass
class Row:
    """`values` has one number, 0 to 1, for each question; the goal is a minimum in per cent, or a maximum if `most`."""

    name: str
    values: list
    goal: Optional[float] = None
    most: bool = False
    note: str = ""

    def found(self):
        return 100 * statistics.fmean(self.values)

    def is_missed(self):
        if self.goal is None:
            return False
        return self.found() > self.goal if self.most else self.found() < self.goal

    def __str__(self):
        low, high = interval(self.values)
        goal = "-" if self.goal is None else f"{self.goal:.1f}"
        verdict = "" if self.goal is None else "MISSED" if self.is_missed() else "met"
        between = f"{100 * low:.1f} to {100 * high:.1f}"
        line = f"{self.name:<34}{len(self.values):>10}{self.found():>9.1f}{between:>14}{goal:>8}  {verdict:<7}{self.note}"
        return line.rstrip()


def by_category(name, scored, goals, note=""):
    """A row for all questions and one for each category; `scored` has pairs of category and value."""
    rows = []
    for category in sorted({category for category, _ in scored}):
        values = [value for other, value in scored if other == category]
        rows.append(Row(f"{name} {CATEGORIES.get(category, category)}", values, goals.get(category)))
    rows.append(Row(f"{name} overall", [value for _, value in scored], goals.get("overall"), note=note))
    return rows
