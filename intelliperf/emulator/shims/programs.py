"""The drop-ins that are not compilers: hipconfig, rocm_agent_enumerator, rocminfo."""

from __future__ import annotations

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
_ARCHITECTURE = """case "${INTELLIPERF_TARGET:-mi300x}" in
  mi2*) architecture=gfx90a ;;
  mi35*) architecture=gfx950 ;;
  rx7*) architecture=gfx1100 ;;
  *) architecture=gfx942 ;;
esac
"""
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


def script_programs() -> dict[str, str]:
    """Text by program name."""
    return {
        "hipconfig": _HIPCONFIG,
        "rocm_agent_enumerator": _ENUMERATOR,
        "rocminfo": _ROCMINFO,
        "amdgpu-arch": f"#!/bin/sh\n{_ARCHITECTURE}printf '%s\\n' \"$architecture\"\n",
    }
