#!/usr/bin/env python
"""Lode's command line."""

import os
import sys


def main() -> None:
    """Run the command named on the command line, with the embedded servers around it if it needs them."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.development")
    from django.core.management import execute_from_command_line

    from apps.core.embedded.commands import servers_for

    with servers_for(sys.argv):
        execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
