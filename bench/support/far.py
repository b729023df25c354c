"""Runs a command in a network of its own, in which a round trip takes time.
  unshare --user --map-root-user --net python3 bench/support/far.py <milliseconds> <command> ...
Each packet to 10.9.0.2 returns to 10.9.0.1 after half of the time, as if 10.9.0.2 had sent it. A server that listens on
10.9.0.1 is therefore reached at 10.9.0.2, and connection, handshake and request each wait for real packets. A delaying
proxy would measure something else, since it accepts connections at once.
"""
import collections
import fcntl
import os
import select
import struct
import subprocess
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000


def main(milliseconds, command):
    delay = float(milliseconds) / 2000
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", b"far", IFF_TUN | IFF_NO_PI))
    subprocess.check_call(["ip", "link", "set", "lo", "up"])
    subprocess.check_call(["ip", "address", "add", "10.9.0.1/24", "dev", "far"])
    subprocess.check_call(["ip", "link", "set", "far", "up"])
    child = subprocess.Popen(command)
    waiting = collections.deque()
    while child.poll() is None:
        until = waiting[0][0] - time.monotonic() if waiting else 0.05
        readable, _, _ = select.select([device], [], [], max(0, min(until, 0.05)))
        if readable:
            packet = os.read(device, 65535)
            if packet[0] >> 4 == 4:
                waiting.append((time.monotonic() + delay, reflected(packet)))
        while waiting and waiting[0][0] <= time.monotonic():
            os.write(device, waiting.popleft()[1])
    return child.returncode


def reflected(packet):
    """Exchanges source and destination of an IPv4 packet. Its checksums are sums of both, and stay the same."""
    return packet[:12] + packet[16:20] + packet[12:16] + packet[20:]


sys.exit(main(sys.argv[1], sys.argv[2:]))
