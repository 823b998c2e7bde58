"""Properties get as much time as they need: two shared cores make a deadline for one example flaky."""

from hypothesis import settings

settings.register_profile("rules", deadline=None)
settings.load_profile("rules")
