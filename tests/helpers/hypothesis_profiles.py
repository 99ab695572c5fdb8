"""How many examples Hypothesis tries: a tenth of them, or all with `--hypothesis-profile=all`."""

from hypothesis import HealthCheck, settings

COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "derandomize": True}
ALL = 100

settings.register_profile("all", max_examples=ALL, **COMMON)
settings.register_profile("tenth", max_examples=ALL // 10, **COMMON)


def examples(n):
    """Limit a test to n examples with the profile `all`, and proportionally with other profiles."""
    return settings(max_examples=max(1, n * settings.default.max_examples // ALL))
