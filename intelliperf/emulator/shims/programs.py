"""The drop-ins that are not compilers: what projects ask for a GPU when they are configured."""

from __future__ import annotations

from intelliperf.devices.models import DEFAULT_TARGETS, device_file_values, target_names
from intelliperf.dropins.queries import HIP_VERSION

_HIPCONFIG = f"""#!/bin/sh
home=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
case "$1" in
  -v|--version) printf '%s' '{HIP_VERSION}-intelliperf' ;;
  -p|--path) printf '%s' "$home" ;;
  -R|--rocmpath) printf '%s' "$home" ;;
  -P|--platform) printf 'amd' ;;
  -c|--compiler) printf 'clang' ;;
  -r|--runtime) printf 'rocclr' ;;
  -l|--hipclangpath) printf '%s' "$home/bin" ;;
  -C|--cpp_config|--cxx_config) printf ' -D__HIP_PLATFORM_AMD__= -I%s/include' "$home" ;;
  *) printf 'HIP version  : {HIP_VERSION}-intelliperf\\nHIP_PATH     : %s\\nROCM_PATH    : %s\\n' "$home" "$home"
     printf 'HIP_COMPILER : clang\\nHIP_PLATFORM : amd\\nHIP_RUNTIME  : rocclr\\n' ;;
esac
"""


def _architecture() -> str:
    """Shell text that sets `architecture` to the chip's of the run, or to the default chip's."""
    architectures = {name: str(device_file_values(name)["architecture"]) for name in target_names()}
    cases = [f"  {name}) architecture={found} ;;\n" for name, found in architectures.items() if found.startswith("gfx")]
    default = architectures[DEFAULT_TARGETS["hip"]]
    return f'case "${{INTELLIPERF_TARGET:-}}" in\n{"".join(cases)}  *) architecture={default} ;;\nesac\n'


_ARCHITECTURE = _architecture()
_ENUMERATOR = f"""#!/bin/sh
{_ARCHITECTURE}printf 'gfx000\\n%s\\n' "$architecture"
"""
_ROCMINFO = f"""#!/bin/sh
{_ARCHITECTURE}cat <<EOF
ROCk module is loaded
=====================
HSA System Attributes
=====================
Runtime Version:         1.1
==========
HSA Agents
==========
*******
Agent 1
*******
  Name:                    $architecture
  Marketing Name:          intelliperf emulator
  Device Type:             GPU
  ISA Info:
    ISA 1
      Name:                    amdgcn-amd-amdhsa--$architecture
*** Done ***
EOF
"""


def _nvidia_smi() -> str:
    """The device of the run in the forms that build scripts read: the list, a query in CSV, the table's head."""
    cases = []
    for target in target_names():
        values = device_file_values(target)
        if str(values["architecture"]).startswith("sm_"):
            capability = f"{values['compute_capability_major']}.{values['compute_capability_minor']}"
            memory = int(values["dram_total_bytes"]) >> 20
            cases.append(f"  {target}) name='{values['name']}' capability={capability} memory={memory} ;;\n")
    default = DEFAULT_TARGETS["cuda"]
    return _NVIDIA_SMI.replace("CASES\n", "".join(cases)).replace("DEFAULT", default)


_NVIDIA_SMI = r"""#!/bin/sh
target=${INTELLIPERF_TARGET:-DEFAULT}
case "$target" in
CASES
  *) echo 'No devices were found'; exit 6 ;;
esac
query='' plain='' bare=''
for word in "$@"; do
  case "$word" in
    -L|--list-gpus) echo "GPU 0: $name (UUID: GPU-494e5445-4c4c-4950-4552-462d53494d54)"; exit 0 ;;
    --query-gpu=*) query=${word#*=} ;;
    --format=*) case "$word" in *noheader*) plain=1 ;; esac; case "$word" in *nounits*) bare=1 ;; esac ;;
  esac
done
if [ -z "$query" ]; then
  echo '| NVIDIA-SMI 550.54.14    Driver Version: 550.54.14    CUDA Version: 12.4     |'
  echo "|   0  $name  ${memory}MiB |"
  exit 0
fi
[ -n "$plain" ] || echo "$query" | sed 's/,/, /g'
unit=' MiB'
[ -z "$bare" ] || unit=''
line=''
IFS=','
for field in $query; do
  case "$field" in
    *name) value=$name ;;
    *compute_cap) value=$capability ;;
    *driver_version) value=550.54.14 ;;
    *count) value=1 ;;
    *index) value=0 ;;
    *memory.total|*memory.free) value="$memory$unit" ;;
    *) value='[N/A]' ;;
  esac
  line="${line:+$line, }$value"
done
echo "$line"
"""


# The toolkit's own, which makefiles ask for the architecture of the GPU at hand: `90`.
_DEVICE_QUERY = """#!/bin/sh
"${0%/*}/nvidia-smi" --query-gpu=compute_cap --format=csv,noheader | tr -d .
"""


def script_programs() -> dict[str, str]:
    """Text by program name."""
    return {
        "hipconfig": _HIPCONFIG,
        "rocm_agent_enumerator": _ENUMERATOR,
        "rocminfo": _ROCMINFO,
        "nvidia-smi": _nvidia_smi(),
        "__nvcc_device_query": _DEVICE_QUERY,
        "amdgpu-arch": f"#!/bin/sh\n{_ARCHITECTURE}printf '%s\\n' \"$architecture\"\n",
    }
