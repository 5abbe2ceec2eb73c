"""Options as the library takes them."""

import json
import math
import operator
from typing import Any, Mapping


def _plain(name: str, value: Any) -> Any:
    """numpy's numbers, and 0-dimensional tensors, as Python's."""
    if value is None or isinstance(value, (bool, str, list, dict)):
        return value
    try:
        return operator.index(value)
    except TypeError:
        pass
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number or a text, not {type(value).__name__}") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} is {value}; it must be finite")
    return number


def to_json(options: Mapping[str, Any]) -> str:
    """JSON of options by name; what is no number, text, list or dictionary is refused with its name."""
    return json.dumps({name: _plain(name, value) for name, value in options.items()})
