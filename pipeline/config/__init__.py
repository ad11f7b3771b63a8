"""What a job is: YAML in, validated frozen objects out."""

from pipeline.config.errors import ConfigError
from pipeline.config.files import load
from pipeline.config.sections import Config

__all__ = ["Config", "ConfigError", "load"]
