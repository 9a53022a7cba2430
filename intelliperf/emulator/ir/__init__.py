"""The IR pass: one module of device code in LLVM's textual IR → the same module, instrumented.

Every function stays as it is (fast: only barriers and collectives are told where they are) and is
copied with a hook before each access (trace). `abi.h` is the contract for what comes out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from intelliperf.emulator.ir.calls import synchronising_functions
from intelliperf.emulator.ir.debuginfo import DebugInfo
from intelliperf.emulator.ir.functions import (
    RESOLVER,
    TRACE_SUFFIX,
    FunctionRewriter,
    Surroundings,
)
from intelliperf.emulator.ir.kernels import adapters, describe_kernel, kernel_names, map_arguments, shared_reach
from intelliperf.emulator.ir.layout import Layout
from intelliperf.emulator.ir.module import Module, parse_module
from intelliperf.emulator.ir.onlyread import is_only_read
from intelliperf.emulator.ir.overflows import declarations as overflow_declarations
from intelliperf.emulator.ir.places import Places, name_locations
from intelliperf.emulator.ir.quantities import Users, of_variable, only_loaded
from intelliperf.emulator.ir.rankings import definition as rank_definition
from intelliperf.emulator.ir.reach import Reach
from intelliperf.emulator.ir.shadow import Shader, formats
from intelliperf.emulator.ir.sites import SiteTable
from intelliperf.emulator.ir.tags import Frames, Tagged, restore_locations, tag_accesses
from intelliperf.emulator.ir.text import CALLEE, NAME, suffixed, unquoted
from intelliperf.emulator.ir.variables import (
    Variables,
    expose_shared_variables,
    expose_textures,
    join_dynamic,
    rewrite_variables,
)
from intelliperf.emulator.ir.widths import widths

_HOOKS = (
    "declare void @__simt_access(ptr, i32)",
    "declare void @__simt_access_range(ptr, i32, i64)",
    "declare void @__simt_at(i32)",
    "declare void @__simt_block(i32)",
    "declare void @__simt_call(i32)",
    "declare void @__simt_fence(i32)",
    "declare void @__simt_return()",
    "declare void @__simt_turn(i32, i32, i32)",
    "declare void @__simt_leave(i32)",
)
_REFERRED = re.compile(rf"@{NAME}")
_METADATA_OPERAND = re.compile(r"metadata !(\d+)")


@dataclass(frozen=True)
class Instrumented:
    """The module's new text, and the parts of the container's metadata that come from it."""

    text: str
    metadata: dict[str, Any]  # sites, blocks, locations, kernels, symbols
    externals: tuple[str, ...]  # functions and variables that it expects elsewhere
    places: Places


def instrument(
    text: str, vendor: str = "amd", shadows: bool = False, places: Mapping[int, Frames] | None = None
) -> Instrumented:
    """Raises `ToolchainError`, naming the line, for any form of IR that it does not know.

    `shadows`: with a third version that carries algebraic shadows.
    `vendor` of the device: amd or nvidia; their compilers differ in the vectors that they load.
    `places` of the tags that accesses had before they were optimised, see `tags`.
    """
    module = parse_module(text)
    layout = Layout(module.structs)
    debug = DebugInfo(module.metadata)
    restored = restore_locations(module, debug, places or {})
    variables = rewrite_variables(module.globals, layout, debug)
    table = SiteTable()
    kernels = set(kernel_names(module))
    surroundings = Surroundings(
        layout=layout,
        debug=debug,
        defined={function.name for function in module.functions},
        synchronising=synchronising_functions(module.functions),
        private_globals=frozenset(variables.private),
        table=table,
        variables=_sizes(variables),
        nvidia=vendor == "nvidia",
        constant=variables.constant,
        shared={f"@{name}" for name in (*variables.shared, *variables.dynamic)},
        kernels=kernels,
        also=restored.also,
        reach=Reach(debug) if shadows else None,
    )
    reach = shared_reach(module, variables.shared)
    helping = sum((widths(one) for one in module.functions if one.name not in kernels), Counter[int]())
    described: dict[str, Any] = {}
    bodies: list[str] = []
    shader = Shader(text, layout, surroundings.defined) if shadows else None
    referred = Counter(_REFERRED.findall(text)) - Counter(f"@{function.name}" for function in module.functions)
    for function in module.functions:
        is_kernel = function.name in kernels
        # Of a function that was inlined wherever it is called, what is left is executed by nobody.
        inlined = not is_kernel and f"@{function.name}" not in referred
        around = replace(surroundings, reach=None) if inlined else surroundings
        fast, trace = FunctionRewriter(function, around).rewrite()
        bodies += fast + trace
        if shader is not None:
            bodies += shader.shade(fast, is_kernel)
        if is_kernel:
            bodies += adapters(function, map_arguments(function, debug), shadows)
            described[unquoted(function.name)] = describe_kernel(
                function, module, variables, debug, reach[function.name], helping
            )
    bodies += _resolver(_address_taken(module))
    _describe_symbols(module, variables, debug)
    head = variables.lines + table.definitions() + _declarations(module) + module.attributes
    if shader is not None:
        head += shader.definitions(bodies, module.declarations)
    if surroundings.reach is not None:
        head += [*surroundings.reach.definitions(), rank_definition()]
        head += overflow_declarations(bodies, module.declarations)
    kept = _kept_metadata(bodies, module)
    metadata = {
        "sites": table.sites,
        "locations": name_locations(table, debug),
        "blocks": table.blocks,
        "kernels": described,
        "symbols": variables.symbols,
        "formats": formats(text),
        "reach": surroundings.reach.described() if surroundings.reach is not None else {},
        "lost_shadows": shader.reasons if shader is not None else [],
    }
    externals = [unquoted(name) for name in module.declarations if not name.startswith("llvm.")]
    text = join_dynamic("\n".join(head + bodies + kept) + "\n", variables.dynamic)
    return Instrumented(text, metadata, (*externals, *variables.external), Places(table, debug))


def _describe_symbols(module: Module, variables: Variables, debug: DebugInfo) -> None:
    """Which device variables kernels only read, which numbers these hold, and what becomes of them."""
    for name, facts in variables.symbols.items():
        if is_only_read(f"@{name}", module, facts["constant"]):
            facts["only_read"] = True
    users = [Users(function) for function in module.functions] if variables.types else []
    for name, kind in variables.types.items():
        facts = variables.symbols[name]
        if facts["constant"] or only_loaded(f"@{name}", users):
            facts["quantities"] = of_variable(f"@{name}", kind, debug, users)


def _sizes(variables: Variables) -> dict[str, int]:
    """Bytes of the variables that have a known place, by name with @."""
    sizes = {f"@{name}": size for name, size in variables.shared.items()}
    sizes.update((f"@{name}", facts["size"]) for name, facts in variables.symbols.items())
    return sizes


def _declarations(module: Module) -> list[str]:
    ours = {name for hook in _HOOKS if (name := hook.partition("@")[2].partition("(")[0])}
    theirs = [re.sub(r" !\w+ !\d+", "", line) for name, line in module.declarations.items() if name not in ours]
    return [*_HOOKS, *theirs]


def _address_taken(module: Module) -> list[str]:
    """Defined functions whose address is used otherwise than as the callee of a call."""
    defined = {function.name for function in module.functions}
    taken: dict[str, None] = {}
    for line in module.globals:
        if line.startswith("@") and " = " in line and not line.startswith("@llvm."):
            taken.update((name, None) for name in re.findall(rf"ptr @({NAME})", line) if name in defined)
    for function in module.functions:
        for block in function.blocks:
            for instruction in block.instructions:
                if "@" not in instruction.text:
                    continue
                text = instruction.text
                if instruction.opcode in ("call", "invoke"):
                    text = CALLEE.sub(" (", text, count=1)
                taken.update((name, None) for name in re.findall(rf"ptr [^@,]*@({NAME})", text) if name in defined)
    return list(taken)


def _resolver(taken: list[str]) -> list[str]:
    """`ptr __simt_traced_version(ptr)`: pointers always name the fast version; traced calls look up the other."""
    lines = [f"define internal ptr @{RESOLVER}(ptr %fast) {{"]
    current = "%fast"
    for number, name in enumerate(taken):
        lines.append(f"  %is{number} = icmp eq ptr %fast, @{name}")
        traced = suffixed(name, TRACE_SUFFIX)
        lines.append(f"  %pick{number} = select i1 %is{number}, ptr @{traced}, ptr {current}")
        current = f"%pick{number}"
    return [*lines, f"  ret ptr {current}", "}"]


def _kept_metadata(bodies: list[str], module: Module) -> list[str]:
    """Metadata nodes that instructions take as operands, with all that these mention."""
    pending = [int(number) for line in bodies if "metadata !" in line for number in _METADATA_OPERAND.findall(line)]
    kept: dict[int, str] = {}
    while pending:
        number = pending.pop()
        if number in kept or number not in module.metadata:
            continue
        body = module.metadata[number]
        kept[number] = f"!{number} = {'distinct ' if f'!{number}' in body else ''}{body}"
        pending.extend(int(other) for other in re.findall(r"!(\d+)", body))
    return list(kept.values())


__all__ = ["Instrumented", "Tagged", "expose_shared_variables", "expose_textures", "instrument", "tag_accesses"]
