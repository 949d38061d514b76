"""Python functions in compiled code, callable in a fraction of a microsecond.

A kernel that numba makes callable converts each argument, which takes 0.1 µs for a string and as much for an
array that it returns, and needs a Python function before it that checks and copies. What `callable_of` makes is
a function like those of Python's C modules: compiled code gets the addresses of its arguments, reads strings,
lists and numbers in place by the C API, and returns an object.

A kernel of this kind is ``code(state, arguments, count, names)``, all addresses and sizes (`ADDRESS`). It gives
the address of a new object, or 0 where an error is set. `state` is a tuple, whose first member is a function of
Python that takes any arguments: whatever the kernel does not care for, it leaves to that (`left_to_python`).
With ``NUMBA_DISABLE_JIT=1``, or a numba that is not known, that function is all there is.

The GIL is held all the while; but where objects are made, Python may collect garbage, and so run other code and
other threads. A kernel that writes to memory of several calls must look whether one of them is at work there.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any
from weakref import ReferenceType, ref

from numba import config, types
from numba.core import cgutils

from tokbench.kernels.compiling import PRIVATE, c_function, inline, instruction
from tokbench.kernels.pointers import prefetch_to_read

ADDRESS = types.intp
_DIRECT = PRIVATE and not config.DISABLE_JIT
"""Whether functions are called directly; else each is the function of Python that stands first in its state."""
_OF_STRINGS = 28  # the flag of types that are str or derived from it
_FAST_WITH_KEYWORDS = 0x80 | 0x02  # METH_FASTCALL | METH_KEYWORDS


def _of_python(name: str, n_arguments: int, result: Any = ADDRESS) -> Any:
    """A function of the C API, of addresses and sizes."""
    return types.ExternalFunction(name, result(*[ADDRESS] * n_arguments))


member = _of_python("PyTuple_GetItem", 2)
element = _of_python("PyList_GetItem", 2)
n_elements = _of_python("PyList_Size", 1)
number = _of_python("PyLong_AsSsize_t", 1)
call = _of_python("PyObject_CallNoArgs", 1)
call_with = _of_python("PyObject_Vectorcall", 4)
bytes_of_size = _of_python("PyBytes_FromStringAndSize", 2)
first_byte = _of_python("PyBytes_AsString", 1)
decoded = _of_python("PyUnicode_DecodeUTF8", 3)
type_flags = _of_python("PyType_GetFlags", 1, types.uint64)
release = _of_python("Py_DecRef", 1, types.void)
forget_error = _of_python("PyErr_Clear", 0, types.void)


def _exactly(name: str) -> Any:
    """An instruction that tells whether an object is of a type of the C API, and of none derived from it."""

    @instruction(types.boolean, ADDRESS)
    def is_exactly(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        python = context.get_python_api(builder)
        kind = python.get_type(builder.inttoptr(args[0], python.pyobj))
        return builder.icmp_unsigned("==", kind, python.get_c_object(name))

    return is_exactly


@instruction(ADDRESS, ADDRESS)
def type_of(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The address of the type of an object."""
    python = context.get_python_api(builder)
    kind = python.get_type(builder.inttoptr(args[0], python.pyobj))
    return builder.ptrtoint(kind, context.get_value_type(ADDRESS))


is_str = _exactly("PyUnicode_Type")
is_list = _exactly("PyList_Type")
is_int = _exactly("PyLong_Type")


if config.DISABLE_JIT:

    def in_kernels(objects: list[Any]) -> Any:
        """A list as kernels take it (`compiling.object_kernel`): itself."""
        return objects

    def list_size(objects: Any) -> int:
        """How many elements a list has."""
        return len(objects)

    def item(objects: Any, i: Any) -> Any:
        """An element of a list."""
        return objects[i]

    def is_text(place: Any) -> Any:
        """Whether an object is a str, or of a type derived from it."""
        return isinstance(place, str)

    def string_at(place: Any) -> Any:
        """The string at a place: itself."""
        return place

    def ask_for(place: Any) -> None:
        """Nothing: plain Python has no cache to fill."""

