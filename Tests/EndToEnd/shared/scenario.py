"""What the runner plays: functions of (checks, seed) that @scenario marks, each with a name of its own."""

import dataclasses
import inspect

SCENARIOS = {}


@dataclasses.dataclass(frozen=True)
class Scenario:
    """`gate`: whether a change must pass it, with what it sets then. `alone`: nothing may run beside it. `long`: it
    begins before the others, so that it is not left over at the end. `bars`: as it is played without settings, it
    holds bars of time, memory or rate; see checks.HOLDS_BARS. `least`: below which values of settings it shows nothing,
    each with the reason."""

    play: object
    gate: object
    alone: bool
    long: bool
    bars: bool
    least: dict

    @property
    def defaults(self):
        """What the function takes besides."""
        return {name: one.default for name, one in list(inspect.signature(self.play).parameters.items())[2:]}

    def settings(self, given):
        """The same from texts such as `count=1000`, with the types of the defaults."""
        defaults, found = self.defaults, {}
        for text in given:
            name, _, value = text.partition("=")
            if name not in defaults:
                raise ValueError(f"no setting '{name}'; there are: {', '.join(defaults) or 'none'}")
            found[name] = read(name, value, type(defaults[name]))
            least, reason = self.least.get(name, (found[name], ""))
            if found[name] < least:
                raise ValueError(f"setting '{name}' takes {least} or more, not '{value}': {reason}")
        return found


def read(name, value, kind):
    """A setting's value from its text."""
    if kind is bool:
        if value not in ("true", "false"):
            raise ValueError(f"setting '{name}' takes true or false, not '{value}'")
        return value == "true"
    try:
        return kind(value)
    except ValueError:
        raise ValueError(f"setting '{name}' takes a value of type {kind.__name__}, not '{value}'") from None


def written(settings):
    """Settings as texts that are read back."""
    return [f"{name}={str(value).lower() if isinstance(value, bool) else value}" for name, value in settings.items()]


def scenario(gate=None, alone=False, long=False, bars=False, least=None):
    """Marks a function. `gate` is a dictionary of settings; without it the scenario is played by a campaign only."""
    def mark(function):
        SCENARIOS[function.__name__.replace("_", "-")] = Scenario(
            function, gate, alone, long, bars, least or {})
        return function
    return mark
