"""Everything that can be wrong with the machine, the input or the tools.

A bad *candidate* is never an exception: it is a `Verdict`. `cli.py` is the only catcher.
"""


class IntelliPerfError(Exception):
    """Base of all errors that the user is shown; the message carries the remedy."""

    exit_status = 1


class UsageError(IntelliPerfError):
    """The command line, the configuration file or an argument is wrong."""

    exit_status = 2


class BackendUnavailable(IntelliPerfError):
    """A device, its driver or a tool that it needs is not there."""


class ToolchainError(IntelliPerfError):
    """The compiler, linker or native library that we depend on is missing or broken."""


class BuildFailed(IntelliPerfError):
    """The application itself (not a candidate) does not build."""


class ApplicationFailed(IntelliPerfError):
    """The unmodified application crashes, hangs, is killed or runs no GPU kernel."""


class NotReplayable(IntelliPerfError):
    """Recorded dispatches cannot be launched again here, for the reason that the message gives."""


class MissingMetric(IntelliPerfError):
    """A quantity was asked for that this profile does not hold; absent is not zero."""


class SourceNotFound(IntelliPerfError):
    """The bottleneck cannot be pinned to a source line of the project."""


class ProtocolError(IntelliPerfError):
    """A message or record file of another version, or a malformed one."""


class ProviderError(IntelliPerfError):
    """A model provider refused, failed or timed out after all retries."""


class BudgetExhausted(IntelliPerfError):
    """The user's budget of money, tokens or minutes is spent."""


class StorageFull(IntelliPerfError):
    """Output could not be written: full disk, quota or permission."""


# What ends the work on one finding or one measurement, and no run that has others: not the user's, a provider's or the
# disk's doing, which would meet each of them alike.
FAILS_ALONE = (
    ApplicationFailed,
    BackendUnavailable,
    BuildFailed,
    MissingMetric,
    NotReplayable,
    ProtocolError,
    SourceNotFound,
    ToolchainError,
)


class HistoryUnavailable(IntelliPerfError):
    """The database of nights is locked, gone, read-only or of a newer schema."""
