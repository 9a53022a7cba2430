"""What build systems look for beside the compilers: CMake packages and libraries by their vendors' names."""

from __future__ import annotations

from intelliperf.dropins.queries import HIP_VERSION

# A package that was asked for below /opt/rocm is not there for compilers: they are named where it is.
_ROOT = """if(DEFINED ENV{INTELLIPERF_DROP_INS})
  get_filename_component(_intelliperf_root "$ENV{INTELLIPERF_DROP_INS}/.." ABSOLUTE)
else()
  get_filename_component(_intelliperf_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
endif()
"""
_HOST_TARGET = """
if(NOT TARGET hip::amdhip64)
  add_library(hip::amdhip64 SHARED IMPORTED GLOBAL)
  set_target_properties(hip::amdhip64 PROPERTIES
    IMPORTED_LOCATION "${_intelliperf_root}/lib/libamdhip64.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_intelliperf_root}/include"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${_intelliperf_root}/include"
    INTERFACE_COMPILE_DEFINITIONS "__HIP_PLATFORM_AMD__=1")
endif()
"""
_HIP_LANG = f"""{_ROOT}{_HOST_TARGET}
if(NOT TARGET hip-lang::device)
  add_library(hip-lang::amdhip64 INTERFACE IMPORTED GLOBAL)
  set_target_properties(hip-lang::amdhip64 PROPERTIES INTERFACE_LINK_LIBRARIES "hip::amdhip64")
  add_library(hip-lang::device INTERFACE IMPORTED GLOBAL)
  set_target_properties(hip-lang::device PROPERTIES
    INTERFACE_LINK_LIBRARIES "$<$<LINK_LANGUAGE:HIP>:${{_intelliperf_root}}/lib/libamdhip64.so>"
    INTERFACE_LINK_OPTIONS "$<$<LINK_LANGUAGE:HIP>:--hip-link>")
endif()
set(_CMAKE_HIP_DEVICE_RUNTIME_TARGET "hip-lang::device")
set(hip-lang_FOUND TRUE)
"""
_HIP = f"""{_ROOT}{_HOST_TARGET}
if(NOT TARGET hip::host)
  add_library(hip::host INTERFACE IMPORTED GLOBAL)
  set_target_properties(hip::host PROPERTIES INTERFACE_LINK_LIBRARIES "hip::amdhip64")
endif()
if(NOT TARGET hip::device)
  add_library(hip::device INTERFACE IMPORTED GLOBAL)
  set_target_properties(hip::device PROPERTIES
    INTERFACE_LINK_LIBRARIES "hip::host"
    INTERFACE_COMPILE_OPTIONS "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-x hip>"
    INTERFACE_LINK_OPTIONS "--hip-link")
endif()
set(HIP_FOUND TRUE)
set(hip_FOUND TRUE)
set(hip_VERSION "{HIP_VERSION}")
set(HIP_VERSION "{HIP_VERSION}")
set(HIP_PLATFORM "amd")
set(HIP_COMPILER "clang")
set(HIP_RUNTIME "rocclr")
set(HIP_PATH "${{_intelliperf_root}}")
set(HIP_ROOT_DIR "${{_intelliperf_root}}")
set(hip_INCLUDE_DIR "${{_intelliperf_root}}/include")
set(hip_INCLUDE_DIRS "${{_intelliperf_root}}/include")
set(HIP_INCLUDE_DIRS "${{_intelliperf_root}}/include")
set(hip_LIBRARIES hip::host)
set(HIP_HIPCC_EXECUTABLE "${{_intelliperf_root}}/bin/hipcc")
set(HIP_HIPCONFIG_EXECUTABLE "${{_intelliperf_root}}/bin/hipconfig")
set(HIP_CXX_COMPILER "${{_intelliperf_root}}/bin/hipcc")
include(CMakeParseArguments)
# As hipcc would compile it, whatever the project's C++ compiler is.
macro(_intelliperf_finish target)
  enable_language(HIP)
  set(_intelliperf_sources ${{_intelliperf_UNPARSED_ARGUMENTS}})
  list(FILTER _intelliperf_sources INCLUDE REGEX "\\.(cpp|cc|cxx|C|hip|cu)$")
  set_source_files_properties(${{_intelliperf_sources}} PROPERTIES LANGUAGE HIP)
  set_target_properties(${{target}} PROPERTIES LINKER_LANGUAGE HIP HIP_ARCHITECTURES "${{CMAKE_HIP_ARCHITECTURES}}")
  set_property(TARGET ${{target}} APPEND PROPERTY LINK_LIBRARIES hip::host)  # commits to no signature
  target_compile_options(${{target}} PRIVATE
    $<$<COMPILE_LANGUAGE:HIP>:${{_intelliperf_HIPCC_OPTIONS}};${{_intelliperf_CLANG_OPTIONS}}>)
endmacro()
macro(hip_add_executable target)
  cmake_parse_arguments(_intelliperf "" "" "HIPCC_OPTIONS;CLANG_OPTIONS;NVCC_OPTIONS" ${{ARGN}})
  add_executable(${{target}} ${{_intelliperf_UNPARSED_ARGUMENTS}})
  _intelliperf_finish(${{target}})
endmacro()
macro(hip_add_library target)
  cmake_parse_arguments(_intelliperf "" "" "HIPCC_OPTIONS;CLANG_OPTIONS;NVCC_OPTIONS" ${{ARGN}})
  add_library(${{target}} ${{_intelliperf_UNPARSED_ARGUMENTS}})
  list(REMOVE_ITEM _intelliperf_UNPARSED_ARGUMENTS STATIC SHARED MODULE EXCLUDE_FROM_ALL)
  _intelliperf_finish(${{target}})
endmacro()
"""
# Header-only libraries of ROCm: package name → imported target.
_HEADER_PACKAGES = {
    "hipcub": "hip::hipcub",
    "rocprim": "roc::rocprim",
    "rocthrust": "roc::rocthrust",
    "hiprand": "hip::hiprand",
    "rocrand": "roc::rocrand",
    "hipblas": "roc::hipblas",
    "hipfft": "hip::hipfft",
    "rocblas": "roc::rocblas",
    "hiprtc": "hiprtc::hiprtc",
}
_CUDA_LIBRARIES = (
    "cudart",
    "cuda",
    "curand",
    "nvToolsExt",
    "cublas",
    "cublasLt",
    "cufft",
    "cusparse",
    "nvidia-ml",
    "nvrtc",
)
# Without a stand-in; CMake's FindCUDAToolkit makes a target only where there is a file, and a project names it.
_ABSENT_CUDA_LIBRARIES = (
    "cufftw", "cusolver", "nvjpeg", "nvJitLink", "cufile", "nppc", "nppial", "nppicc", "nppidei", "nppif", "nppig",
    "nppim", "nppist", "nppisu", "nppitc", "npps",
)  # fmt: skip
_STATIC_LIBRARIES = ("cudart", "curand", "cublas", "cublasLt", "cufft", "cusparse", "nvrtc")
_HIP_LIBRARIES = ("amdhip64", "roctx64", "hiprand", "rocrand", "hipblas", "rocblas", "hipfft", "hiprtc")


