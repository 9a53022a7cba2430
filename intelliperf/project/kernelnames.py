"""What people call a kernel, from the name that a profile gives it."""

from __future__ import annotations


def unqualified(name: str) -> str:
    """`void ns::scale<float, 4>(float*, int)` → `scale`; the name as it is where nothing of it is an identifier."""
    depth, kept = 0, []
    for character in name.replace("(anonymous namespace)", "anonymous"):
        if character == "<":
            depth += 1
        elif character == ">" and depth:
            depth -= 1
        elif depth == 0:
            if character in "([":
                break
            kept.append(character)
    words = "".join(kept).replace("::", " ").split()
    return words[-1] if words else name