else:

    def in_kernels(objects: list[Any]) -> Any:
        """A list as kernels take it (`compiling.object_kernel`): where it is. The caller holds it."""
        return id(objects)

    list_size, item = n_elements, element

    @instruction(types.unicode_type, ADDRESS)
    def string_at(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """The string at an address, as kernels know strings. It is not held: somebody else has to."""
        python = context.get_python_api(builder)
        place = builder.inttoptr(args[0], python.pyobj)
        _, data, length, width, is_ascii, hashed = python.string_as_string_size_and_kind(place)
        string = cgutils.create_struct_proxy(types.unicode_type)(context, builder)
        string.data, string.length, string.kind = data, length, width
        string.is_ascii, string.hash = is_ascii, hashed
        string.meminfo = cgutils.get_null_value(string.meminfo.type)
        string.parent = cgutils.get_null_value(string.parent.type)
        return string._getvalue()

    @inline
    def ask_for(place: Any) -> None:
        """Ask for the cache line that an object begins in."""
        prefetch_to_read(bytes_at(place), 0)

    @inline
    def is_text(place: Any) -> Any:
        """Whether an object is a str, or of a type derived from it."""
        return is_str(place) or type_flags(type_of(place)) >> _OF_STRINGS & 1 != 0


def _pointer_at(kind: Any) -> Any:
    """An instruction that gives the pointer to numbers of a `kind` at an address."""

    @instruction(types.CPointer(kind), ADDRESS)
    def pointer_at(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

    return pointer_at


addresses_at = _pointer_at(types.uint64)
"""Addresses at an address: of the arrays of a block, or of arguments."""
bytes_at = _pointer_at(types.uint8)


@inline
def left_to_python(state: Any, arguments: Any, count: Any, names: Any) -> Any:
    """What the function of Python returns that stands first in `state`."""
    return call_with(member(state, 0), arguments, count, names)


class _Method(ctypes.Structure):
    """What the C API calls PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("code", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def address(block: Any) -> int:
    """The address of a block (`pointers.block`), for a `state` that holds the arrays as well."""
    return 0 if config.DISABLE_JIT else int(block.ctypes.data)


def called_directly(parameters: str) -> Callable[[Callable[..., int]], Any]:
    """Mark ``code(state, arguments, count, names)`` for `callable_of`; numba keeps it on disk.

    `parameters` are those that `help` and `inspect` tell of.
    """

    def mark(code: Callable[..., int]) -> Any:
        if not _DIRECT:
            return code
        function: Any = c_function(((ADDRESS,) * 4, ADDRESS), code)
        function.parameters = parameters
        return function

    return mark


def prepare(function: Any) -> None:
    """Compile what is `called_directly`, or read what was kept, ahead of `callable_of`."""
    if _DIRECT:
        _compiled(function)


@cache
def _compiled(function: Any) -> _Method:
    """One for all, which stays where it is, since functions of Python point to it."""
    function.compile()
    name, doc = function.__name__, function.__wrapped__.__doc__
    doc = f"{name}($self, {function.parameters})\n--\n\n{doc}"  # as C functions of Python tell their signature
    return _Method(name.encode(), function.address, _FAST_WITH_KEYWORDS, doc.encode())


def callable_of(function: Any, state: tuple[Any, ...]) -> Callable[..., Any]:
    """A function of Python: compiled `function`, which gets `state` and keeps its members; see the head."""
    if not _DIRECT:
        return state[0]  # type: ignore[no-any-return]
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
        ("PyCFunction_NewEx", ctypes.pythonapi)
    )
    return make(ctypes.addressof(_compiled(function)), _State(state), None)  # type: ignore[no-any-return]


class _State(tuple[Any, ...]):
    """The state of a function: pickled, for the function's sake, as what has the same function elsewhere."""

    goes_as: tuple[str, ReferenceType[Any], str] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        name, reference, attribute = self.goes_as or ("", None, "")
        owner = None if reference is None else reference()
        if owner is None:
            raise TypeError("compiled code with its addresses cannot be pickled")
        return _with_function, (name, owner, attribute)


def _with_function(name: str, owner: Any, attribute: str) -> SimpleNamespace:
    """Something that has an attribute of `owner` under another name."""
    return SimpleNamespace(**{name: getattr(owner, attribute)})


def travels_with(function: Any, owner: object, attribute: str) -> None:
    """Have a function from `callable_of` pickled as ``owner.attribute``: Python takes its state and its name.

    `owner` is not held.
    """
    state = getattr(function, "__self__", None)
    if isinstance(state, _State):
        state.goes_as = function.__name__, ref(owner), attribute
