"""What a job is: YAML in, validated frozen objects out."""

from pipeline.config.files import ConfigError, load
from pipeline.config.sections import Config

__all__ = ["Config", "ConfigError", "load"]
