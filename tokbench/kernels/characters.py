"""The characters of a Python string, read where they lie, and written as UTF-8: instructions for `text`.

CPython keeps a string as one, two or four bytes a character, whichever its largest code point needs. `RUN`
characters are written at once, where the processor `COMPRESSES`: each gets four bytes of a register, from which
those that count are moved together. With ``NUMBA_DISABLE_JIT=1`` strings are those of Python.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba import config, types
from numba.core import cgutils

from tokbench.kernels.compiling import instruction
from tokbench.kernels.lanes import COMPRESSES, compressed

RUN = 16
"""Characters that are written together."""
_POINTS, _BYTES = ir.VectorType(ir.IntType(32), RUN), ir.VectorType(ir.IntType(8), 4 * RUN)
"""The code points of a run in a register, and four bytes for each."""


if config.DISABLE_JIT:

    def width(text: str) -> int:
        """Any width: plain Python asks for code points."""
        return 4

    def character_at(text: str, index: Any) -> Any:
        """The code point of a character."""
        return ord(text[index])

    def put_ascii(text: str, first: Any, data: Any, at: Any) -> Any:
        """Write `RUN` characters from some index on, if they are ASCII; whether they are."""
        run = text[first : first + RUN]
        if run.isascii():
            data[at : at + RUN] = list(run.encode())
        return run.isascii()

    def put_run(text: str, first: Any, skipped: Any, data: Any, at: Any) -> Any:
        """Never called, see `COMPRESSES`."""
        raise AssertionError

    def is_ascii(text: str) -> bool:
        """Whether all characters are ASCII."""
        return text.isascii()

    def copy_ascii(text: str, data: Any, at: Any) -> None:
        """A text that is ASCII, to ``data[at]`` and the bytes behind it."""
        data[at : at + len(text)] = list(text.encode())

else:

    def _in_memory(context: Any, builder: Any, value: Any) -> Any:
        """What is known of a string: `data`, `length`, `kind` (the bytes of a character), `is_ascii`."""
        return cgutils.create_struct_proxy(types.unicode_type)(context, builder, value=value)

    def _by_width(
        context: Any, builder: Any, args: Any, read: Callable[[Any, int], Sequence[Any]]
    ) -> Sequence[Any]:
        """What `read` makes of the place of a character, and of its width, for each width there is.

        Which one it is, is asked where a character is read: a function of each width would have all that it
        does compiled three times.
        """
        string, found = _in_memory(context, builder, args[0]), {}
        kind, first = string.kind, string.data
        blocks = {width: builder.append_basic_block(f"of_{width}") for width in (1, 2, 4)}
        end, chosen = builder.append_basic_block("read"), builder.switch(kind, blocks[4])
        for width, block in blocks.items():
            chosen.add_case(kind.type(width), block)
            builder.position_at_end(block)
            place = builder.bitcast(first, ir.IntType(8 * width).as_pointer())
            found[width] = read(builder.gep(place, [args[1]]), width)
            builder.branch(end)
        builder.position_at_end(end)
        values = [builder.phi(value.type) for value in found[1]]
        for width, block in blocks.items():
            for value, one in zip(values, found[width], strict=True):
                value.add_incoming(one, block)
        return values

    def _run_at(builder: Any, place: Any) -> Any:
        """The code points of `RUN` characters at a place."""
        run = builder.load(builder.bitcast(place, ir.VectorType(place.type.pointee, RUN).as_pointer()))
        run.align = 1
        return run if run.type == _POINTS else builder.zext(run, _POINTS)

    @instruction(types.int64, None)
    def width(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """How many bytes a character takes in memory: 1, 2 or 4."""
        return builder.sext(_in_memory(context, builder, args[0]).kind, ir.IntType(64))

    @instruction(types.int64, None, types.int64)
    def character_at(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """The code point of a character."""
        wide = ir.IntType(64)
        (point,) = _by_width(
            context, builder, args, lambda place, width: [builder.zext(builder.load(place), wide)]
        )
        return point

    @instruction(types.boolean, None, types.int64, None, types.int64)
    def put_ascii(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """Write `RUN` characters from some index on, if they are ASCII; whether they are."""
        (run,) = _by_width(context, builder, args, lambda place, width: [_run_at(builder, place)])
        bytes_ = builder.trunc(run, ir.VectorType(ir.IntType(8), RUN))
        place = builder.gep(args[2], [args[3]])
        builder.store(bytes_, builder.bitcast(place, bytes_.type.as_pointer())).align = 1
        return _all_of(builder, builder.icmp_unsigned("<", run, _every(0x80)))

    @instruction(types.int64, None, types.int64, types.int64, None, types.int64)
    def put_run(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """Write `RUN` characters from some index on, but the first so many of them; how many bytes that is.

        Or -1, where one is half of a pair. 64 bytes are written. Without it, text beyond ASCII takes four to
        seven times as long to write, and later passes 1.13 to 1.29 times as long (21 languages, FLORES; T5,
        o200k, Qwen2).
        """
        if not COMPRESSES:  # so that kernels can be compiled; they ask before they come here
            return ir.IntType(64)(-1)

        def read(place: Any, width: int) -> Sequence[Any]:
            """What `_spelled` makes of the run. Characters of one byte in memory are no halves of pairs."""
            run = _run_at(builder, place)
            whole = builder.icmp_unsigned("!=", builder.lshr(run, _every(11)), _every(0x1B))
            return *_spelled(builder, run, width), ir.IntType(1)(1) if width == 1 else _all_of(builder, whole)

        bytes_, counted, whole = _by_width(context, builder, args, read)
        count = _put_together(builder, bytes_, counted, args[2], builder.gep(args[3], [args[4]]))
        return builder.select(whole, count, count.type(-1))

    @instruction(types.boolean, None)
    def is_ascii(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """Whether all characters are ASCII, which a string knows of itself."""
        known = _in_memory(context, builder, args[0]).is_ascii
        return builder.icmp_unsigned("!=", known, known.type(0))

    @instruction(types.void, None, None, types.int64)
    def copy_ascii(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """A text that is ASCII, to ``data[at]`` and the bytes behind it."""
        string = _in_memory(context, builder, args[0])
        source = builder.bitcast(string.data, args[1].type)
        cgutils.raw_memcpy(builder, builder.gep(args[1], [args[2]]), source, string.length, 1)
        return context.get_dummy_value()


def _every(value: int) -> Any:
    """The same number for each character of a run."""
    return ir.Constant(_POINTS, [value] * RUN)


def _all_of(builder: Any, told: Any) -> Any:
    """Whether what is told of each character of a run is true of all."""
    bits = builder.bitcast(told, ir.IntType(RUN))
    return builder.icmp_unsigned("==", bits, bits.type(-1))


def _spelled(builder: Any, points: Any, width: int) -> tuple[Any, Any]:
    """The UTF-8 of a run, four bytes for each character, and which bytes count.

    `width` is how many bytes the largest code point takes as a number, 1, 2 or 4.
    """

    def part(bits: int, mark: int, place: int) -> Any:
        """The bits of each character from `bits` on, behind `mark`, as the byte at `place`."""
        some = builder.and_(builder.lshr(points, _every(bits)), _every(0x3F))
        return builder.shl(builder.or_(some, _every(mark)), _every(8 * place))

    # as if it took one byte, two, three and four, and how many it takes by its size
    bytes_, counted = points, _every(0xFF)
    for least, first, n_bytes in ((0x80, 0xC0, 2), (0x800, 0xE0, 3), (0x10000, 0xF0, 4)):
        if least >= 1 << 8 * width:
            break
        other = part(6 * (n_bytes - 1), first, 0)
        for byte in range(1, n_bytes):
            other = builder.or_(other, part(6 * (n_bytes - 1 - byte), 0x80, byte))
        longer = builder.icmp_unsigned(">=", points, _every(least))
        bytes_ = builder.select(longer, other, bytes_)
        counted = builder.select(longer, _every((1 << 8 * n_bytes) - 1), counted)
    return bytes_, counted


def _put_together(builder: Any, bytes_: Any, counted: Any, skipped: Any, place: Any) -> Any:
    """Write the bytes that count, but the first `skipped` characters; how many bytes."""
    number = ir.IntType(32)
    skipped = builder.insert_element(_every(0), builder.trunc(skipped, number), number(0))
    skipped = builder.shuffle_vector(skipped, skipped, _every(0))
    written = builder.icmp_unsigned(">=", ir.Constant(_POINTS, [*range(RUN)]), skipped)
    count = builder.bitcast(builder.select(written, counted, _every(0)), _BYTES)
    chosen = builder.icmp_unsigned("!=", count, ir.Constant(_BYTES, None))
    together = compressed(builder, builder.bitcast(bytes_, _BYTES), chosen)
    builder.store(together, builder.bitcast(place, _BYTES.as_pointer())).align = 1
    return builder.ctpop(builder.bitcast(chosen, ir.IntType(4 * RUN)))
