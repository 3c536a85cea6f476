"""The same as everyday.nesl by NumPy, and by Python where NumPy has nothing: the median of ten times after two.

With names and times of `nesl bench --save FILE` as its argument it prints both, and their ratios, as Markdown.
"""

import json
import statistics
import sys
import time

import numpy as np

n = 1_000_000
rng = np.random.default_rng(7)
ints = rng.integers(0, 1_000_000_000, n)
floats = rng.random(n)
others = rng.random(n)
few = ints % 1000
sorted_ints = np.sort(ints)
sorted_few = np.sort(few)
sorted_floats = np.sort(floats)
places = ints % n
letters = "abcdefghijklmnopqrstuvwxyz"
words = ["".join(letters[(int(i) // (k + 1) + 7 * k) % 26] for k in range(3 + int(i) % 6)) for i in ints[: n // 5]]
text = " ".join(words)
lines = "\n".join(words)
matrix = rng.random((n // 1000, 1000))
square = rng.random((200, 200))


def counted(things):
    counts = {}
    for thing in things:
        counts[thing] = counts.get(thing, 0) + 1
    return counts


def ranks(v):
    order = np.argsort(v, kind="stable")
    found = np.empty_like(order)
    found[order] = np.arange(len(v))
    return found


def written():
    copy = floats.copy()
    copy[places] = 0.0
    return copy


def added():
    sums = np.zeros(1000)
    np.add.at(sums, few, floats)
    return sums


def scanned():
    sums = [0.0] * 1000
    found = []
    for key, value in zip(few.tolist(), floats.tolist()):
        found.append(sums[key])
        sums[key] += value
    return found


TWINS = {
    "sort_ints": lambda: np.sort(ints),
    "sort_floats": lambda: np.sort(floats),
    "sort_down": lambda: np.sort(floats)[::-1].copy(),
    "sort_tuples": lambda: np.lexsort((floats, few)),
    "sort_strings": lambda: sorted(words),
    "argsort": lambda: np.argsort(floats, kind="stable"),
    "rank": lambda: ranks(floats),
    "merge": lambda: np.sort(np.concatenate((sorted_ints, sorted_few)), kind="stable"),
    "unique": lambda: np.unique(few),
    "lower_bound": lambda: np.searchsorted(sorted_floats, floats),
    "find_first": lambda: np.argmax(floats > 2.0),
    "group_by_key": lambda: np.split(few[np.argsort(few, kind="stable")], np.cumsum(np.bincount(few))[:-1]),
    "histogram": lambda: np.unique(few, return_counts=True),
    "sum_by_index": lambda: np.bincount(few, weights=floats, minlength=1000),
    "reduce_by_index": added,
    "cumsum": lambda: np.cumsum(floats),
    "plus_scan": lambda: np.cumsum(floats) - floats,
    "differences": lambda: np.diff(floats),
    "multi_scan": scanned,
    "sum": lambda: np.sum(floats),
    "mean": lambda: np.mean(floats),
    "var": lambda: np.var(floats),
    "median": lambda: np.median(floats),
    "quantile": lambda: np.quantile(floats, 0.9),
    "correlation": lambda: np.corrcoef(floats, others)[0, 1],
    "dot": lambda: np.dot(floats, others),
    "norm": lambda: np.linalg.norm(floats),
    "linspace": lambda: np.linspace(0.0, 1.0, n),
    "normal": lambda: rng.normal(0.0, 1.0, n),
    "shuffle": lambda: rng.permutation(ints),
    "sample": lambda: rng.choice(ints, n // 10, replace=False),
    "transpose": lambda: matrix.T.copy(),
    "row_sums": lambda: matrix.sum(axis=1),
    "matvec": lambda: matrix @ floats[:1000],
    "matmul_200": lambda: square @ square,
    "solve_200": lambda: np.linalg.solve(square, floats[:200]),
    "outer": lambda: np.outer(floats[:1000], others[: n // 1000]),
    "reshape": lambda: floats.reshape(n // 1000, 1000).copy(),
    "windows_mean": lambda: np.lib.stride_tricks.sliding_window_view(floats, 5).mean(axis=1),
    "convolve": lambda: np.convolve(floats, [0.25, 0.5, 0.25]),
    "interp": lambda: np.interp(others, [0.0, 0.25, 0.5, 1.0], [1.0, 2.0, 0.0, 3.0]),
    "gather": lambda: floats[places],
    "write": written,
    "filter": lambda: floats[floats > 0.5],
    "reverse": lambda: floats[::-1].copy(),
    "wordify": lambda: text.split(),
    "linify": lambda: lines.splitlines(),
    "split_string": lambda: text.split(" "),
    "join_strings": lambda: ", ".join(words),
    "replace": lambda: text.replace("ab", "xyz"),
    "find_all": lambda: [i for i in range(len(text) - 2) if text.startswith("abc", i)],
    "uppercase": lambda: text.upper(),
    "trim": lambda: [word.strip() for word in words],
    "count_words": lambda: counted(words),
    "int_strings": lambda: [str(i) for i in ints[: n // 10]],
    "fixed_strings": lambda: ["%.3f" % x for x in floats[: n // 10]],
    "parse_floats": lambda: [float("%.3f" % x) for x in floats[: n // 10]],
}


def timed(function):
    times = []
    for turn in range(12):
        begin = time.perf_counter()
        function()
        if turn >= 2:
            times.append(time.perf_counter() - begin)
    return statistics.median(times)


def main():
    own = {}
    if len(sys.argv) > 1:
        with open(sys.argv[1], encoding="utf-8") as file:
            saved = json.load(file)
        for name, seconds in medians(saved):
            own[name.rsplit("bench_", 1)[-1]] = seconds
    print("| function | nesl ms | NumPy or Python ms | ratio |")
    print("|---|---|---|---|")
    for name, function in TWINS.items():
        twin, mine = timed(function), own.get(name)
        shown = [f"{1000 * seconds:.2f}" if seconds else "" for seconds in (mine, twin)]
        ratio = f"{mine / twin:.2f}" if mine else ""
        print(f"| {name} | {shown[0]} | {shown[1]} | {ratio} |")


def medians(saved):
    """The names and medians in what `nesl bench --save` has written."""
    return [(name, statistics.median(times)) for name, times in saved.items()]


if __name__ == "__main__":
    main()
