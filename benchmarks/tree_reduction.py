"""How long does one fold over a table take on a cluster, and when are the rows too few for it?

A simulation, not a measurement. A fold turns each partition into a summary and merges summaries two
by two (or ``fan_in`` at a time) until one is left. Partitions wait for the scheduler to hand them
out, take turns on the cores, some straggle, some fail and run again; then summaries travel up the
tree. The defaults are the second pass of a fit with M = 200 and D = 20; docs/scale.md says where
each number comes from. Merges cost the tree time but no core: one is a thousandth of a partition.
"""

import argparse
import heapq
from dataclasses import dataclass, fields

import numpy as np

NODES = (10, 100, 1000)
ROWS = (1e9, 1e11, 1e13)
# Ten million partitions are too many to follow one by one. Of a long queue only the last tasks
# decide how the fold ends, so the rest is drawn at once, as a normal sum of their times, and only
# this many tasks per core at the end, but at least so many in all, are scheduled one by one.
LAST_PER_CORE, LAST_AT_LEAST = 4, 2000
# Below this a cluster does less work than it waits.
POOR = 0.5


@dataclass(frozen=True)
class Cluster:
    """The constants of the model, each a flag. Times in seconds, sizes in bytes."""

    cores: int = 16  # of a node
    partition_rows: float = 1e6
    seconds_per_row: float = 4.2e-6  # of one core
    row_bytes: float = 168  # read from afar: 20 inputs and a label
    bandwidth: float = 1.25e9  # of a node's link, for reading and for summaries
    latency: float = 5e-3  # of one step of the tree
    summary_bytes: float = 1_286_408  # 8 ((2M)^2 + 2 (2M) + 1)
    merge_per_byte: float = 6e-10  # pack, unpack and add
    fan_in: int = 2  # as the Dask engine has it
    dispatch: float = 1e-3  # of the scheduler, for each task: a partition or a merge
    noise: float = 0.3  # standard deviation of the logarithm of a partition's time
    failures: float = 1e-3  # probability that a task fails, at a uniform point of its run

    @property
    def row_time(self) -> float:
        """Of one core: computing and its own reading, or its share of a link that is full."""
        read = self.row_bytes / self.bandwidth
        return max(self.seconds_per_row + read, self.cores * read)

    @property
    def spacing(self) -> float:
        """Between two partitions that the scheduler hands out; each brings its share of merges."""
        return self.dispatch * (1 + 1 / (self.fan_in - 1))

    def partition_times(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Lognormal about the typical time as median, with the part of it that failures waste."""
        seconds = self.partition_rows * self.row_time * rng.lognormal(0, self.noise, n)
        failed = rng.geometric(1 - self.failures, n) - 1
        return seconds * (1 + failed * rng.uniform(size=n))

    def mean_and_spread(self) -> tuple[float, float]:
        """Mean and standard deviation of ``partition_times``, in closed form."""
        odds = self.failures / (1 - self.failures)
        mean = np.exp(self.noise**2 / 2) * (1 + odds / 2)
        square = np.exp(2 * self.noise**2) * (1 + odds + odds * (1 + 2 * odds) / 3)
        typical = self.partition_rows * self.row_time
        return typical * mean, typical * np.sqrt(square - mean**2)

    def step(self, n_summaries: np.ndarray | int) -> np.ndarray | float:
        """Time to bring summaries to the node of one of them and merge them there."""
        each = self.summary_bytes * (1 / self.bandwidth + self.merge_per_byte)
        return np.where(n_summaries > 1, self.latency + (n_summaries - 1) * each, 0.0)


def finish_times(free: np.ndarray, ready: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """When each task ends, if the next in line goes to the core that is free first."""
    cores = free.tolist()
    heapq.heapify(cores)
    ends = []
    for at, lasts in zip(ready.tolist(), seconds.tolist(), strict=True):
        end = max(cores[0], at) + lasts
        heapq.heapreplace(cores, end)
        ends.append(end)
    return np.array(ends)


def root_time(cluster: Cluster, ends: np.ndarray) -> float:
    """When the root of the tree is there; a node waits for all its children."""
    while len(ends) > 1:
        missing = -len(ends) % cluster.fan_in
        children = np.append(ends, np.full(missing, -np.inf)).reshape(-1, cluster.fan_in)
        ends = children.max(axis=1) + cluster.step(np.isfinite(children).sum(axis=1))
    return float(ends[0])


def depth(n_leaves: int, fan_in: int) -> int:
    """Levels of merges above so many leaves."""
    levels = 0
    while n_leaves > 1:
        n_leaves = -(-n_leaves // fan_in)
        levels += 1
    return levels


def simulate(
    cluster: Cluster, rng: np.random.Generator, n_cores: int, n_partitions: int
) -> tuple[float, float]:
    """Seconds of one fold, and how many of them follow the end of the last partition."""
    n_last = min(n_partitions, max(LAST_PER_CORE * n_cores, LAST_AT_LEAST))
    n_before = n_partitions - n_last
    free = np.zeros(n_cores)
    if n_before:
        mean, spread = cluster.mean_and_spread()
        work = rng.normal(n_before * mean, np.sqrt(n_before) * spread)
        begin = max(work / n_cores, n_before * cluster.spacing)
        free = begin + rng.uniform(-0.5, 0.5, n_cores) * mean  # each core is amid some task
    ready = cluster.spacing * (n_before + np.arange(n_last))
    ends = finish_times(free, ready, cluster.partition_times(rng, n_last))
    levels_above = depth(n_partitions, cluster.fan_in) - depth(n_last, cluster.fan_in)
    root = root_time(cluster, ends) + levels_above * float(cluster.step(cluster.fan_in))
    return root, root - float(ends.max())


def remark(efficiency: float, partitions_per_core: float) -> str:
    if efficiency >= POOR:
        return ""
    return "too few rows" if partitions_per_core < LAST_PER_CORE else "scheduler too slow"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    for field in fields(Cluster):
        name = "--" + field.name.replace("_", "-")
        arguments.add_argument(name, type=type(field.default), default=field.default)
    arguments.add_argument("--repetitions", type=int, default=40)
    arguments.add_argument("--seed", type=int, default=0)
    options = vars(arguments.parse_args())
    repetitions, seed = options.pop("repetitions"), options.pop("seed")
    cluster = Cluster(**options)
    if cluster.fan_in < 2:
        arguments.error(f"--fan-in {cluster.fan_in} merges nothing; it must be at least 2.")

    print(f"partitions of {cluster.partition_rows:,.0f} rows, seconds")
    print(
        f"{'nodes':>5} {'rows':>6} {'per core':>9} {'ideal':>10} {'median':>10} {'95%':>10} "
        f"{'efficiency':>10} {'tree':>6}"
    )
    for nodes in NODES:
        for rows in ROWS:
            rng = np.random.default_rng(seed)
            n_cores = nodes * cluster.cores
            n_partitions = int(np.ceil(rows / cluster.partition_rows))
            runs = [simulate(cluster, rng, n_cores, n_partitions) for _ in range(repetitions)]
            seconds, tree = np.array(runs).T
            median, late = np.quantile(seconds, [0.5, 0.95])
            ideal = rows * cluster.row_time / n_cores
            per_core = n_partitions / n_cores
            line = (
                f"{nodes:>5} {rows:>6.0e} {per_core:>9,.2f} {ideal:>10,.1f} {median:>10,.1f} "
                f"{late:>10,.1f} {ideal / median:>10.0%} {np.median(tree):>6.2f}  "
            )
            print((line + remark(ideal / median, per_core)).rstrip())


if __name__ == "__main__":
    main()
