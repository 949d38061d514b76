"""Operations on 32 bytes in one register (its *lanes*), for kernels: above all, looked up in a table at once.

One instruction can look up 32 bytes in a table of 32 bytes. An automaton of as many states is run by that from
all of its states at the same time: lane s holds where it has come from state s. So a text can be read at
several places at once, before it is known in which state the automaton arrives there (Mytkowicz, Musuvathi and
Schulte 2014, "Data-Parallel Finite-State Machines").

`THERE` tells whether the processor has such an instruction, as x86-64 of the last ten years does. A caller that
finds it false does its work without lanes. With ``NUMBA_DISABLE_JIT=1`` lanes are an array.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import config, types
from numba.core import cgutils
from numba.extending import models, register_model

from tokbench.kernels.compiling import instruction

LANES = 32
"""Bytes in a register."""
PARTS, PART = 4, 16
"""How many places of a text are read at once, and how many bytes from each on."""


def compiled_for(feature: str) -> bool:
    """Whether kernels are compiled for processors that have a feature, as LLVM names it."""
    if config.CPU_FEATURES is not None:
        return f"+{feature}" in config.CPU_FEATURES.split(",")
    return bool(config.ENABLE_AVX and binding.get_host_cpu_features().get(feature, False))


_PERMUTES, _SHUFFLES = compiled_for("avx512vbmi") and compiled_for("avx512vl"), compiled_for("avx2")
THERE = bool(config.DISABLE_JIT or _PERMUTES or _SHUFFLES)
COMPRESSES = not config.DISABLE_JIT and compiled_for("avx512vbmi2")
"""Whether an instruction moves chosen ones of 64 bytes together, as x86-64 has had since 2019."""


def compressed(builder: Any, data: Any, chosen: Any) -> Any:
    """For instructions, where it `COMPRESSES`: the chosen ones of 64 bytes, together, and zeros behind them."""
    kind = ir.FunctionType(data.type, [data.type, data.type, chosen.type])
    compress = builder.module.declare_intrinsic("llvm.x86.avx512.mask.compress.v64i8", (), kind)
    return builder.call(compress, [data, ir.Constant(data.type, None), chosen])


if config.DISABLE_JIT:

    def first_lanes() -> Any:
        """The numbers from 0 to 31."""
        return np.arange(LANES, dtype=np.uint8)

    def store_lanes(data: Any, index: Any, lanes: Any) -> None:
        """Write lanes to `data` (uint8) from `index` on."""
        data[index : index + LANES] = lanes

    def look_up_lanes(table: Any, index: Any, lanes: Any) -> Any:
        """Of the 32 bytes of `table` (uint8) from `index` on those that the low five bits of the lanes name."""
        return table[index + (lanes & np.uint8(31)).astype(np.int64)]

    def pick_lanes(data: Any, indices: Any, out: Any, at: Any) -> None:
        """Write 64 bytes to `out` from `at` on: from each of four indices of `data` on 16, `LANES` apart."""
        for part, index in enumerate(indices):
            begin = at + PART * part
            out[begin : begin + PART] = data[index : index + LANES * PART : LANES]

else:
    _BYTES = ir.VectorType(ir.IntType(8), LANES)
    _HALF = ir.VectorType(ir.IntType(8), LANES // 2)
    _PICKED = ir.VectorType(ir.IntType(8), PARTS * PART)

    from tokbench.kernels.pointers import element

    class _Lanes(types.Type):  # type: ignore[misc]  # numba has no types
        """The type of lanes in kernels."""

    _lanes = _Lanes("lanes")

    @register_model(_Lanes)
    class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
        """Lanes are a vector of LLVM's."""

        def __init__(self, manager: Any, kind: Any) -> None:
            super().__init__(manager, kind, _BYTES)

    def _all(value: int) -> Any:
        return ir.Constant(_BYTES, [value] * LANES)

    def _place(context: Any, builder: Any, kind: Any, args: Any, vector: Any) -> Any:
        """The place of an element, of `kind`, as that of a vector."""
        return builder.bitcast(element(context, builder, kind, *args), vector.as_pointer())

    def _read(builder: Any, place: Any) -> Any:
        value = builder.load(place)
        value.align = 1
        return value

    def _named(builder: Any, name: str) -> Any:
        """The instruction that looks up lanes, in a table or in halves of one."""
        return builder.module.declare_intrinsic(name, (), ir.FunctionType(_BYTES, [_BYTES, _BYTES]))

    def _twice(builder: Any, half: Any) -> Any:
        """Sixteen bytes as both halves of the lanes."""
        order = [*range(LANES // 2)] * 2
        return builder.shuffle_vector(half, half, ir.Constant(ir.VectorType(ir.IntType(32), LANES), order))

    def _one_by_one(builder: Any, table: Any, numbers: Any) -> Any:
        """Lanes looked up as any processor can do it."""
        found = ir.Constant(_BYTES, ir.Undefined)
        for lane in map(ir.IntType(32), range(LANES)):
            number = builder.zext(builder.extract_element(numbers, lane), ir.IntType(64))
            found = builder.insert_element(found, builder.load(builder.gep(table, [number])), lane)
        return found

    @instruction(_lanes)
    def first_lanes(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """The numbers from 0 to 31."""
        return ir.Constant(_BYTES, [*range(LANES)])

    @instruction(types.void, None, types.int64, _lanes)
    def store_lanes(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """Write lanes to `data` (uint8) from `index` on."""
        place = _place(context, builder, signature.args[0], args[:2], _BYTES)
        builder.store(args[2], place).align = 1
        return context.get_dummy_value()

    @instruction(_lanes, None, types.int64, _lanes)
    def look_up_lanes(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """Of the 32 bytes of `table` (uint8) from `index` on those that the low five bits of the lanes name."""
        place = _place(context, builder, signature.args[0], args[:2], _HALF)
        if _PERMUTES:
            whole = _read(builder, builder.bitcast(place, _BYTES.as_pointer()))
            permute = _named(builder, "llvm.x86.avx512.permvar.qi.256")
            return builder.call(permute, [whole, args[2]])
        number = builder.and_(args[2], _all(LANES - 1))
        if not _SHUFFLES:  # so that kernels can be compiled; they ask `THERE` before they come here
            return _one_by_one(builder, builder.bitcast(place, ir.IntType(8).as_pointer()), number)
        # a shuffle looks up the low four bits in sixteen bytes, and gives 0 where the top bit is set
        shuffle = _named(builder, "llvm.x86.avx2.pshuf.b")
        low, high = (
            _twice(builder, _read(builder, builder.gep(place, [ir.IntType(64)(half)]))) for half in (0, 1)
        )
        below = builder.call(shuffle, [low, builder.add(number, _all(0x70))])
        above = builder.call(shuffle, [high, builder.sub(number, _all(LANES // 2))])
        return builder.or_(below, above)

    @instruction(types.void, None, types.UniTuple(types.int64, PARTS), None, types.int64)
    def pick_lanes(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """Write 64 bytes to `out` from `at` on: from each of four indices of `data` on 16, `LANES` apart."""
        picked = ir.Constant(_PICKED, ir.Undefined)
        for part, index in enumerate(cgutils.unpack_tuple(builder, args[1])):
            place = element(context, builder, signature.args[0], args[0], index)
            for k in range(PART):
                one = builder.load(builder.gep(place, [ir.IntType(64)(LANES * k)]))
                picked = builder.insert_element(picked, one, ir.IntType(32)(PART * part + k))
        builder.store(picked, _place(context, builder, signature.args[2], args[2:], _PICKED)).align = 1
        return context.get_dummy_value()
