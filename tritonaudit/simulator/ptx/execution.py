"""Executes a kernel's PTX for many threads at once, each of which has numbers of its own in the memory it is given."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from tritonaudit.simulator.numerics.unsupported import Unsupported
from tritonaudit.simulator.ptx.code import Code, Instruction
from tritonaudit.simulator.ptx.instructions import dtype_of, meaning

_PARAMETER = 1 << 44
"""How far apart the addresses that parameters hold are; what is below the first is memory of a thread's own."""
_ARRAY = 1 << 40
_LOCAL_WORDS = 256
_MOST_STEPS = 100_000
_FLOAT = re.compile(r"0([fFdD])([0-9a-fA-F]+)$")
_NUMBER = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|\d+)U?$")
_ADDRESS = re.compile(r"\[\s*([%\w$.]+)\s*(?:\+\s*(-?\d+))?\s*\]$")
_OF_THREADS = re.compile(r"%(?:tid|ctaid|laneid|warpid)(?:\.[xyz])?$")
_CARRY = "carry"
_WITHOUT_EFFECT = ("griddepcontrol", "bar", "barrier", "membar", "fence", "nanosleep")
"""Instructions that put in order what here happens one after the other."""


def run(code: Code, operands: Sequence[Tensor], result: torch.dtype) -> Tensor:
    """What each thread stores where the parameter behind the last operand's points to.

    A parameter per operand points to the thread's own number in it. Operands have one axis, and broadcast; the result
    is as long as they are. Raises Unsupported.
    """
    count = max((one.numel() for one in operands), default=1)
    stored = torch.zeros(count, dtype=result)
    waiting = [_Threads(code, list(operands), torch.arange(count), 0)]
    while waiting:
        threads = waiting.pop()
        waiting += threads.run(stored)
    return stored


def run_assembly(code: Code, given: Mapping[str, Tensor], wanted: Sequence[str], count: int) -> list[Tensor | None]:
    """What so many threads hold in these registers in the end; None for one that is not set. Raises Unsupported.

    What is `given` in registers has one axis, a number per thread.
    """
    found: dict[str, Tensor] = {}
    waiting = [_Threads(code, [], torch.arange(count), 0, dict(given))]
    while waiting:
        threads = waiting.pop()
        parted = threads.run(torch.zeros(0))
        waiting += parted
        for name in () if parted else wanted:
            if (value := threads.registers.get(name)) is not None:
                whole = found.setdefault(name, torch.zeros(count, dtype=value.dtype))
                whole[threads.places] = value if value.dtype == whole.dtype else value.view(whole.dtype)
    return [found.get(name) for name in wanted]


