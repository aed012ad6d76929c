"""Attacks on your own data, for its owner: what a release without noise gives away, and what is
left of it with noise. Findings are exact facts about real people, and stay with the owner.

>>> from deniable.audit import attack
>>> attack.reconstruction(16, noises=[0]).share(0)
1.0
"""

from deniable.audit.attack.attribute_inference import AttributeFinding, attribute_inference
from deniable.audit.attack.canaries.canary_audits import (
    audit_copy,
    audit_model,
    audit_questions,
)
from deniable.audit.attack.canaries.one_run import OneRunFinding, one_run
from deniable.audit.attack.canaries.one_run_bound import epsilon_at_least, most_shown
from deniable.audit.attack.canaries.two_sample import TwoSampleFinding, two_sample
from deniable.audit.attack.differencing import DifferencingFinding, differencing
from deniable.audit.attack.findings import AttackFinding
from deniable.audit.attack.linkage import LinkageFinding, linkage
from deniable.audit.attack.members.copy_membership import copy_membership
from deniable.audit.attack.members.membership import (
    MembershipFinding,
    membership,
    simulate_membership,
)
from deniable.audit.attack.members.model_membership import (
    ModelMembershipFinding,
    model_membership,
)
from deniable.audit.attack.question_attacks import QuestionsFinding, cross_tables, questions
from deniable.audit.attack.reconstruction import ReconstructionFinding, reconstruction
from deniable.audit.attack.rows.owned_sources import made_up

__all__ = [
    "AttackFinding",
    "AttributeFinding",
    "DifferencingFinding",
    "LinkageFinding",
    "MembershipFinding",
    "ModelMembershipFinding",
    "OneRunFinding",
    "QuestionsFinding",
    "ReconstructionFinding",
    "TwoSampleFinding",
    "attribute_inference",
    "audit_copy",
    "audit_model",
    "audit_questions",
    "copy_membership",
    "cross_tables",
    "differencing",
    "epsilon_at_least",
    "linkage",
    "made_up",
    "membership",
    "model_membership",
    "most_shown",
    "one_run",
    "questions",
    "reconstruction",
    "simulate_membership",
    "two_sample",
]
