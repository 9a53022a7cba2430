"""`torch.autocast("cuda")` on the presented device, whose tensors are the host's to PyTorch: it casts none of them.

The lists are those of PyTorch's documentation ("CUDA Ops that can autocast"). What `torch.compile` compiles runs
without the mode that asks here: see `compiling`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch

_NARROWED = frozenset(
    {
        *("__matmul__", "__rmatmul__", "matmul", "mm", "bmm", "mv", "linear", "chain_matmul", "multi_dot", "einsum"),
        *("addbmm", "addmm", "addmv", "addr", "baddbmm", "prelu", "scaled_dot_product_attention"),
        *("conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"),
        *("gru_cell", "lstm_cell", "rnn_tanh_cell", "rnn_relu_cell", "multi_head_attention_forward"),
    }
)
_WIDENED = frozenset(
    {
        *("__pow__", "__rpow__", "pow", "__rdiv__", "__rtruediv__", "reciprocal", "rsqrt", "exp", "expm1", "log"),
        *(
            "log10",
            "log1p",
            "log2",
            "acos",
            "asin",
            "cosh",
            "sinh",
            "tan",
            "erfinv",
            "sum",
            "prod",
            "cumsum",
            "cumprod",
        ),
        *("softmax", "log_softmax", "softmin", "softplus", "layer_norm", "group_norm", "norm", "normalize", "renorm"),
        *("cdist", "dist", "pdist", "cosine_similarity", "cosine_embedding_loss", "cross_entropy", "nll_loss"),
        *("mse_loss", "l1_loss", "smooth_l1_loss", "kl_div", "binary_cross_entropy_with_logits", "poisson_nll_loss"),
        *("hinge_embedding_loss", "margin_ranking_loss", "multi_margin_loss", "multilabel_margin_loss"),
        *("soft_margin_loss", "triplet_margin_loss"),
    }
)
_WIDEST = frozenset(
    {"addcdiv", "addcmul", "atan2", "bilinear", "cross", "dot", "grid_sample", "scatter_add", "tensordot"}
)
_FLOATS = (torch.float16, torch.bfloat16, torch.float32)


def cast(
    name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], given: Iterable[torch.Tensor]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of the function `name` as autocasting leaves them. `given`: the tensors among them."""
    if not torch.is_autocast_enabled("cuda") or kwargs.get("out") is not None:
        return args, dict(kwargs)
    if name in _NARROWED:
        wanted = torch.get_autocast_dtype("cuda")
    elif name in _WIDENED and kwargs.get("dtype") is None or name in _WIDEST and _widest(given):
        wanted = torch.float32
    else:
        return args, dict(kwargs)
    return tuple(_as(value, wanted) for value in args), {key: _as(value, wanted) for key, value in kwargs.items()}


def _widest(given: Iterable[torch.Tensor]) -> bool:
    return any(tensor.dtype == torch.float32 for tensor in given)


def _as(value: Any, wanted: torch.dtype) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(wanted) if value.dtype in _FLOATS and value.dtype != wanted else value
    if isinstance(value, (list, tuple)) and any(isinstance(one, torch.Tensor) for one in value):
        return type(value)(_as(one, wanted) for one in value)
    return value
