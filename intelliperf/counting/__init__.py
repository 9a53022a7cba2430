"""How accesses are counted, whoever recorded them: LDS cycles, queues on an address, errors of sampled counts."""

from pathlib import Path

NATIVE = Path(__file__).resolve().parent / "native"
