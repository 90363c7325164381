"""Checks for the exercises: each says what is wrong with an answer, not only that it is."""

from highway_lessons.exercises.backward import (
    check_best_step,
    check_closing_the_gate,
    check_uncoupled_backward,
    check_untouched_layers,
    small_network,
)
from highway_lessons.exercises.bias import (
    check_bias_for_tau,
    check_blocks_above_epsilon,
    check_largest_bias_with_sgd,
    check_safe_tau,
)
from highway_lessons.exercises.clinic import (
    check_fifth_test,
    check_lost_factor,
    check_mean_gate_under_he,
    check_softmax_width,
)
from highway_lessons.exercises.comparison import (
    check_best_of_two,
    check_fold,
    check_halved_shortcut,
    check_paper_bias,
    check_residual_against_batch_norm,
    check_rows_near_the_best,
    check_seeds_for_holm,
)
from highway_lessons.exercises.gates import (
    check_chance_share,
    check_flip_block,
    check_selective_spread,
    check_within_classes,
)
from highway_lessons.exercises.layer import check_carry_bias, check_stack_bias, check_start_bias, check_uncoupled
from highway_lessons.exercises.lesions import (
    check_all_off_on_spirals,
    check_idle_by_loss,
    check_swapped,
    check_two_or_more,
)
from highway_lessons.exercises.pytorch import (
    check_decayed_gate,
    check_float32_gap,
    check_from_carry_gate,
    check_groups,
)
from highway_lessons.exercises.signals import (
    check_bias_for_he,
    check_blocks_to_a_millionth,
    check_growth_per_block,
    check_zero_bias_exponent,
)
from highway_lessons.exercises.template import (
    check_bias_for_tau_one,
    check_half_bias,
    check_half_life,
    check_share_under_he,
)
from highway_lessons.exercises.training import (
    check_cost_of_guessing,
    check_deepest_plain,
    check_naive_start,
    check_test_images,
)
from highway_lessons.exercises.verdict import Verdict

__all__ = [
    "Verdict",
    "check_all_off_on_spirals",
    "check_best_of_two",
    "check_best_step",
    "check_bias_for_he",
    "check_bias_for_tau",
    "check_bias_for_tau_one",
    "check_blocks_above_epsilon",
    "check_blocks_to_a_millionth",
    "check_carry_bias",
    "check_chance_share",
    "check_closing_the_gate",
    "check_cost_of_guessing",
    "check_decayed_gate",
    "check_deepest_plain",
    "check_fifth_test",
    "check_flip_block",
    "check_float32_gap",
    "check_fold",
    "check_from_carry_gate",
    "check_groups",
    "check_growth_per_block",
    "check_half_bias",
    "check_half_life",
    "check_halved_shortcut",
    "check_idle_by_loss",
    "check_largest_bias_with_sgd",
    "check_lost_factor",
    "check_mean_gate_under_he",
    "check_naive_start",
    "check_paper_bias",
    "check_residual_against_batch_norm",
    "check_rows_near_the_best",
    "check_safe_tau",
    "check_seeds_for_holm",
    "check_selective_spread",
    "check_share_under_he",
    "check_softmax_width",
    "check_stack_bias",
    "check_start_bias",
    "check_swapped",
    "check_test_images",
    "check_two_or_more",
    "check_uncoupled",
    "check_uncoupled_backward",
    "check_untouched_layers",
    "check_within_classes",
    "check_zero_bias_exponent",
    "small_network",
]
