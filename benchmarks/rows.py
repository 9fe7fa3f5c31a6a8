"""Does the time per row stay the same from a hundred thousand rows to ten million?"""

import argparse

from twinviews import XNVRegressor
from workload import best_seconds, make_table, report


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--most", type=int, default=10_000_000)
    options = arguments.parse_args()
    X, y = make_table(options.most)
    sizes = [n for n in (100_000, 1_000_000, 10_000_000) if n <= options.most]
    model = XNVRegressor(
        n_components=200, sigma=5.0, ridge=1e-3, correlation_ridge=1e-5, random_state=0
    ).fit(X[:10_000], y[:10_000])
    seconds = best_seconds({f"{n}": lambda n=n: model.fit(X[:n], y[:n]) for n in sizes}, 3)
    per_row = {n: seconds[f"{n}"] / n for n in sizes}
    for n, value in per_row.items():
        print(f"  {n:>12,} rows {1e6 * value:>8.3f} microseconds a row")
    growth = per_row[sizes[-1]] / per_row[sizes[0]]
    report(f"time per row, {sizes[-1]:,} / {sizes[0]:,} rows", growth, "at most 1.1", growth <= 1.1)
    if len(sizes) > 2:
        growth = per_row[sizes[-1]] / per_row[sizes[1]]
        report(f"time per row, {sizes[-1]:,} / {sizes[1]:,} rows", growth, "at most 1.1", growth <= 1.1)


if __name__ == "__main__":
    main()
