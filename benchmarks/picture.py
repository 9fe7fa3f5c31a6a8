"""Draw docs/images/rows.png: seconds to fit against the number of rows, for each method that can."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge

from twinviews import ExactSSSLRegressor, LapRLSRegressor, XNVRegressor
from workload import best_seconds, make_table

SIGMA = 5.0
GIVEN = {"n_components": 200, "sigma": SIGMA, "ridge": 1e-3, "correlation_ridge": 1e-5}
PICTURE = Path(__file__).parent.parent / "docs" / "images" / "rows.png"


def scikit_learn(X: np.ndarray, y: np.ndarray) -> None:
    Z = Nystroem(n_components=400, gamma=1 / (2 * SIGMA**2), random_state=0).fit_transform(X)
    Ridge(alpha=1e-3).fit(Z, np.nan_to_num(y))


def relabel(X: np.ndarray, y: np.ndarray) -> object:
    model = XNVRegressor(**GIVEN, random_state=0).fit(X, y)
    return lambda: model.relabel(X[:500], y[:500])


METHODS = {  # label: (fit, largest number of rows, colour, how far to lift the label)
    "LapRLS (N × N graph and kernel)": (
        lambda X, y: LapRLSRegressor(sigma=SIGMA, ridge=1e-3, manifold_ridge=1.0).fit(X, y),
        8_000,
        "#b5651d",
        0,
    ),
    "exact SSSL (N × N kernel)": (
        lambda X, y: ExactSSSLRegressor(sigma=SIGMA, n_eigenfunctions=100).fit(X, y),
        8_000,
        "#c9a227",
        0,
    ),
    "scikit-learn Nystroem(400) + Ridge": (scikit_learn, 1_000_000, "#7f7f7f", 14),
    "XNV, every number chosen": (
        lambda X, y: XNVRegressor(random_state=0).fit(X, y),
        4_000_000,
        "#6aaed6",
        4,
    ),
    "XNV, numbers given": (
        lambda X, y: XNVRegressor(**GIVEN, random_state=0).fit(X, y),
        4_000_000,
        "#08519c",
        -10,
    ),
}
SIZES = (1_000, 2_000, 4_000, 8_000, 16_000, 64_000, 250_000, 1_000_000, 4_000_000)


def main() -> None:
    X, y = make_table(SIZES[-1])
    figure, axes = plt.subplots(figsize=(8.6, 4.3), layout="constrained")
    for label, (fit, most, colour, lift) in METHODS.items():
        sizes = [n for n in SIZES if n <= most]
        seconds = [
            best_seconds({label: lambda n=n, fit=fit: fit(X[:n], y[:n])}, 1 if "N × N" in label else 3)[
                label
            ]
            for n in sizes
        ]
        axes.plot(sizes, seconds, marker="o", markersize=4, color=colour)
        axes.annotate(
            label,
            (sizes[-1], seconds[-1]),
            xytext=(8, lift),
            textcoords="offset points",
            va="center",
            color=colour,
        )
        print(label, [f"{n:,}: {s:.3g} s" for n, s in zip(sizes, seconds, strict=True)], flush=True)
    again = best_seconds({"relabel": relabel(X[:1_000_000], y[:1_000_000])}, 5)["relabel"]
    axes.axhline(again, color="#238b45", linewidth=1.5)
    axes.annotate(
        f"relabel: 500 other labels, {1000 * again:.0f} ms for any number of rows",
        (SIZES[0], again),
        xytext=(0, 5),
        textcoords="offset points",
        color="#238b45",
    )
    axes.set(xscale="log", yscale="log", xlabel="rows (500 of them labeled, 20 columns)")
    axes.set_title("Seconds to fit, on two cores", loc="left")
    axes.set_xlim(SIZES[0] * 0.85, 2e8)
    ticks = [10**k for k in range(3, 7)] + [4_000_000]
    axes.set_xticks(ticks, [f"{t:,}" for t in ticks], minor=False)
    axes.set_yticks([0.01, 0.1, 1, 10], ["0.01", "0.1", "1", "10"])
    axes.minorticks_off()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#e5e5e5")
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE, dpi=130)


if __name__ == "__main__":
    main()
