"""`deniable version`: which version this is."""

import deniable as dp


def version() -> None:
    """Print the version of Deniable and of Python."""
    import platform

    print(f"deniable {dp.__version__} (Python {platform.python_version()})")
