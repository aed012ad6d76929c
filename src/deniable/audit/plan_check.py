"""A second opinion on a plan, from the kernel, which shares no code with the planner."""

from deniable.kernel.verdict import KernelVerdict
from deniable.policy import Policy
from deniable.query.plan.plan import Plan
from deniable.release.certificate.kernel_check import KernelCheck


def check_plan(plan: Plan, policy: Policy) -> KernelVerdict:
    """What the kernel derives: how far one unit moves each part of a plan, and the loss.

    `policy` is a session's, because that knows the types of the columns. Raises `PlanRefused`
    for a plan that declares less than the kernel derives, or that no rule covers. Sessions call
    it before every charge.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> data = dp.protect(pa.table({"x": range(500)}), bounds={"x": (0, 500)}, epsilon=1)
    >>> plan = data.plan("SELECT SUM(x) AS total FROM data", epsilon=0.5)
    >>> [(part.about, part.l1) for part in dp.audit.check_plan(plan, data.policy).parts]
    [('sum of x', 500)]
    """
    return KernelCheck.of(plan, policy).verdict
