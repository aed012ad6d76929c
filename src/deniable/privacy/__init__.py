"""Losses: what releases cost, how costs compose, convert and compare."""

from deniable.privacy.gaussian import GaussianLoss
from deniable.privacy.loss import Loss
from deniable.privacy.pure import PureLoss

__all__ = ["GaussianLoss", "Loss", "PureLoss"]