def package_files() -> dict[str, str]:
    """Text by path below the drop-ins' root."""
    files = {
        "lib/cmake/hip-lang/hip-lang-config.cmake": _HIP_LANG,
        "lib/cmake/hip-lang/hip-lang-config-version.cmake": _version_file(),
        "lib/cmake/hip/hip-config.cmake": _HIP,
        "lib/cmake/hip/hip-config-version.cmake": _version_file(),
        "lib/cmake/hip/FindHIP.cmake": 'include("${CMAKE_CURRENT_LIST_DIR}/hip-config.cmake")\n',
        "nvvm/libdevice/README": "The embedded emulator needs no device library.\n",
        **{f"lib64/lib{name}_static.a": "INPUT(-lintelliperf_simt)\n" for name in _STATIC_LIBRARIES},
        "lib64/libcudadevrt.a": "!<arch>\n",
        "lib64/libculibos.a": "!<arch>\n",
        "version.json": '{"cuda": {"name": "CUDA SDK", "version": "12.4.131"}}\n',
        ".info/version": f"{HIP_VERSION}\n",
    }
    for name, target in _HEADER_PACKAGES.items():
        files[f"lib/cmake/{name}/{name}-config.cmake"] = _header_package(name, target)
        files[f"lib/cmake/{name}/{name}-config-version.cmake"] = _version_file()
    return files


def library_links(runtime_library: str) -> dict[str, str]:
    """Symbolic links below the root, by path: the vendors' library names lead to our runtime library."""
    cuda = (*_CUDA_LIBRARIES, *_ABSENT_CUDA_LIBRARIES)
    names = {"lib": _HIP_LIBRARIES, "lib64": cuda, "lib64/stubs": ("cuda", "nvidia-ml")}
    links = {f"{folder}/lib{name}.so": runtime_library for folder, group in names.items() for name in group}
    # The dynamic linker looks for the library's own name in the directories that CMake puts into rpaths.
    own = runtime_library.rpartition("/")[2]
    links.update({f"{folder}/{own}": runtime_library for folder in ("lib", "lib64")})
    return links


def _version_file() -> str:
    return f"""set(PACKAGE_VERSION "{HIP_VERSION}")
if(NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
"""


def _header_package(name: str, target: str) -> str:
    return f"""{_ROOT}if(NOT TARGET {target})
  add_library({target} INTERFACE IMPORTED GLOBAL)
  set_target_properties({target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${{_intelliperf_root}}/include")
endif()
set({name}_FOUND TRUE)
set({name}_INCLUDE_DIRS "${{_intelliperf_root}}/include")
"""
