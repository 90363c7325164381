"""Numbers in, a matplotlib Figure out. Nothing here calls plt.show(): the last line of a cell shows the figure once."""

from highway_lessons.figures.backward import error_against_step, gate_factors, jacobian_terms, term_changes
from highway_lessons.figures.base import dashes, draw_lines, mark_cells, new_figure
from highway_lessons.figures.bias import accuracy_against, sizes_against_epsilon
from highway_lessons.figures.clinic import layer_costs, mean_gate_against_spread
from highway_lessons.figures.comparison import best_of_trials, gating_rows, paired_differences, trial_dots
from highway_lessons.figures.gates import (
    accuracy_dots,
    accuracy_lines,
    class_gates,
    gate_profile,
    gates_over_plane,
    lesion_bars,
    stripe_reach,
    trained_network,
)
from highway_lessons.figures.layer import gate_map, gate_square, motorway, product_and_sum
from highway_lessons.figures.pytorch import gaps
from highway_lessons.figures.signals import ellipses, seed_bands, shares_against_tau
from highway_lessons.figures.training import against_depth, answers_over_plane, learning_curves, spiral_arms

__all__ = [
    "accuracy_against",
    "accuracy_dots",
    "accuracy_lines",
    "against_depth",
    "answers_over_plane",
    "best_of_trials",
    "class_gates",
    "dashes",
    "draw_lines",
    "ellipses",
    "error_against_step",
    "gaps",
    "gate_factors",
    "gate_map",
    "gate_profile",
    "gate_square",
    "gates_over_plane",
    "gating_rows",
    "jacobian_terms",
    "layer_costs",
    "learning_curves",
    "lesion_bars",
    "mark_cells",
    "mean_gate_against_spread",
    "motorway",
    "new_figure",
    "paired_differences",
    "product_and_sum",
    "seed_bands",
    "shares_against_tau",
    "sizes_against_epsilon",
    "spiral_arms",
    "stripe_reach",
    "term_changes",
    "trained_network",
    "trial_dots",
]
