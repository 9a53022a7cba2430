"""The nouns of the product, frozen. Changing one means making a new one.

Records hold no behaviour beyond checking themselves; everything that crosses a package
border is one of these. All times are nanoseconds, all sizes bytes, unless the name says so.
"""

from intelliperf.records.applications import SHELL as SHELL
from intelliperf.records.applications import STOP_AFTER as STOP_AFTER
from intelliperf.records.applications import STOP_STATUS as STOP_STATUS
from intelliperf.records.applications import TOLERATE as TOLERATE
from intelliperf.records.applications import Application as Application
from intelliperf.records.applications import Executor as Executor
from intelliperf.records.applications import Launcher as Launcher
from intelliperf.records.candidates import NO_FILE as NO_FILE
from intelliperf.records.candidates import Candidate as Candidate
from intelliperf.records.candidates import Declaration as Declaration
from intelliperf.records.candidates import Declined as Declined
from intelliperf.records.candidates import FileEdit as FileEdit
from intelliperf.records.candidates import Origin as Origin
from intelliperf.records.candidates import OriginKind as OriginKind
from intelliperf.records.candidates import Tunable as Tunable
from intelliperf.records.candidates import content_hash as content_hash
from intelliperf.records.candidates import relative_path as relative_path
from intelliperf.records.defects import Defect as Defect
from intelliperf.records.defects import DefectLevel as DefectLevel
from intelliperf.records.defects import SourcePoint as SourcePoint
from intelliperf.records.interceptions import ANY_KERNEL as ANY_KERNEL
from intelliperf.records.interceptions import Bounds as Bounds
from intelliperf.records.interceptions import Feature as Feature
from intelliperf.records.interceptions import Interception as Interception
from intelliperf.records.interceptions import Order as Order
from intelliperf.records.interceptions import Rounding as Rounding
from intelliperf.records.interceptions import Shadow as Shadow
from intelliperf.records.kernels import AccessKind as AccessKind
from intelliperf.records.kernels import Device as Device
from intelliperf.records.kernels import DeviceLimits as DeviceLimits
from intelliperf.records.kernels import Finding as Finding
from intelliperf.records.kernels import Frame as Frame
from intelliperf.records.kernels import Geometry as Geometry
from intelliperf.records.kernels import Kernel as Kernel
from intelliperf.records.kernels import KernelProfile as KernelProfile
from intelliperf.records.kernels import MemorySpace as MemorySpace
from intelliperf.records.kernels import SourceEvidence as SourceEvidence
from intelliperf.records.metrics import Metric as Metric
from intelliperf.records.metrics import Provenance as Provenance
from intelliperf.records.metrics import Quantity as Quantity
from intelliperf.records.reports import SCHEMA_VERSION as SCHEMA_VERSION
from intelliperf.records.reports import Attempt as Attempt
from intelliperf.records.reports import Diagnosis as Diagnosis
from intelliperf.records.reports import Ending as Ending
from intelliperf.records.reports import KernelPatch as KernelPatch
from intelliperf.records.reports import OtherTime as OtherTime
from intelliperf.records.reports import Report as Report
from intelliperf.records.reports import Review as Review
from intelliperf.records.reports import Usage as Usage
from intelliperf.records.timeline import ProcessFinding as ProcessFinding
from intelliperf.records.timeline import ProcessTime as ProcessTime
from intelliperf.records.verdicts import DEFERRED as DEFERRED
from intelliperf.records.verdicts import EMULATED as EMULATED
from intelliperf.records.verdicts import NEEDLESS as NEEDLESS
from intelliperf.records.verdicts import RECORDED as RECORDED
from intelliperf.records.verdicts import Check as Check
from intelliperf.records.verdicts import CheckStatus as CheckStatus
from intelliperf.records.verdicts import Measurement as Measurement
from intelliperf.records.verdicts import Outcome as Outcome
from intelliperf.records.verdicts import Scope as Scope
from intelliperf.records.verdicts import Strength as Strength
from intelliperf.records.verdicts import Verdict as Verdict
