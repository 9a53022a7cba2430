"""What looks like a secret: names of variables that hold one, and texts in the formats of those who issue them.

A net, not a proof: a secret under a harmless name in a format of its own is not seen. Confined runs get an allow list
instead (`sandbox.KEPT_VARIABLES`); this is for builds and the original program, which need more of the environment.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

REDACTED = "[REDACTED]"
_SHORTEST = 8  # characters; a shorter value may be an everyday word
_LONGEST_LINE = 1 << 20
PASSED = "INTELLIPERF_PASS_ENV"  # names, by commas, that are handed on whatever they look like
_WORDS = re.compile(
    r"key|token|secret|passw|passphrase|askpass|credential|auth|cookie|jwt|dsn|netrc|kubeconfig|webhook|private|"
    r"database_url|vault_|license|(?:^|_)(?:pat|pwd|sk|pw)$",
    re.IGNORECASE,
)
# Directories, and what builds need that opens nothing by itself.
_HARMLESS = re.compile(r"^(?:PWD|OLDPWD|GIT_AUTHOR_\w+|XKB_\w+)$|_LICENSE_FILE$", re.IGNORECASE)
# Key formats as their issuers publish them, for secret scanners.
TEXTS = re.compile(
    r"""
      (?P<provider>\b(?:
          AKIA[0-9A-Z]{16}                              # AWS access key id
        | ASIA[0-9A-Z]{16}                              # AWS temporary key id
        | sk-[A-Za-z0-9_-]{20,}                         # OpenAI, Anthropic
        | gh[pousr]_[A-Za-z0-9]{36,}                    # GitHub
        | github_pat_[A-Za-z0-9_]{40,}
        | glpat-[A-Za-z0-9_-]{20,}                      # GitLab
        | xox[abprs]-[A-Za-z0-9-]{10,}                  # Slack
        | AIza[0-9A-Za-z_-]{35}                         # Google
        | hf_[A-Za-z0-9]{30,}                           # Hugging Face
        | eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}  # JSON web token
      ))
    | (?i:(?<![a-z])(?:password|passwd|secret|api_?key|access_?token|auth_?token)["']?\s*[:=]\s*)
      (?P<quoted>"[^"\s]{8,}"|'[^'\s]{8,}')
    | (?P<credentials>(?<=://)[^\s/:@]+:[^\s/@]+(?=@))   # user:password in a URL
    """,
    re.VERBOSE,
)


def is_secret(name: str, value: str = "") -> bool:
    """Does the variable hold a secret, by its name or, where it is not a proxy, by what its value looks like?"""
    if _WORDS.search(name) and not _HARMLESS.search(name):
        return True
    return not name.lower().endswith("_proxy") and TEXTS.search(value) is not None


def secrets_of(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that no child is handed, other than those that the user passes on."""
    passed = environment.get(PASSED, "").split(",")
    return {name: value for name, value in environment.items() if name not in passed and is_secret(name, value)}


def without_secrets(text: str) -> str:
    return TEXTS.sub(_blanked, text)


def mask_logs(directory: Path) -> None:
    """Blank secrets in the outputs of programs and builds below a directory: by format, and the values passed on.

    Logs that hold none keep their bytes. Called when nothing writes or compares them any more.
    """
    for path in (*directory.rglob("*.stdout"), *directory.rglob("*.stderr")):
        with contextlib.suppress(OSError):  # a full disk, or a file of another user: nothing was said of it then either
            if path.is_file() and not path.is_symlink():
                _mask(path, _passed_values(os.environ))


def _passed_values(environment: Mapping[str, str]) -> tuple[str, ...]:
    passed = environment.get(PASSED, "").split(",")
    values = {value for name in passed if is_secret(name, value := environment.get(name, ""))}
    return tuple(value for value in values if len(value) >= _SHORTEST)


def _mask(path: Path, values: Sequence[str]) -> None:
    masked = path.with_name(f"{path.name}.masked")
    changed = False
    try:
        with path.open("rb") as raw, masked.open("wb") as written:
            while line := raw.readline(_LONGEST_LINE):
                text = line.decode("latin-1")  # one character for each byte
                blank = without_secrets(text)
                for value in values:
                    blank = blank.replace(value.encode().decode("latin-1"), REDACTED)
                changed |= blank != text
                written.write(blank.encode("latin-1"))
        if changed:
            masked.replace(path)
    finally:
        masked.unlink(missing_ok=True)


def _blanked(match: re.Match[str]) -> str:
    secret = next(value for value in match.groups() if value is not None)
    if match["quoted"] is not None:
        secret = secret[1:-1]
    return match[0].replace(secret, REDACTED)


def own_environment() -> dict[str, str]:
    """This process's environment without secrets."""
    hidden = secrets_of(os.environ)
    return {name: value for name, value in os.environ.items() if name not in hidden}
