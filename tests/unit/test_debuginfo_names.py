"""Names of functions and types as debug metadata has them."""

from __future__ import annotations

import pytest

from intelliperf.emulator.ir.debuginfo import DebugInfo
from intelliperf.emulator.ir.module import parse_module


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("each<(lambda at /scratch/7/root/home/me/it's/app.cu:5:16)>", "each<(lambda at app.cu:5:16)>"),
        ("two<(lambda at ../a.h:1:2), (lambda at /b c/d.h:3:4)>", "two<(lambda at a.h:1:2), (lambda at d.h:3:4)>"),
        ("each<(unnamed struct at /x/app.cu:5:16), 3>", "each<(unnamed struct at app.cu:5:16), 3>"),
        ("each<(lambda at app.cu:5:16)>", "each<(lambda at app.cu:5:16)>"),
    ],
)
def test_the_name_of_a_kernel_of_a_lambda_has_no_folder_in_it(written: str, shown: str) -> None:
    module = parse_module(f'!1 = !DISubprogram(name: "{written}")\n')
    assert DebugInfo(module.metadata).qualified_name(1) == shown
