"""What every test run shares: the Python it speaks for, and hypothesis without chance.

Knows nothing of what is tested. A run that searches at random is the suite's business, not that of these tests.
"""

import platform

from hypothesis import HealthCheck, settings

settings.register_profile(
    "gate",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=50,
    print_blob=False,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("gate")


def pytest_report_header() -> str:
    """Say which Python the verdict is about."""
    return f"Tests run on Python {platform.python_version()} ({platform.python_implementation()})"
