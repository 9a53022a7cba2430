"""Links device code across objects (-fgpu-rdc, -rdc=true, -dc/-dlink).

Every such object carries its device IR, not yet optimised, in a section of its own. At the final
link the modules become one, which is optimised and instrumented as a whole; a small object with
the container and the registration of all kernels and variables joins the host objects.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from intelliperf.dropins.toolchain import TRIPLE, Toolchain, host_processor
from intelliperf.emulator.compiler.device import build_container, run_tool
from intelliperf.emulator.compiler.objectfiles import objects_in, section
from intelliperf.errors import ToolchainError

IR_SECTION = ".intelliperf_device_ir"
LINKED_SECTION = ".intelliperf_device_linked"
_LENGTHS = struct.Struct("<II")  # of the JSON header and of the bitcode that follow
_USED_BY_HOST = re.compile(r"^(@__clang_gpu_used_external\S* = .*?) \[\d+ x ptr\] \[.*\]", re.MULTILINE)
_MARK_OF_FILE = re.compile(rb"(?:__|\.)intern(?:__|\.)[0-9a-f]{16}")
_DEFINED = re.compile(r"^(?:define [^@]*@([\w.$]+)\(|@([\w.$]+) = (?!external |extern_weak ))", re.MULTILINE)
_OFFLOAD_ENTRIES_SINCE = 21  # clang's layout of the entries below

_REGISTRATION = """
typedef unsigned long u64; typedef unsigned u32; typedef unsigned short u16;
struct entry {
  u64 reserved; u16 version; u16 kind; u32 flags; char *address; char *name; u64 size; u64 data; void *auxiliary;
};
enum { kManaged = 1, kTypes = 7, kExtern = 8, kConstant = 16 };
extern struct entry begin[] __asm__("__start_llvm_offload_entries") __attribute__((weak, visibility("hidden")));
extern struct entry end[] __asm__("__stop_llvm_offload_entries") __attribute__((weak, visibility("hidden")));
extern void **__@API@RegisterFatBinary(const void *);
extern void __@API@UnregisterFatBinary(void **);
extern int __@API@RegisterFunction(void **, const void *, char *, const char *, int, void *, void *, void *, void *,
                                   int *);
extern void __@API@RegisterVar(void **, char *, char *, const char *, int, u64, int, int);
extern void __@API@RegisterManagedVar(void **, void **, void *, const char *, u64, u32);
extern const char container[] __asm__("__intelliperf_linked_container") __attribute__((visibility("hidden")));
__asm__(".section .@API@_fatbin,\\"a\\",@progbits\\n.p2align 12\\n.hidden __intelliperf_linked_container\\n"
        "__intelliperf_linked_container:\\n.incbin \\"@CONTAINER@\\"\\n.previous\\n"
        ".section @SECTION@,\\"e\\",@progbits\\n.ascii \\"@LINKED@\\"\\n.previous\\n");
static const struct { u32 magic, version; const void *binary; void *unused; } wrapper = { @MAGIC@, 1, container, 0 };
static void **handle;
static const char own[] = "@OWN@";  // each name between two spaces: a program may have several device programs
static int is_own(const char *name) {
  u64 length = __builtin_strlen(name);
  for (const char *at = own; (at = __builtin_strstr(at, name)); ++at)
    if (at[-1] == ' ' && at[length] == ' ') return 1;
  return 0;
}
__attribute__((destructor)) static void forget(void) { if (handle) __@API@UnregisterFatBinary(handle); }
__attribute__((constructor(101))) static void announce(void) {
  handle = __@API@RegisterFatBinary(&wrapper);
  for (struct entry *e = begin; e < end; ++e) {
    if (!e->address || !e->name || !is_own(e->name)) continue;
    if (e->size == 0)
      __@API@RegisterFunction(handle, e->address, e->name, e->name, -1, 0, 0, 0, 0, 0);
    else if ((e->flags & kTypes) == kManaged)
      __@API@RegisterManagedVar(handle, (void **)e->auxiliary, e->address, e->name, e->size, (u32)e->data);
    else if ((e->flags & kTypes) == 0 && !(e->flags & kExtern))
      __@API@RegisterVar(handle, e->address, e->name, e->name, 0, e->size, !!(e->flags & kConstant), 0);
  }
  @END@
}
"""
_APIS = {
    "hip": {"@API@": "hip", "@MAGIC@": "0x48495046", "@END@": ""},
    "cuda": {
        "@API@": "cuda",
        "@MAGIC@": "0x466243b1",
        "@END@": "extern void __cudaRegisterFatBinaryEnd(void **); __cudaRegisterFatBinaryEnd(handle);",
    },
}


def pack_module(header: Mapping[str, Any], bitcode: bytes) -> bytes:
    """What an object carries: the metadata's first part and the device IR."""
    text = json.dumps(header).encode()
    return _LENGTHS.pack(len(text), len(bitcode)) + text + bitcode


