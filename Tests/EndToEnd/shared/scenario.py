"""What the runner plays: functions of (checks, seed) that @scenario marks, each with a name of its own."""

import dataclasses
import inspect

SCENARIOS = {}


@dataclasses.dataclass(frozen=True)
class Scenario:
    """`gate`: whether a change must pass it, with what it sets then. `alone`: nothing may run beside it. `long`: it
    begins before the others, so that it is not left over at the end."""

    play: object
    gate: object
    alone: bool
    long: bool

    @property
    def has_bars(self):
        """Its module holds bars of time, memory or rate; see checks.HOLDS_BARS."""
        return "HOLDS_BARS" in self.play.__globals__

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
            found[name] = value == "true" if isinstance(defaults[name], bool) else type(defaults[name])(value)
        return found


def scenario(gate=None, alone=False, long=False):
    """Marks a function. `gate` is a dictionary of settings; without it the scenario is played by a campaign only."""
    def mark(function):
        SCENARIOS[function.__name__.replace("_", "-")] = Scenario(function, gate, alone, long)
        return function
    return mark
