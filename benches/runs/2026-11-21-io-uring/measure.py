#!/usr/bin/env python3
"""Measures floor-uring against floor by turns; writes raw.jsonl; sums it up.

    measure.py run SECONDS RELEASE_FOLDER POSTGRES_BIN_FOLDER   appends to raw.jsonl
    measure.py summary                                          prints summary.md

To be run as root, because the server runs as the user postgres. A pair is
the two tools one right after the other, in an order that changes. Every
round makes one pair of each case, so that a bad minute of the machine falls on
all cases; rounds go on until the time is over.
"""
import itertools, json, os, pathlib, resource, shutil, signal, statistics, subprocess, sys, tempfile, time

HERE = pathlib.Path(__file__).resolve().parent
RAW = HERE / "raw.jsonl"
TICK_US = 1_000_000 // os.sysconf("SC_CLK_TCK")
CORES = range(os.cpu_count())
# A round; 64 decides, so it comes twice. A thousand connections to a real
# server take seconds, so they come in every third round only.
CLIENTS = (64, 16, 64, 256)
CLIENTS_MANY, ROUNDS_MANY = 1000, 3
TOOLS = ("floor", "floor-uring")


def cpu_us(pid):
    """User and system time of a process and of its children that have ended."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:15])) * TICK_US


def machine_us():
    """user+nice, system, irq+softirq, idle+iowait, steal of all cores."""
    fields = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    user, nice, system, idle, iowait, irq, softirq, steal = (int(f) * TICK_US for f in fields)
    return [user + nice, system, irq + softirq, idle + iowait, steal]


def threads(pid):
    return [int(t) for t in os.listdir(f"/proc/{pid}/task")]


def children(pid):
    return len(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split())


class Null:
    name = "null"

    def __init__(self, release, home):
        self.command, self.dir = [f"{release}/nullserver", "--socket-dir", str(home)], home
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().split("port ")[1].split(",")[0])
        self.pid = self.process.pid

    def settle(self):
        time.sleep(0.05)
        # Others on the machine may stop servers by their name.
        if self.process.poll() is not None:
            self.start()


class Postgres:
    name = "postgres"

    def __init__(self, bin, home):
        shutil.chown(home, "postgres")
        run = lambda *words: subprocess.run(
            ["runuser", "-u", "postgres", "--", *map(str, words)],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")
        data = home / "data"
        run(f"{bin}/initdb", "-U", "postgres", "-A", "trust", "-N", "--locale=C", "-D", data)
        self.port, self.dir = 54733, home
        with open(data / "postgresql.conf", "a") as conf:
            conf.write(f"port={self.port}\nlisten_addresses='127.0.0.1'\nfsync=off\n"
                       f"unix_socket_directories='{home}'\nmax_connections=1050\n"
                       "shared_buffers=512MB\nautovacuum=off\nfull_page_writes=off\n"
                       "synchronous_commit=off\n")
        self.process = subprocess.Popen(
            ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups",
             f"{bin}/postgres", "-D", str(data)], stderr=open(home / "log", "w"), cwd="/")
        self.pid = self.process.pid
        for _ in range(200):
            ready = subprocess.run([f"{bin}/pg_isready", "-q", "-h", home, "-p", str(self.port)])
            if ready.returncode == 0:
                break
            time.sleep(0.1)
        run(f"{bin}/pgbench", "-i", "-q", "-s", 10, "-U", "postgres", "-h", home,
            "-p", self.port, "postgres")
        self.idle = children(self.pid)

    def settle(self):
        """Until every backend has ended and its CPU counts as the server's."""
        while children(self.pid) > self.idle:
            time.sleep(0.02)


def one(release, tool, server, way, clients, pinned, length):
    server.settle()
    host = "127.0.0.1" if way == "tcp" else str(server.dir)
    words = [f"{release}/{tool}", "-h", host, "-p", str(server.port), "-U", "postgres",
             "-M", "prepared", "-c", str(clients), "-s", "10", *length, "postgres"]
    if pinned:
        words = ["taskset", "-c", "0", *words]
    for thread in threads(server.pid):
        os.sched_setaffinity(thread, {1} if pinned else CORES)
    switches_before = resource.getrusage(resource.RUSAGE_CHILDREN)
    server_before, machine_before = cpu_us(server.pid), machine_us()
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    switches = resource.getrusage(resource.RUSAGE_CHILDREN)
    server.settle()
    machine = [after - before for before, after in zip(machine_before, machine_us())]
    if done.returncode:
        return {"command": words, "error": done.stderr.strip()[:300]}
    return {"command": words, **json.loads(done.stdout), "server_cpu_us":
            cpu_us(server.pid) - server_before, "machine_us": machine,
            "slept": switches.ru_nvcsw - switches_before.ru_nvcsw,
            "preempted": switches.ru_nivcsw - switches_before.ru_nivcsw,
            "load": os.getloadavg()[0]}