def unpack_modules(content: bytes) -> list[tuple[dict[str, Any], bytes]]:
    """The modules in a section; `ld -r` puts several after each other."""
    modules: list[tuple[dict[str, Any], bytes]] = []
    position = 0
    while position + _LENGTHS.size <= len(content):
        header_bytes, code_bytes = _LENGTHS.unpack_from(content, position)
        start = position + _LENGTHS.size
        header = json.loads(content[start : start + header_bytes])
        modules.append((header, content[start + header_bytes : start + header_bytes + code_bytes]))
        position = start + header_bytes + code_bytes
    return modules


def link_device_code(inputs: Sequence[Path], work: Path, toolchain: Toolchain) -> Path | None:
    """The object to add to the host link; None if there is no device code to link, or it is linked already.

    What is linked already, as in a library that resolves its own device symbols, serves the others once more.
    """
    modules: dict[bytes, dict[str, Any]] = {}
    linked: set[str] = set()
    for path in inputs:
        for _, content in objects_in(path):
            linked.update(name for body in section(content, LINKED_SECTION) for name in body.decode("ascii").split())
            for body in section(content, IR_SECTION):
                modules.update((code, header) for header, code in unpack_modules(body))
    symbols = [name for name in map(linked_symbol, modules) if name not in linked]
    if not symbols:
        return None
    if toolchain.major < _OFFLOAD_ENTRIES_SINCE:
        raise ToolchainError(
            f"relocatable device code needs clang {_OFFLOAD_ENTRIES_SINCE} or newer, this is {toolchain.version}; "
            "pip install ziglang==0.17.0"
        )
    headers = list(modules.values())
    if len({(h["language"], h["target"]) for h in headers}) != 1:
        raise ToolchainError("objects of different languages or targets cannot be linked as one device program")
    ir = _link_modules(list(modules), work, toolchain)
    header = {key: value for key, value in headers[0].items() if key != "static"}
    facts = {name: fact for code, h in modules.items() for name, fact in _as_linked(h["static"], code).items()}
    container = work / "linked-container"
    container.write_bytes(build_container(ir, work, toolchain, header, lambda: facts))
    own = [name for names in _DEFINED.findall(ir) for name in names if name]
    return _registration(headers[0]["language"], container, (symbols, own), work, toolchain)


def _as_linked(facts: Mapping[str, Any], code: bytes) -> dict[str, Any]:
    """By the kernels' names in relocatable device code, where those of one file alone have its mark behind them."""
    mark = _MARK_OF_FILE.search(code)
    marked = {name: name + mark[0].decode("ascii") if mark else name for name in facts}
    return {marked[name] if marked[name].encode() in code else name: fact for name, fact in facts.items()}


def _link_modules(codes: Sequence[bytes], work: Path, toolchain: Toolchain) -> str:
    paths = []
    for number, code in enumerate(codes):
        path = work / f"module{number}.bc"
        path.write_bytes(code)
        paths.append(path)
    linked = work / "linked.ll"
    argv = [*toolchain.clang, "-cc1", "-triple", TRIPLE, "-target-cpu", host_processor(), "-emit-llvm", "-x", "ir"]
    argv += ["-O2", "-disable-llvm-passes"]
    argv += [word for path in paths[1:] for word in ("-mlink-bitcode-file", str(path))]
    run_tool([*argv, str(paths[0]), "-o", str(linked)], work, "linking device code failed")
    # What only the host refers to may be in another device program.
    return _USED_BY_HOST.sub(r"\1 [0 x ptr] zeroinitializer", linked.read_text("utf-8", "surrogateescape"))


def linked_symbol(code: bytes) -> str:
    """What the object with this device IR refers to and the device link that takes it in defines."""
    return f"__intelliperf_linked_{hashlib.sha256(code).hexdigest()[:24]}"


def _registration(
    language: str, container: Path, names: tuple[Sequence[str], Sequence[str]], work: Path, toolchain: Toolchain
) -> Path:
    """`names`: the symbols of the objects that are linked here, and what the linked device code defines."""
    symbols, own = names
    text = _REGISTRATION.replace("@CONTAINER@", str(container)).replace("@SECTION@", LINKED_SECTION)
    text = text.replace("@LINKED@", "".join(f"{symbol} " for symbol in symbols)).replace("@OWN@", f" {' '.join(own)} ")
    text += "".join(f'__attribute__((visibility("hidden"))) const char {symbol} = 1;\n' for symbol in symbols)
    for name, value in _APIS[language].items():
        text = text.replace(name, value)
    source, made = work / "registration.c", work / "registration.o"
    source.write_text(text, encoding="utf-8")
    run_tool(
        [*toolchain.driver(False), "-O1", "-fPIC", "-w", "-c", str(source), "-o", str(made)],
        work,
        "registering linked device code failed",
    )
    return made
