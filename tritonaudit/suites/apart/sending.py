"""Tensors on their way between the process that judges and the one that is judged: bytes, and how they lie.

A message is a line of data or a pickle, with the bytes of its tensors in a file without a name beside it. Whoever gets
one copies it before looking at it, so that nothing changes afterwards. Imports torch.
"""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass

import torch

from tritonaudit.data import NotData

_LENGTH_BYTES = 8
_MOST_MESSAGE = 1 << 28
_MOST_BYTES = 1 << 36
_ALIGNED = 64
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Laid:
    """A tensor: where its storage lies among the bytes that are sent and how large that is, and how it lies in it.

    `address` is where the storage is in the process that has the tensor, on a GPU or not. Offset and strides count
    elements.
    """

    start: int
    size: int
    address: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    requires_grad: bool = False
    on_gpu: bool = False


class Parcel:
    """The bytes of tensors that are to be sent, each storage once."""

    def __init__(self) -> None:
        self._starts: dict[int, int] = {}
        self._storages: list[tuple[int, torch.Tensor]] = []
        self._size = 0

    def lay(self, tensor: torch.Tensor) -> Laid:
        """Put a tensor in. Raises TypeError for one that has no plain memory."""
        if tensor.layout != torch.strided or tensor.is_quantized:
            raise TypeError(f"a tensor of the layout {tensor.layout}")
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
            plain = tensor.detach().resolve_conj().resolve_neg()
            storage = plain.untyped_storage()
            address = storage.data_ptr()
            if address not in self._starts or not address:
                self._starts[address] = self._size
                self._storages.append((self._size, _bytes_of(storage)))
                self._size += -(-storage.nbytes() // _ALIGNED) * _ALIGNED
        dtype = str(plain.dtype).removeprefix("torch.")
        shape, strides = tuple(plain.shape), tuple(plain.stride())
        place = self._starts[address], storage.nbytes(), address
        return Laid(*place, dtype, shape, strides, plain.storage_offset(), tensor.requires_grad, plain.is_cuda)

    def file(self) -> int:
        """A file without a name that holds all of them."""
        file = os.memfd_create("tensors", os.MFD_CLOEXEC)
        try:
            for start, storage in self._storages:
                _write(file, memoryview(storage.cpu().numpy()), start)
        except BaseException:
            os.close(file)
            raise
        return file


def _bytes_of(storage: torch.UntypedStorage) -> torch.Tensor:
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage, 0, (storage.nbytes(),))


def _write(file: int, data: memoryview, start: int) -> None:
    while data:
        written = os.pwrite(file, data, start)
        data, start = data[written:], start + written


class Opened:
    """Makes tensors of the bytes in a file; those that shared a storage share one again."""

    def __init__(self, file: int | None) -> None:
        self._file = file
        self._storages: dict[tuple[int, bool], torch.Tensor] = {}
        self._left = _MOST_BYTES

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Make no more of it."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def tensor(self, laid: Laid) -> torch.Tensor:
        """The tensor. Raises NotData where there is none like that."""
        dtype = getattr(torch, laid.dtype, None)
        is_laid = (
            len(laid.shape) == len(laid.strides) and min((*laid.shape, *laid.strides, laid.offset), default=0) >= 0
        )
        is_held = not laid.on_gpu or torch.cuda.is_available()
        if not isinstance(dtype, torch.dtype) or not is_laid or min(laid.start, laid.size) < 0 or not is_held:
            raise NotData(f"{laid} is not a tensor")
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
            storage = self._storage(laid).untyped_storage()
            span = sum((size - 1) * stride for size, stride in zip(laid.shape, laid.strides, strict=True))
            needed = (laid.offset + span + 1) * dtype.itemsize if 0 not in laid.shape else 0
            if needed > laid.size:
                raise NotData(f"{needed} bytes of a storage of {laid.size}")
            found = torch.empty(0, dtype=dtype, device=storage.device).set_(
                storage, laid.offset, laid.shape, laid.strides
            )
        return found.requires_grad_() if laid.requires_grad and dtype.is_floating_point else found

    def _storage(self, laid: Laid) -> torch.Tensor:
        place = laid.start, laid.on_gpu
        known = self._storages.get(place)
        if known is not None and len(known) == laid.size and laid.size:
            return known
        self._left -= laid.size
        if self._left < 0:
            raise NotData(f"more than {_MOST_BYTES:,} bytes")
        if laid.size and (self._file is None or os.fstat(self._file).st_size < laid.start + laid.size):
            raise NotData("tensors whose bytes are not there")
        made = torch.empty(laid.size, dtype=torch.uint8)
        self._read(memoryview(made.numpy()), laid.start)
        self._storages[place] = made.cuda() if laid.on_gpu else made
        return self._storages[place]

    def _read(self, into: memoryview, start: int) -> None:
        while into:
            assert self._file is not None
            count = os.preadv(self._file, [into], start)
            if not count:
                raise NotData("tensors whose bytes are no longer there")
            into, start = into[count:], start + count


# -- messages ------------------------------------------------------------------------------------------------------


def send(connection: socket.socket, message: bytes, file: int | None = None) -> None:
    """Send a message, and a file of tensors, which is closed."""
    try:
        socket.send_fds(connection, [len(message).to_bytes(_LENGTH_BYTES, "big")], [] if file is None else [file])
    finally:
        if file is not None:
            os.close(file)
    connection.sendall(message)


def receive(connection: socket.socket) -> tuple[bytes, int | None] | None:
    """The next message and its file; None once nobody can send any. Raises NotData for one beyond all bounds."""
    head, files, _, _ = socket.recv_fds(connection, _LENGTH_BYTES, 8)
    file = files[0] if files else None
    for other in files[1:]:
        os.close(other)
    try:
        rest = _exactly(connection, _LENGTH_BYTES - len(head)) if head else None
        if rest is None:
            return None
        length = int.from_bytes(head + rest, "big")
        if length > _MOST_MESSAGE:
            raise NotData(f"a message of {length:,} bytes")
        message = _exactly(connection, length)
    except BaseException:
        if file is not None:
            os.close(file)
        raise
    return None if message is None else (message, file)


def _exactly(connection: socket.socket, count: int) -> bytes | None:
    received = bytearray()
    while len(received) < count:
        chunk = connection.recv(min(_CHUNK, count - len(received)))
        if not chunk:
            return None
        received += chunk
    return bytes(received)
