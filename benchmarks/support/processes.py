"""What processes take: memory by `ps`, processor time by /proc, where there is one."""

import os
import subprocess
from pathlib import Path


def family(pid: int) -> dict[int, int]:
    """Resident bytes of a process and everything it started, by process id."""
    table = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,rss="], stdout=subprocess.PIPE, text=True, check=True).stdout
    rows = [tuple(map(int, line.split())) for line in table.splitlines()]
    found = {pid}
    while more := {child for child, parent, _ in rows if parent in found} - found:
        found |= more
    return {child: 1024 * size for child, _, size in rows if child in found}


def cpu(pid: int) -> float | None:
    """Seconds of processor time so far; None where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def idle() -> float:
    """Seconds that the machine's cores had nothing to do, in all; 0 where the system does not tell."""
    try:
        fields = Path("/proc/stat").read_text("ascii").split()
    except OSError:
        return 0.0
    return (int(fields[4]) + int(fields[5])) / os.sysconf("SC_CLK_TCK")
