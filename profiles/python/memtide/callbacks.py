"""Plans in the training loops of Transformers' Trainer and of Lightning."""
from .runtime import apply


class Applied:
    """A plan that is applied while a loop trains. Each begin has at most one end."""

    def __init__(self, plan, strict):
        self.plan, self.strict, self.handle = plan, strict, None

    def begin(self, model):
        if self.handle is None:
            self.handle = apply(model, self.plan, self.strict)

    def end(self):
        if self.handle is not None:
            self.handle.remove()
            self.handle = None


def trainer_callback(plan, strict=False):
    """Returns a callback for Transformers: Trainer(..., callbacks=[trainer_callback(plan)])
    trains its model by the plan. TrainingArguments have to leave gradient_checkpointing off."""
    from transformers import TrainerCallback

    class TrainByPlan(TrainerCallback):
        applied = Applied(plan, strict)

        def on_train_begin(self, args, state, control, model=None, **kwargs):
            self.applied.begin(model)

        def on_train_end(self, args, state, control, **kwargs):
            self.applied.end()

    return TrainByPlan()


def lightning_callback(plan, module=lambda whole: whole, strict=False):
    """Returns a callback for Lightning: Trainer(callbacks=[lightning_callback(plan)]) trains
    by the plan. module returns the part of the LightningModule for which the plan was made,
    such as lambda whole: whole.net; by default it is the LightningModule itself."""
    try:
        from lightning.pytorch import Callback
    except ImportError:
        from pytorch_lightning import Callback

    class TrainByPlan(Callback):
        applied = Applied(plan, strict)

        def on_fit_start(self, trainer, pl_module):
            self.applied.begin(module(pl_module))

        def on_fit_end(self, trainer, pl_module):
            self.applied.end()

        def on_exception(self, trainer, pl_module, exception):
            self.applied.end()

    return TrainByPlan()
