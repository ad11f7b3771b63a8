"""The one error of a configuration."""


class ConfigError(Exception):
    """The configuration is refused; nothing ran. `str()` is for the user."""
