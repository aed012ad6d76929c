"""Releases that are signed with the right key, whatever they say."""

from dataclasses import replace

from deniable.release.certificate.certificate import CertificateContext, certify
from deniable.release.certificate.kernel_check import KernelCheck


def signed(session, release, plan, table, delta="0"):
    """What a dishonest owner would hand over: any plan and rows, correctly signed."""
    head = session.ledger.head
    cap = {"epsilon": "1000", "delta": delta, "by": None}
    kernel = KernelCheck.of(plan, session.policy).to_json()
    placed = CertificateContext("0" * 64, "", None, head.number, head, cap, "DuckDB", kernel)
    answer = replace(release.answer, table=table)
    certificate = certify(plan, answer, placed, session.ledger)
    lie = replace(release, plan=plan, answer=answer, certificate=certificate)
    return lie.to_dict()
