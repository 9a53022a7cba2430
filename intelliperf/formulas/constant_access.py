"""Reads of constant memory at another address in each lane."""

from __future__ import annotations

from intelliperf.formulas.base import Formula, Symptom, Threshold, count, value_of
from intelliperf.records import Device, KernelProfile, Metric, SourceEvidence

ADDRESSES_PER_REQUEST = Threshold(1.5, "constant memory is made for one address; half a request more costs nothing yet")


class ConstantAccess(Formula):
    """Addresses against requests: the constant cache answers with one address at a time.

    AMD's compilers load from constant memory by the scalar cache only what all lanes share, so that it cannot be seen
    there: other loads are those of global memory.
    """

    name = "constantAccess"
    summary = "lanes of a wave read constant memory at different addresses, which are served one by one"
    watched = Metric.CONSTANT_ADDRESSES
    needs = (
        Metric.DEVICE_TIME_NS,
        Metric.CONSTANT_REQUESTS,
        Metric.CONSTANT_ADDRESSES,
        Metric.CONSTANT_TIME_NS,
    )
    absent = {Metric.CONSTANT_ADDRESSES: "hardware counts no addresses of constant memory; the emulator does"}
    own_parts = (Metric.CONSTANT_TIME_NS,)
    knowledge = (
        "The constant cache broadcasts one address to a wave; lanes that ask for others are served one address after "
        "another, 32 times as slowly at worst. Tables whose index differs from lane to lane belong in LDS (copied once "
        "per block), in plain global memory through `const __restrict__` (L1 serves different lanes together), or, "
        "where they are small, in registers that lanes exchange by shuffles. What all lanes read alike stays in "
        "constant memory. A change of the loop that makes the index the same for all lanes does as well."
    )

    def symptom(self, profile: KernelProfile, device: Device) -> Symptom | None:
        requests = profile.quantity(Metric.CONSTANT_REQUESTS)
        addresses = value_of(profile, Metric.CONSTANT_ADDRESSES)
        if requests.value <= 0 or addresses < ADDRESSES_PER_REQUEST.value * requests.value:
            return None
        return Symptom(
            value=addresses,
            ideal=requests.value,
            excess_ns=value_of(profile, Metric.CONSTANT_TIME_NS) * (1.0 - requests.value / addresses),
            sentence=(
                f"a read of constant memory goes to {addresses / requests.value:.1f} addresses, which the constant "
                f"cache serves one by one (over {count(requests)} reads)"
            ),
        )

    def excess(self, evidence: SourceEvidence) -> float:
        if Metric.CONSTANT_ADDRESSES not in evidence.quantities:
            return 0.0
        addresses = evidence.quantity(Metric.CONSTANT_ADDRESSES).value
        return addresses - evidence.quantity(Metric.CONSTANT_REQUESTS).value
