"""A stand-in for an intercepted application: plays a plan of buffers and dispatches over the wire protocol.

Started as `python interceptedchild.py PLAN`, PLAN being JSON:
  buffers: name → {"bytes": n, "kind": "device", "const": false}; steps, in order, of
  {"dispatch": symbol, "grid": [..], "block": [..], "lds": n, "status": n, "buffers": [names passed],
   "scalars": [hex], "floats": {name: [values]}, "bytes": {name: hex}, "noise": {name: relative},
   "noisy_orders": [orders of lanes that show it; all but forward if not given]}
  {"transfer": operation, "bytes": n} · {"allocate": name} · {"print": text, "stderr": false} · {"exit": status}
  {"signal": number} · {"hang": seconds} · {"raw": hex}: bytes onto the socket · {"time": ns}: printed, scaled
What is never written keeps the poison. Noise depends on the orders, nothing else.
"""

from __future__ import annotations

import json
import mmap
import os
import random
import socket
import struct
import sys
import time
from pathlib import Path

BASE = 0x7E0000000000
ARENA_BYTES = 1 << 20


class Intercepted:
    def __init__(self, plan):
        self.plan = plan
        self.watched = os.environ["INTELLIPERF_EXPORT_KERNEL"].split(",")
        self.poison = int(os.environ.get("INTELLIPERF_POISON", "165"))
        orders = os.environ.get("INTELLIPERF_LANE_ORDER", "forward"), os.environ.get("INTELLIPERF_BLOCK_ORDER", "")
        self.random = random.Random(repr(orders))
        self.lane_order = orders[0]
        self.forward = orders[0] == "forward"
        self.descriptor = os.memfd_create("arena", os.MFD_ALLOW_SEALING if plan.get("sealing", True) else 0)
        os.ftruncate(self.descriptor, plan.get("file_bytes", ARENA_BYTES))
        self.memory = mmap.mmap(self.descriptor, plan.get("file_bytes", ARENA_BYTES))
        self.top = 0
        self.allocations = {}
        for name, buffer in plan["buffers"].items():
            if not buffer.get("later"):
                self.allocate(name)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(os.environ["INTELLIPERF_EXPORT_SOCKET"])
        self.counts = {}
        self.dispatches = 0

    def allocate(self, name):
        size = self.plan["buffers"][name]["bytes"]
        number = len(self.allocations) + 1
        self.allocations[name] = {
            "id": number,
            "base": BASE + self.top,
            "size": size,
            "sequence": number,
            "kind": self.plan["buffers"][name].get("kind", "device"),
            "name": self.plan["buffers"][name].get("symbol"),
        }
        self.memory[self.top : self.top + size] = bytes([self.poison]) * size
        self.top += (size + 255) // 256 * 256

    def send(self, message, descriptors=()):
        body = json.dumps(message).encode()
        data = struct.pack("<I", len(body)) + body
        sent = socket.send_fds(self.socket, [data], list(descriptors))
        self.socket.sendall(data[sent:])

    def wait(self):
        header = self.socket.recv(4, socket.MSG_WAITALL)
        if len(header) < 4:
            os._exit(125)
        (length,) = struct.unpack("<I", header)
        if json.loads(self.socket.recv(length, socket.MSG_WAITALL))["type"] != "continue":
            os._exit(125)

    def hello(self):
        if "silent" in self.plan:  # uses the device, but launches nothing
            sys.exit(self.plan["silent"])
        element = {"name": "float", "bytes": 4, "encoding": "float"}
        parameter = {"type": "float *", "size": 8, "pointer": True, "const": False, "restrict": False}
        names = [n for n, b in self.plan["buffers"].items() if b.get("typed", True)]
        parameters = [
            {
                **parameter,
                "index": i,
                "name": n,
                "element": element,
                "const": self.plan["buffers"][n].get("const", False),
            }
            for i, n in enumerate(names)
        ]
        kernels = {step["dispatch"] for step in self.plan["steps"] if "dispatch" in step}
        message = {
            "type": "hello", "protocol": 1, "backend": "emulator", "pid": os.getpid(), "device": "MI300X",
            "wave_size": 64, "memory": "shared", "arena_base": BASE, "arena_bytes": ARENA_BYTES,
            "kernels": {kernel: {"parameters": parameters} for kernel in kernels},
        }  # fmt: skip
        self.send({**message, **self.plan.get("hello", {})}, [self.descriptor])

    def dispatch(self, step):
        kernel = step["dispatch"]
        for name, values in step.get("floats", {}).items():
            noise = step.get("noise", {}).get(name, 0.0)
            quiet = self.forward or self.lane_order not in step.get("noisy_orders", [self.lane_order])
            values = [v if quiet else v * (1 + noise * self.random.uniform(-1, 1)) for v in values]
            self.write(name, struct.pack(f"<{len(values)}f", *values))
        for name, text in step.get("bytes", {}).items():
            self.write(name, bytes.fromhex(text))
        for name, values in step.get("shuffled", {}).items():
            values = list(values)
            if not self.forward:
                self.random.shuffle(values)
            self.write(name, struct.pack(f"<{len(values)}i", *values))
        nth = self.counts[kernel] = self.counts.get(kernel, -1) + 1
        target = kernel in self.watched or "*" in self.watched
        message = {
            "type": "dispatch", "index": self.dispatches, "nth": nth, "kernel": kernel,
            "grid": step.get("grid", [1, 1, 1]), "block": step.get("block", [64, 1, 1]),
            "dynamic_lds": step.get("lds", 0), "target": target, "status": step.get("status", 0),
        }  # fmt: skip
        if target:
            message["arguments"] = self.arguments(step)
            message["allocations"] = list(self.allocations.values())
        self.dispatches += 1
        self.send({**message, **step.get("lie", {})})
        if target:
            self.wait()

    def write(self, name, content):
        start = self.allocations[name]["base"] - BASE
        self.memory[start : start + len(content)] = content

    def arguments(self, step):
        found = []
        for index, name in enumerate(step.get("buffers", list(self.allocations))):
            allocation = self.allocations[name]
            pointer = {"offset": 0, "allocation": allocation["id"], "at": 0}
            found.append({"index": index, "hex": struct.pack("<Q", allocation["base"]).hex(), "pointers": [pointer]})
        scalars = step.get("scalars", [])
        return found + [{"index": len(found) + i, "hex": h, "pointers": []} for i, h in enumerate(scalars)]

    def play(self):
        self.hello()
        for step in self.plan["steps"]:
            if "dispatch" in step:
                self.dispatch(step)
            elif "transfer" in step:
                self.send({"type": "transfer", "operation": step["transfer"], "bytes": step["bytes"]})
            elif "allocate" in step:
                self.allocate(step["allocate"])
            elif "print" in step:
                print(step["print"], file=sys.stderr if step.get("stderr") else sys.stdout, flush=True)
            elif "time" in step:
                scale = float(os.environ.get("INTELLIPERF_CLOCK_SCALE", "1"))
                print(f"{step['label']}: {step['time'] * scale:.3f}", flush=True)
            elif "raw" in step:
                self.socket.sendall(bytes.fromhex(step["raw"]))
            elif "truncate" in step:
                os.ftruncate(self.descriptor, step["truncate"])
            elif "hang" in step:
                time.sleep(step["hang"])
            elif "signal" in step:
                os.kill(os.getpid(), step["signal"])
            elif "exit" in step:
                os._exit(step["exit"])
        self.send({"type": "end", "dispatches": self.dispatches})


if __name__ == "__main__":
    Intercepted(json.loads(Path(sys.argv[1]).read_text())).play()
