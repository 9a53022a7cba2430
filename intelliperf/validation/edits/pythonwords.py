"""What the body of a Triton kernel may name: Triton runs Python while it compiles one, so all else is refused.

Triton looks names, attributes and calls of a body up as Python does, and calls what it finds: `tl.core.os` would be as
good as an import. So this is a list of what is known to be harmless. What the original's own code uses is free as well.
"""

from __future__ import annotations

TL = "triton.language."


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FUNCTIONS = _words(
    "abs add advance arange argmax argmin associative_scan assume atomic_add atomic_and atomic_cas atomic_max "
    "atomic_min atomic_or atomic_xchg atomic_xor atomic_load atomic_store broadcast broadcast_to cast cat cdiv "
    "ceil clamp cos cumprod cumsum debug_barrier div_rn dot dot_scaled erf exp exp2 expand_dims fdiv flip floor "
    "fma full gather histogram interleave join load load_tensor_descriptor log log2 make_block_ptr "
    "make_tensor_descriptor max max_constancy max_contiguous maximum min minimum mul multiple_of num_programs "
    "permute philox program_id rand rand4x randint randint4x randn randn4x range ravel reduce reduce_or reshape "
    "rsqrt sigmoid sin softmax sort split sqrt sqrt_rn squeeze static_range store store_tensor_descriptor sub sum "
    "swizzle2d tensor topk trans tuple umulhi unsqueeze view where xor_sum zeros zeros_like constexpr "
    "PropagateNan"
)
TYPES = _words(
    "int1 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
    "float8e4nv float8e4b8 float8e4b15 float8e5 float8e5b16 pi32_t dtype void pointer_type"
)
NARROW = _words("float16 bfloat16 float8e4nv float8e4b8 float8e4b15 float8e5 float8e5b16 int8 uint8 int16 uint16 int1")
MATH = _words("abs ceil cos div_rn erf exp exp2 fdiv floor fma log log2 rsqrt sin sqrt sqrt_rn umulhi max min")
NUMBERS = _words("math.pi math.e math.inf math.nan math.tau")
HOST_FUNCTIONS = _words("triton.cdiv triton.next_power_of_2")
# Of tensors, descriptors, types and constants.
ATTRIBUTES = _words(
    "T abs advance argmax argmin associative_scan atomic_add atomic_and atomic_cas atomic_max atomic_min atomic_or "
    "atomic_xchg atomic_xor atomic_load atomic_store broadcast_to cast cdiv ceil cos cumprod cumsum erf exp exp2 "
    "expand_dims flip floor gather histogram item log log2 logical_and logical_or max min permute ravel reduce "
    "reduce_or reshape rsqrt sigmoid sin softmax sort split sqrt sqrt_rn store sum to trans view xor_sum load scatter "
    "dtype shape type value element_ty scalar numel block_shape block_type primitive_bitwidth itemsize int_bitwidth "
    "fp_mantissa_width is_ptr is_int is_floating is_block is_fp8 is_fp16 is_bf16 is_fp32 is_fp64 is_int_signed "
    "is_int_unsigned"
)
BUILTINS = _words("range min max len int float isinstance")
OPTIONS = _words(
    "num_warps num_stages num_ctas waves_per_eu matrix_instr_nonkdim kpack maxnreg schedule_hint "
    "instruction_sched_variant"
)
# Told by name, because a reader should know why: the rest of the namespace is merely not known to be harmless.
BANNED = {
    "inline_asm_elementwise": "inline assembly",
    "extern_elementwise": "a call of code that is not Triton",
    "map_elementwise": "a function of scalars that none of our tools follows",
    "constexpr_function": "a function that runs in Python while the kernel compiles",
    "static_print": "printing",
    "device_print": "printing",
    "print": "printing",
    "static_assert": "a check that can stop the build",
    "device_assert": "a check that can end the run",
    "target_info": "a question for the device that the kernel runs on",
    "globaltimer": "a clock",
    "smid": "a question for the place that the kernel runs at",
    "memrealtime": "a clock",
    "getattr": "a look-up by a name that is put together",
    "hasattr": "a look-up by a name that is put together",
}
CHECKS = _words("static_assert device_assert")