@dataclass(eq=False)
class _Threads:
    """Threads that are at the same instruction; `places` are their numbers."""

    code: Code
    operands: list[Tensor]
    places: Tensor
    at: int
    registers: dict[str, Tensor] = field(default_factory=dict)
    local: Tensor | None = None

    def run(self, stored: Tensor) -> list[_Threads]:
        """Run to the end, or to a branch that not all of them take: then they part."""
        code = self.code.instructions
        for _ in range(_MOST_STEPS):
            if self.at == len(code):
                return []
            one = code[self.at]
            taken = self._guard(one)
            if taken is not None and not bool(taken.all()):
                if bool(taken.any()):
                    return [self._part(taken), self._part(~taken)]
                self.at += 1
                continue
            if one.name in ("ret", "exit"):
                return []
            if one.name in ("bra", "bra.uni"):
                self.at = self._target(one)
                continue
            self._execute(one, stored)
            self.at += 1
        raise Unsupported("PTX", "a loop without an end")

    def _guard(self, one: Instruction) -> Tensor | None:
        if not one.guard:
            return None
        holds = self._read(one.guard, torch.bool)
        return ~holds if one.is_negated else holds

    def _target(self, branch: Instruction) -> int:
        found = self.code.labels.get(branch.operands[0])
        if found is None:
            raise Unsupported("PTX", " ".join((branch.name, *branch.operands)))
        return found

    def _part(self, mask: Tensor) -> _Threads:
        """Those for which the mask holds, with what they still read."""
        chosen = mask.nonzero().reshape(-1)
        last = self.code.last_reads
        kept = {
            name: value[chosen] if value.numel() > 1 else value
            for name, value in self.registers.items()
            if last.get(name, -1) >= self.at or name == _CARRY
        }
        operands = [one[chosen] if one.numel() > 1 else one for one in self.operands]
        local = None if self.local is None else self.local[chosen]
        return _Threads(self.code, operands, self.places[chosen], self.at, kept, local)

    def _execute(self, one: Instruction, stored: Tensor) -> None:
        head = one.name.partition(".")[0]
        if self.code.is_assembly and head in ("ld", "st"):
            raise Unsupported("PTX", one.name)
        if head in _WITHOUT_EFFECT:
            return
        if head == "ld":
            self._load(one)
        elif head == "st":
            self._store(one, stored)
        elif head == "mov" and any(operand[0] == "{" for operand in one.operands):
            self._repack(one)
        else:
            self._compute(one)

    def _compute(self, one: Instruction) -> None:
        what = meaning(one.name, self.code.is_assembly)
        target, *sources = one.operands
        last = len(what.types) - 1
        values = [self._read(source, what.types[min(place, last)]) for place, source in enumerate(sources)]
        if what.uses_carry:
            values.append(self.registers[_CARRY])
        self.registers[target] = what.compute(*values)
        if what.carry is not None:
            self.registers[_CARRY] = what.carry(*values)

    def _read(self, operand: str, dtype: torch.dtype) -> Tensor:
        found = self.registers.get(operand)
        if found is None:
            return _literal(operand, dtype, self.code)
        if found.dtype == dtype:
            return found
        if found.dtype.itemsize > dtype.itemsize and torch.bool not in (found.dtype, dtype):
            return _lowest(found, dtype)
        if found.dtype.itemsize != dtype.itemsize or torch.bool in (found.dtype, dtype):
            raise Unsupported("PTX", f"{operand} as {dtype}")
        return found.view(dtype)

    def _repack(self, one: Instruction) -> None:
        """Several registers as one of their width together, or the other way."""
        target, source = one.operands
        whole = dtype_of(one.name.split(".")[-1])
        names = _names(target if target[0] == "{" else source)
        part = {1: torch.int8, 2: torch.int16, 4: torch.int32}.get(whole.itemsize // len(names))
        if part is None or part.itemsize * len(names) != whole.itemsize:
            raise Unsupported("PTX", one.name)
        width = 8 * part.itemsize
        if target[0] == "{":
            value = self._read(source, whole)
            for place, name in enumerate(names):
                if name != "_":
                    self.registers[name] = _lowest(value >> (place * width), part)
            return
        total = torch.zeros(1, dtype=torch.int64)
        for place, name in enumerate(names):
            bits = self._read(name, part).to(torch.int64) & ((1 << width) - 1)
            total = total | bits << (place * width)
        self.registers[target] = _lowest(total, whole)

    # -- memory --------------------------------------------------------------------------------------------------------

    def _load(self, one: Instruction) -> None:
        target, address = one.operands
        (target,) = _names(target) if target[0] == "{" else (target,)
        if ".param." in one.name:
            number = int(address.strip("[] ").rpartition("_")[2])
            self.registers[target] = torch.tensor([_PARAMETER * (number + 1)])
            return
        dtype = dtype_of(one.name.split(".")[-1])
        where = self._address(address)
        first = int(where[0])
        if first >= _PARAMETER:
            self.registers[target] = self._operand(first, dtype)
        elif first >= _ARRAY:
            self.registers[target] = self._from_array(where, dtype)
        else:
            self.registers[target] = self._from_local(where, dtype)

    def _operand(self, address: int, dtype: torch.dtype) -> Tensor:
        place, offset = divmod(address, _PARAMETER)
        if offset or place > len(self.operands):
            raise Unsupported("PTX", "a load from elsewhere")
        value = self.operands[place - 1]
        if value.dtype == torch.bool:
            value = value.to(dtype)
        return value.view(dtype)

    def _from_array(self, where: Tensor, dtype: torch.dtype) -> Tensor:
        number, _ = divmod(int(where[0]), _ARRAY)
        data = list(self.code.arrays.values())[number - 1]
        elements = torch.frombuffer(bytearray(data), dtype=dtype)
        return elements[(where - number * _ARRAY) // dtype.itemsize]

    def _from_local(self, where: Tensor, dtype: torch.dtype) -> Tensor:
        words = self._local()[torch.arange(len(self.places)), where // 4]
        if dtype.itemsize == 4:
            return words.view(dtype)
        if dtype.itemsize != 8:
            raise Unsupported("PTX", "a thread's memory by bytes")
        upper = self._local()[torch.arange(len(self.places)), where // 4 + 1]
        return ((upper.to(torch.int64) << 32) | (words.to(torch.int64) & 0xFFFFFFFF)).view(dtype)

    def _store(self, one: Instruction, stored: Tensor) -> None:
        address, source = one.operands
        (source,) = _names(source) if source[0] == "{" else (source,)
        dtype = dtype_of(one.name.split(".")[-1])
        where = self._address(address)
        value = self._read(source, dtype)
        if int(where[0]) == _PARAMETER * (len(self.operands) + 1):
            stored[self.places] = value.view(stored.dtype) if stored.dtype != torch.bool else value.bool()
        elif int(where[0]) >= _ARRAY or dtype.itemsize not in (4, 8):
            raise Unsupported("PTX", "a store to elsewhere")
        else:
            local, lanes = self._local(), torch.arange(len(self.places))
            if dtype.itemsize == 4:
                local[lanes, where // 4] = value.view(torch.int32)
            else:
                bits = value.view(torch.int64)
                local[lanes, where // 4] = bits.to(torch.int32)
                local[lanes, where // 4 + 1] = (bits >> 32).to(torch.int32)

    def _local(self) -> Tensor:
        if self.local is None:
            self.local = torch.zeros(len(self.places), _LOCAL_WORDS, dtype=torch.int32)
        return self.local

    def _address(self, operand: str) -> Tensor:
        found = _ADDRESS.match(operand)
        if found is None:
            raise Unsupported("PTX", operand)
        name, offset = found.groups()
        base = self.registers.get(name)
        if base is None:
            base = _literal(name, torch.int64, self.code)
        return base.to(torch.int64) + int(offset or 0)


def _lowest(value: Tensor, dtype: torch.dtype) -> Tensor:
    """The lowest bits, in a type of so many."""
    integers = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return value.view(integers[value.dtype.itemsize]).to(integers[dtype.itemsize]).view(dtype)


def _names(group: str) -> list[str]:
    return [one.strip() for one in group.strip("{} ").split(",")]


def _literal(operand: str, dtype: torch.dtype, code: Code) -> Tensor:
    """A constant: a number, an array's address, a thread's place, which is the first."""
    if found := _FLOAT.match(operand):
        packed = bytes.fromhex(found[2])[::-1]
        own = torch.float32 if found[1] in "fF" else torch.float64
        value = torch.frombuffer(bytearray(packed), dtype=own)
        return value if own == dtype else value.view(dtype)
    if _NUMBER.match(operand):
        width = 8 * dtype.itemsize
        number = int(operand.rstrip("U"), 0)
        if dtype == torch.bool:
            return torch.tensor([bool(number)])
        integers = {8: torch.int8, 16: torch.int16, 32: torch.int32, 64: torch.int64}[width]
        wrapped = struct.unpack("<q", struct.pack("<Q", number % (1 << width)))[0] if width == 64 else number
        if width < 64:
            wrapped = (number + (1 << (width - 1))) % (1 << width) - (1 << (width - 1))
        return torch.tensor([wrapped], dtype=integers).view(dtype)
    if operand in code.arrays:
        return torch.tensor([_ARRAY * (1 + list(code.arrays).index(operand))])
    if (_OF_THREADS.match(operand) and not code.is_assembly) or operand.startswith("__local_depot"):
        return torch.zeros(1, dtype=dtype)
    raise Unsupported("PTX", operand)