def run(seconds, release, bin):
    # Ended early, it stops its servers as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended early"))
    end = time.monotonic() + float(seconds)
    home = pathlib.Path(tempfile.mkdtemp(prefix="io-uring-"))
    home.chmod(0o755)
    (home / "pg").mkdir()
    servers = [Postgres(bin, home / "pg"), Null(release, home)]
    try:
        with open(RAW, "a", buffering=1) as raw:
            first = sum(1 for _ in open(RAW))
            say = lambda **line: raw.write(json.dumps(line) + "\n")
            seen = {}
            for round in itertools.count():
                many = [CLIENTS_MANY] if round % ROUNDS_MANY == 0 else []
                cases = [(server, way, clients, pinned) for clients in [*CLIENTS, *many]
                         for server in servers for way in ("tcp", "unix")
                         for pinned in (True, False)]
                for case in cases:
                    if time.monotonic() > end:
                        return
                    server, way, clients, pinned = case
                    repetition = seen[case] = seen.get(case, -1) + 1
                    key = dict(session=first, repetition=repetition, server=server.name,
                               way=way, clients=clients, pinned=pinned)
                    if repetition == 0:
                        # What connecting costs the server, to be taken off.
                        got = one(release, "floor", *case, ["-t", "1"])
                        say(kind="connect", tool="floor", **key, got=got)
                    for tool in TOOLS if repetition % 2 == 0 else TOOLS[::-1]:
                        got = one(release, tool, *case, ["-T", "1"])
                        say(kind="run", tool=tool, **key, got=got)
    finally:
        for server in servers:
            server.process.send_signal(signal.SIGINT if server.name == "postgres" else signal.SIGTERM)
            server.process.wait(30)
        shutil.rmtree(home)


def spread(values, digits=2):
    if not values:
        return "–"
    quarters = statistics.quantiles(values, n=4) if len(values) > 1 else [values[0]] * 3
    text = lambda value: f"{value:.{digits}f}"
    return (f"{text(statistics.median(values))} | {text(quarters[0])}–{text(quarters[2])} | "
            f"{text(min(values))}–{text(max(values))}")


def summary():
    pairs, connect = {}, {}
    errors = 0
    for line in map(json.loads, open(RAW)):
        case = (line["server"], line["pinned"], line["way"], line["clients"])
        if "error" in line["got"]:
            errors += 1
        elif line["kind"] == "connect":
            connect.setdefault(case[::3], []).append(line["got"]["server_cpu_us"])
        else:
            pair = pairs.setdefault(case, {}).setdefault((line["session"], line["repetition"]), {})
            pair[line["tool"]] = line["got"]
    print("Ratios floor-uring / floor, made within a pair: median | middle half | least–greatest."
          f" Runs that failed: {errors}.\n")
    for server in ("postgres", "null"):
        for pinned in (True, False):
            where = "client on core 0, server on core 1" if pinned else "bound to no core"
            print(f"\n## {server}, {where}\n")
            print("| way, clients | pairs | CPU/txn of the client, floor → floor-uring, µs |"
                  " client CPU | middle half | range | pairs ≤ 0.95 |"
                  " client + server CPU | middle half | range | whole machine, median | TPS, median |")
            print("|" + " --- |" * 12)
            for case in sorted(pairs, key=lambda case: (case[2], case[3])):
                if case[:2] != (server, pinned):
                    continue
                both = [pair for pair in pairs[case].values() if len(pair) == 2]
                base = min(connect.get(case[::3], [0]))
                own = lambda got: got["cpu_us_per_transaction"]
                total = lambda got: own(got) + max(0, got["server_cpu_us"] - base) / got["transactions"]
                busy = lambda got: sum(got["machine_us"][:3]) / got["transactions"]
                tps = lambda got: got["transactions"] / got["wall_us"]
                ratio = lambda of: [of(p["floor-uring"]) / of(p["floor"]) for p in both]
                median = lambda tool: statistics.median(own(p[tool]) for p in both)
                low = sum(value <= 0.95 for value in ratio(own))
                print(f"| {case[2]}, {case[3]} | {len(both)} | {median('floor'):.2f} → "
                      f"{median('floor-uring'):.2f} | {spread(ratio(own))} | {low} of {len(both)} | "
                      f"{spread(ratio(total))} | {statistics.median(ratio(busy)):.2f} | "
                      f"{statistics.median(ratio(tps)):.2f} |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["run"] and len(sys.argv) == 5:
        run(*sys.argv[2:])
    elif sys.argv[1:] == ["summary"]:
        summary()
    else:
        sys.exit(__doc__)
