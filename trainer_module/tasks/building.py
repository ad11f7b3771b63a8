"""From the settings to the task that they name."""

from trainer_module.settings import TrainerSettings
from trainer_module.tasks.base import Task
from trainer_module.tasks.classification import Classification
from trainer_module.tasks.summarization import Summarization


def build(
    settings: TrainerSettings,
    label_names_path: str | None,
    *,
    warm_start_dir: str | None = None,
) -> Task:
    """Loads the checkpoint as the task's model. Call it inside the strategy's scope.

    Args:
      warm_start_dir: a model that was exported before, whose weights are taken in
        place of the checkpoint's; see `warm_start`.

    Raises:
      Refusal: if the checkpoint or the exported model cannot be used.
    """
    if settings.task == "classification":
        if label_names_path is None:
            raise ValueError("Classification needs the file of label names.")
        return Classification(settings, label_names_path, warm_start_dir)
    return Summarization(settings, warm_start_dir)
