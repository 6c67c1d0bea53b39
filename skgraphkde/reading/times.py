"""Times as people and programs write them: text, or numbers since 1970 -> times of pandas."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd

from skgraphkde._utils import warn
from skgraphkde.reading.problems import UnreadableError

DATES = (
    *("%d.%m.%Y", "%d.%m.%y", "%d-%m-%Y", "%m-%d-%Y"),
    *("%Y/%m/%d", "%m/%d/%Y", "%d/%m/%Y"),
)
CLOCKS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
FORMATS = ("ISO8601", *(date + clock for date in DATES for clock in CLOCKS))

# A time zone at the end of a time.
ZONE = re.compile(r":\d\d(\.\d+)? ?(Z|UTC|GMT|[+-]\d\d(:?\d\d)?)$", re.IGNORECASE)
# Whole numbers between these are dates, if they are some: as seconds, all would be in August 1970.
COMPACT_DATES = 19000101, 21001231
# Whole numbers between these may be years.
YEARS = 1900, 2100
# Days of a spreadsheet, from 2000 to 2099.
SERIAL_DAYS = 36526, 73050
# Numbers of seconds, milliseconds, microseconds and nanoseconds since 1970 are below these.
UNITS = (("s", 1e11), ("ms", 1e14), ("us", 1e17), ("ns", np.inf))


def times_of_events(
    what: str,
    names: tuple[str, str | None],
    ends: pd.Series,
    starts: pd.Series | None,
    first_row: int = 0,
) -> tuple[pd.Series, pd.Series | None]:
    """The times of events, and when they began, which are written alike.

    Parameters
    ----------
    what : str
        The log, for messages.
    names : tuple of str
        Of the two columns.
    ends, starts : Series
        By their rows; a start may be missing. None: no starts are known.
    first_row : int, default=0
        What people call the row 0.

    Returns
    -------
    times : Series
    starts : Series or None
        NaT where one is missing.

    Raises
    ------
    UnreadableError
        If a time is missing, one cannot be read, or only some have a time zone.
    """
    if starts is None:
        return times_of(what, names[0], ends, first_row), None
    given = starts[starts.notna() & (starts != "")]
    have_zones = [getattr(x.dtype, "tz", None) is not None for x in (ends, given)]
    are_dates = [x.dtype.kind == "M" for x in (ends, given)]
    if all(are_dates) and have_zones[0] != have_zones[1]:
        raise UnreadableError(
            f"{what}: only one of {names[0]!r} and {names[1]!r} has a time zone: give it to both"
        )
    if any(are_dates):
        times = times_of(what, names[0], ends, first_row)
        found = times_of(what, str(names[1]), given, first_row)
    else:
        both = times_of(what, names[0], pd.concat([ends, given]), first_row)
        times = both.iloc[: len(ends)]
        found = both.iloc[len(ends) :]
    return times, found.reindex(times.index)


def times_of(what: str, name: str, values: pd.Series, first_row: int = 0) -> pd.Series:
    """Times of a column: dates, text, or numbers since 1970.

    Parameters
    ----------
    what : str
        The table, for messages.
    name : str
        Of the column.
    values : Series
        By their rows.
    first_row : int, default=0
        What people call the row 0.

    Raises
    ------
    UnreadableError
        If one is missing, or cannot be read.
    """
    if values.isna().any():
        row = values.index[values.isna()].tolist()[0]
        row = row + first_row if first_row else row
        raise UnreadableError(
            f"{what}, row {row!r}: {name!r}, its time, is empty: fill it, or leave the row out"
        )
    if values.dtype.kind == "M":
        return pd.to_datetime(values, utc=True)
    if all(isinstance(value, str) for value in values):
        return _times_of_texts(what, name, values, first_row)
    try:
        numbers = pd.to_numeric(values)
    except (ValueError, TypeError):
        numbers = None
    try:
        if numbers is None:
            return pd.to_datetime(values, utc=True)
        return _times_of_numbers(what, name, numbers)
    except (ValueError, TypeError) as error:
        raise UnreadableError(f"{what}: {name!r} has no times ({error})") from error


def _times_of_numbers(what: str, name: str, numbers: pd.Series) -> pd.Series:
    """Times that are dates without marks, or counted since 1970 in the unit of their size."""
    if not np.isfinite(numbers).all():
        raise ValueError("not all are finite numbers")
    are_whole = (numbers % 1 == 0).all()
    if are_whole and numbers.between(*COMPACT_DATES).all():
        texts = numbers.astype("int64").astype(str)
        times = pd.to_datetime(texts, utc=True, format="%Y%m%d", errors="coerce")
        if times.isna().any():
            raise ValueError(f"{texts[times.isna()].iloc[0]} is no date, YYYYMMDD")
        warn(f"{what}: {int(numbers.iloc[0])} under {name!r} is read as a date, YYYYMMDD")
        return times
    may_be_years = are_whole and numbers.between(*YEARS).all() and numbers.nunique() > 1
    may_be_days = not are_whole and numbers.between(*SERIAL_DAYS).all()
    if may_be_years or may_be_days:
        warn(
            f"{what}: {numbers.iloc[0]:g} under {name!r} is read as seconds since 1970: write "
            f"2019-01-01 if these are {'years' if may_be_years else 'days of a spreadsheet'}"
        )
    unit: Any = next(unit for unit, most in UNITS if np.abs(numbers).max() < most)
    return pd.to_datetime(numbers, unit=unit, utc=True)


def _times_of_texts(what: str, name: str, texts: pd.Series, first_row: int) -> pd.Series:
    """Times that are text, all written alike."""
    if texts.empty:
        return pd.Series(index=texts.index, dtype="datetime64[ns, UTC]")
    rows = texts.index + first_row
    first = texts.iloc[0]
    has_zone = [ZONE.search(text) is not None for text in texts]
    if any(has_zone) and not all(has_zone):
        row = has_zone.index(not has_zone[0])
        raise UnreadableError(
            f"{what}, row {rows[row]}: {texts.iloc[row]!r} under {name!r} has "
            f"{'a' if has_zone[row] else 'no'} time zone, and {first!r} has "
            f"{'one' if has_zone[0] else 'none'}: write all times with their zone, or all without"
        )
    found = {}
    dates = texts.mask([text.isdecimal() and len(text) < 8 for text in texts], None)
    for form in FORMATS if dates.notna().all() else ():
        with suppress(ValueError):
            found[form] = pd.to_datetime(dates, utc=True, format=form)
    if not found:
        read = [pd.to_datetime(dates, utc=True, format=form, errors="coerce") for form in FORMATS]
        row = int(max(read, key=lambda times: times.count()).isna().to_numpy().argmax())
        raise UnreadableError(
            f"{what}, row {rows[row]}: {texts.iloc[row]!r} under {name!r} is no time that is "
            "known, or not written as the others: write times as 2026-01-31 13:00"
        )
    form, times = next(iter(found.items()))
    if not all(times.equals(other) for other in found.values()):
        order = "month and day" if form.startswith("%m") else "day and month"
        warn(f"{what}: {first!r} under {name!r} is read as {order}: write 2026-01-31 if not")
    return times
