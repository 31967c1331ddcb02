#!/usr/bin/env python3
"""Asks why the two differ where nothing is bound to a core; writes why.jsonl.

    why.py run SECONDS RELEASE_FOLDER POSTGRES_BIN_FOLDER
    why.py summary

64 clients on the real server, by turns: floor; floor as a real-time process,
which nothing ordinary preempts; floor with a time slice of 100 ms asked for,
which needs no privilege; floor-uring; floor-uring as a real-time process.
"""
import ctypes, json, pathlib, shutil, signal, statistics, subprocess, sys, tempfile, time
import os, resource, struct
import measure

RAW = measure.HERE / "why.jsonl"
SCHED_SETATTR, SLICE_NS = 314, 100_000_000


def slice_long():
    attributes = struct.pack("=IIQiIQQQ", 48, 0, 0, 0, 0, SLICE_NS, 0, 0)
    if ctypes.CDLL(None).syscall(SCHED_SETATTR, 0, attributes, 0):
        os._exit(99)


def real_time():
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


VARIANTS = {
    "floor": ("floor", None),
    "floor, real-time": ("floor", real_time),
    "floor, long slice": ("floor", slice_long),
    "floor-uring": ("floor-uring", None),
    "floor-uring, real-time": ("floor-uring", real_time),
}


def run(seconds, release, bin):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended early"))
    end = time.monotonic() + float(seconds)
    home = pathlib.Path(tempfile.mkdtemp(prefix="io-uring-"))
    home.chmod(0o755)
    server = measure.Postgres(bin, home)
    try:
        with open(RAW, "a", buffering=1) as raw:
            names, repetition = list(VARIANTS), 0
            while time.monotonic() < end:
                for way in ("tcp", "unix"):
                    for name in names:
                        tool, before = VARIANTS[name]
                        host = "127.0.0.1" if way == "tcp" else str(home)
                        words = [f"{release}/{tool}", "-h", host, "-p", str(server.port),
                                 "-U", "postgres", "-M", "prepared", "-c", "64", "-s", "10",
                                 "-T", "1", "postgres"]
                        server.settle()
                        old = resource.getrusage(resource.RUSAGE_CHILDREN)
                        done = subprocess.run(words, capture_output=True, text=True,
                                              preexec_fn=before, timeout=60)
                        new = resource.getrusage(resource.RUSAGE_CHILDREN)
                        line = dict(repetition=repetition, way=way, variant=name, command=words,
                                    slept=new.ru_nvcsw - old.ru_nvcsw,
                                    preempted=new.ru_nivcsw - old.ru_nivcsw,
                                    load=os.getloadavg()[0])
                        line |= json.loads(done.stdout) if done.returncode == 0 else {
                            "error": done.stderr.strip()[:200] or str(done.returncode)}
                        raw.write(json.dumps(line) + "\n")
                names, repetition = names[1:] + names[:1], repetition + 1
    finally:
        server.process.send_signal(signal.SIGINT)
        server.process.wait(30)
        shutil.rmtree(home)


def summary():
    lines = [line for line in map(json.loads, open(RAW)) if "error" not in line]
    print("| way | variant | runs | CPU/txn, µs, median | ratio to floor, median | middle half |"
          " preempted/txn | TPS, ratio to floor |")
    print("|" + " --- |" * 8)
    for way in ("tcp", "unix"):
        floors = {l["repetition"]: l for l in lines if (l["way"], l["variant"]) == (way, "floor")}
        for name in VARIANTS:
            mine = [l for l in lines if (l["way"], l["variant"]) == (way, name)
                    and l["repetition"] in floors]
            if not mine:
                continue
            ratio = lambda of: [of(l) / of(floors[l["repetition"]]) for l in mine]
            own = lambda l: l["cpu_us_per_transaction"]
            middle = measure.spread(ratio(own)).split(" | ")
            print(f"| {way} | {name} | {len(mine)} | {statistics.median(map(own, mine)):.2f} | "
                  f"{middle[0]} | {middle[1]} | "
                  f"{statistics.median(l['preempted'] / l['transactions'] for l in mine):.3f} | "
                  f"{statistics.median(ratio(lambda l: l['transactions'] / l['wall_us'])):.2f} |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["run"] and len(sys.argv) == 5:
        run(*sys.argv[2:])
    elif sys.argv[1:] == ["summary"]:
        summary()
    else:
        sys.exit(__doc__)
