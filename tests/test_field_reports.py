"""What people who write, teach and read such courses report: each kind of fault, and the tests that would find it here.

The reports are public. ITEMS has a line for each kind: its number in our list, or its name for the short ones; a
report to read; and the tests that see to it, or one sentence that says why it cannot happen here. The tests at the end
of this file are those that have no better home.
"""

import importlib.metadata
import re
import sys
from pathlib import Path

import pytest
from conftest import BOOK, ROOT

TESTS = Path(__file__).parent

ITEMS = {
    # --- sliders and pages ---
    "P01 slider moves on the web page, nothing happens (jupyter-widgets/ipywidgets#2069)": [
        "test_training_panel_page.py::test_by_keyboard_recorded_trainings_are_found_and_missing_ones_said",
        "test_sliders_page.py::test_sliders_of_the_book_answer",
        "test_book_html.py::test_no_stock_slider_is_left_that_would_move_and_change_nothing",
        "test_living_page.py::test_every_control_answers_by_keyboard_and_reset_returns",
    ],
    "P05 every move adds a plot (jupyter-widgets/ipywidgets#1457)": [
        "test_training_panel_jupyterlab.py::test_train_by_mouse_draws_a_curve_that_grows_and_compares",
        "test_sliders_jupyterlab.py::test_ten_moves_leave_one_figure",
    ],
    "P14 dragging queues up slow work (jupyter-widgets/ipywidgets#663)": [
        "test_training_panel_jupyterlab.py::test_dragging_a_slider_starts_nothing_and_queues_nothing",
        "test_training_panel_jupyterlab.py::test_other_cells_run_while_it_trains",
        "test_sliders_jupyterlab.py::test_forty_key_presses_end_on_the_right_value_within_a_second",
        "test_sliders_jupyterlab.py::test_visited_frames_are_not_computed_again",
        "test_sliders_page.py::test_late_answers_are_kept_but_only_the_right_one_is_drawn",
    ],
    "P15 more than 20 figures have been opened (matplotlib/matplotlib#29743)": [
        "test_pictures.py::test_nothing_in_a_notebook_is_told_by_colour_alone",  # ends with: no figure is open
    ],
    "P17 output flickers, the page jumps (jupyter-widgets/ipywidgets#1582)": [
        "test_sliders_page.py::test_sliders_of_the_book_answer",  # the height of the plot at every step
        "test_sliders_page.py::test_the_sentence_keeps_its_height_while_the_width_stays",
    ],
    "P18 the same figure twice (mne-tools/mne-python#9832)": [
        "test_chapter_anatomy.py::test_each_figure_has_alt_text_and_caption_and_is_shown_once",
    ],
    "P34 figures without useful alt text (data-8/textbook#221)": [
        "test_book_html.py::test_nothing_on_a_page_is_raw_noisy_or_without_words",
        "test_book_html.py::test_a_page_with_a_fault_is_caught",
        "test_chapter_anatomy.py::test_each_figure_has_alt_text_and_caption_and_is_shown_once",
        "test_sliders_page.py::test_pictures_stand_in_for_sliders_without_scripts",
    ],
    "P35 unreadable in dark mode (jupyter-widgets/ipywidgets#1812)": [
        "test_pages.py::test_axe_finds_nothing_serious",
        "test_sliders_page.py::test_sliders_of_the_book_are_readable",
        "test_sliders_jupyterlab.py::test_dark_mode",
        "test_pictures.py::test_nothing_in_a_notebook_is_told_by_colour_alone",  # no ground is transparent
    ],
    "P37 slider label cut off (jupyter-widgets/ipywidgets#2523)": [
        "test_training_panel_jupyterlab.py::test_nothing_is_cut_off_and_all_is_legible",
        "test_sliders_page.py::test_sliders_of_the_book_are_readable",
    ],
    "P63 same-looking lines (algorithmsbooks/decisionmaking#106)": [
        "test_pictures.py::test_nothing_in_a_notebook_is_told_by_colour_alone",
        "test_pictures.py::test_a_figure_with_a_fault_is_caught",
        "test_sliders_page.py::test_sliders_of_the_book_need_no_colours",
        "test_sliders_image.py::test_more_is_lighter",
    ],
    "P64 axes rescale at every step (biolab/orange3#4441)": [
        "test_sliders_page.py::test_sliders_of_the_book_answer",  # the texts of the axes at every step
        "test_sliders_image.py::test_the_colour_bar_is_the_map_and_stays",
    ],
    "P66 one slider's range crashes another (widgetti/reacton#47)": [
        "test_sliders_python.py::test_a_wrong_value_raises_a_sentence_and_changes_nothing",
        "test_sliders_page.py::test_sliders_of_the_book_answer",  # each slider at both its ends
    ],
    # --- it opens elsewhere ---
    "P03 first cell on Binder: no module (alan-turing-institute/scivision#127)": [
        "test_binder.py::test_the_package_is_found_from_any_folder_and_torch_takes_numpy",
        "test_binder.py::test_a_chapter_runs_and_its_sliders_follow",
        "test_chapters_run.py::test_runs_from_any_folder_offline_in_time_and_memory",
        "test_house.py::test_wheel_holds_every_file_of_the_package",
    ],
    "P04 a lone notebook (econ-ark/DemARK#52)": [
        "test_lone_notebook.py::test_a_downloaded_notebook_installs_its_package_from_the_site_and_goes_on",
        "test_lone_notebook.py::test_without_site_and_index_it_stops_with_one_sentence_whose_command_works",
        "test_lone_notebook.py::test_the_notebook_asks_for_this_edition",
        "test_chapter_anatomy.py::test_set_up_is_the_templates_guard_and_at_most_six_lines",
        "test_notebooks.py::test_cells_need_neither_the_book_nor_a_folder",
    ],
    "P19 jupyter-book 2 (jupyter-book/jupyter-book#2419)": [
        "test_field_reports.py::test_the_book_is_built_by_version_1",
        "test_house.py::test_pins_are_exact_and_installed",
    ],
    "P20 torch drags in CUDA (airbus/scikit-decide#172)": [
        "test_binder.py::test_wheels_only_and_torch_without_cuda",
        "test_house.py::test_torch_came_without_cuda",
    ],
    "P29 live code starts in another folder (jupyter-book/jupyter-book#1304)": [
        "test_chapters_run.py::test_runs_from_any_folder_offline_in_time_and_memory",
        "test_notebooks.py::test_cells_need_neither_the_book_nor_a_folder",
    ],
    "P30 live code without output (jupyter-book/jupyter-book#1533)": [
        "test_book_html.py::test_no_stock_slider_is_left_that_would_move_and_change_nothing",
    ],
    "P31 launch buttons lead nowhere (jupyter-book/jupyter-book#1906)": [
        "test_book_build.py::test_buttons_lead_to_the_repository_or_are_left_out",
        "test_book_build.py::test_a_remote_is_an_address_only_on_a_public_forge",
    ],
    "P41 MyST shows as raw text (jupyter-book/jupyter-book#1787)": [
        "test_lone_notebook.py::test_every_download_of_the_book_reads_without_the_book",
        "test_binder.py::test_terms_equations_and_links_are_shown_as_such",
        "test_chapter_anatomy.py::test_markdown_reads_well_in_plain_jupyter",
    ],
    "P43 old pins, new Python (krishauser/RoboticSystemsBook#28)": [
        "test_house.py::test_the_pins_agree_with_each_other_and_with_each_python",
        "test_house.py::test_there_are_wheels_for_each_python",
        "test_house.py::test_nothing_that_is_needed_is_left_unpinned",
        "test_field_reports.py::test_the_package_itself_asks_for_ranges",
    ],
    "P44 NumPy 2 and torch (pytorch/pytorch#78341)": [
        "test_binder.py::test_the_package_is_found_from_any_folder_and_torch_takes_numpy",
        "test_house.py::test_torch_came_without_cuda",
    ],
    "P45 an install cell changes NumPy (googlecolab/colabtools#5205)": [
        "test_lone_notebook.py::test_a_downloaded_notebook_installs_its_package_from_the_site_and_goes_on",
        "test_lone_notebook.py::test_the_ranges_leave_colabs_libraries_as_they_are",
        "test_lone_notebook.py::test_a_numpy_that_is_too_old_stays_as_it_is",
        "test_field_reports.py::test_the_package_itself_asks_for_ranges",
    ],
    "P46 widgets in JupyterLite (jupyterlite/jupyterlite#1342)": [
        "test_field_reports.py::test_jupyterlite_is_not_promised",
    ],
    "P47 the package in JupyterLite (jupyterlite/jupyterlite#1516)": [
        "test_lone_notebook.py::test_the_book_offers_the_wheel_of_this_edition",
        "test_field_reports.py::test_jupyterlite_is_not_promised",
        "test_house.py::test_wheel_holds_every_file_of_the_package",  # pure Python
    ],
    "P65 a private kernel name (jupyter-book/jupyter-book#1000)": [
        "test_notebooks.py::test_asks_for_no_private_kernel"
    ],
    "P68 the data's address is dead (rasbt/deeplearning-models#51)": [
        "test_chapters_run.py::test_runs_from_any_folder_offline_in_time_and_memory",
        "test_datasets.py::test_mnist_without_a_network",
    ],
    # --- building ---
    "P07 the build says succeeded though a chapter crashed (jupyter-book/jupyter-book#781)": [
        "test_book_build.py::test_a_failing_cell_fails_twice_and_is_named",
    ],
    "P39 a cell runs out of time (jupyter-book/jupyter-book#945)": [
        "test_chapters_run.py::test_runs_from_any_folder_offline_in_time_and_memory",  # each cell: a third of the limit
    ],
    "P40 warnings in the lesson (jupyter-book/jupyter-book#430)": [
        "test_chapter_anatomy.py::test_no_noise_in_the_outputs",
        "test_book_html.py::test_nothing_on_a_page_is_raw_noisy_or_without_words",
        "test_pictures.py::test_nothing_in_a_notebook_is_told_by_colour_alone",  # nor does our code warn of anything
        "test_house.py::test_warnings_are_mended_not_hidden",
    ],
    "P42 dollars and raw LaTeX (jupyter-book/jupyter-book#604)": [
        "test_book_html.py::test_nothing_on_a_page_is_raw_noisy_or_without_words",
        "test_pages.py::test_maths_is_set_from_the_books_own_folder",
        "test_chapter_anatomy.py::test_equations_have_blank_lines_around",
    ],
    "P69 np.float64(0.93) (spiketools/spiketools#205)": [
        "test_book_html.py::test_nothing_on_a_page_is_raw_noisy_or_without_words",
        "test_chapter_anatomy.py::test_no_noise_in_the_outputs",
    ],
    "P70 scratch notebooks are published (jupyter-book/jupyter-book#1412)": [
        "test_book_build.py::test_only_what_changed_runs_again",
    ],
    # --- running cells ---
    "P22 one lucky order of cells (fastai/courses#135)": [
        "test_chapter_anatomy.py::test_each_cell_needs_the_set_up_alone_or_names_what_it_continues_with",
        "test_chapter_anatomy.py::test_second_run_in_the_same_kernel_shows_the_same",
    ],
    "P32 the text promises other numbers (carpentries-lab/deep-learning-intro#193)": [
        *(
            f"test_chapter_{n}.py::test_no_number_of_the_text_is_unchecked"
            for n in ("01", "02", "03", "04", "05", "06")
        ),
        *(f"test_chapter_{n}.py::test_no_number_of_the_text_is_unchecked" for n in ("07", "09", "09b", "10")),
        "test_chapter_08.py::test_the_table_of_gaps_is_the_run",
        "test_chapter_anatomy.py::test_second_run_in_the_same_kernel_shows_the_same",
    ],
    "P56 the training cell goes on (keras-team/keras#4709)": [
        "test_training_panel.py::test_every_training_starts_anew",
        "test_training.py::test_running_it_again_gives_the_same_curves",
        "test_chapter_anatomy.py::test_second_run_in_the_same_kernel_shows_the_same",
    ],
    # --- the mathematics ---
    "P09 overflow in exp (peterdsharpe/NeuralFoil#4)": [
        "test_functions.py::test_sigmoid_at_its_extremes",
        "test_functions.py::test_sigmoid_of_a_scalar",
        "test_house.py::test_warnings_are_mended_not_hidden",
    ],
    "P11 softmax overflows (oreilly-japan/deep-learning-from-scratch#45)": [
        "test_functions.py::test_softmax_of_large_and_far_apart_rows",
        "test_functions.py::test_cross_entropy_of_huge_logits",
    ],
    "P13 one-hot or integers (eriklindernoren/ML-From-Scratch#98)": [
        "test_functions.py::test_every_documented_form_of_labels_gives_the_same",
        "test_wrong_input.py::test_wrong_input",
    ],
    "P23 the sign of the gate bias (tflearn/tflearn#134)": [
        "test_blocks.py::test_gate_shut_gives_x_exactly",
        "test_blocks.py::test_gate_open_gives_the_transform",
        "test_blocks.py::test_at_x_0_the_gate_is_sigma_of_the_bias",
        "test_blocks.py::test_starting_values_have_the_promised_names_and_shapes",
        "test_chapter_08.py::test_conventions_hold_in_the_cell",
    ],
    "P26 a gradient check in float32 (PaddlePaddle/Paddle#4283)": [
        "test_gradients.py::test_float32_parameters_are_raised_to_float64_unless_told_not_to",
        "test_gradients.py::test_the_gradient_check_catches_one_per_cent",
    ],
    "P27 parity with PyTorch (pytorch/pytorch#129834)": [
        "test_pytorch.py::test_the_transpose_trap",
        "test_pytorch.py::test_every_gradient_of_the_numpy_net_is_autograds",
        "test_pytorch.py::test_no_dtype_comes_from_elsewhere",
    ],
    "P49 the last short batch (ageron/handson-ml#179)": [
        "test_training.py::test_each_epoch_sees_every_example_once_in_consecutive_batches",
        "test_training.py::test_with_learning_rate_0_the_training_loss_is_that_of_the_whole_data",
        "test_network.py::test_the_loss_is_a_mean_so_a_doubled_batch_changes_nothing",
    ],
    "P50 integer arrays (keras-team/keras#803)": [
        "test_blocks.py::test_odd_forms_of_input_equal_the_plain_copy",
        "test_blocks.py::test_whole_number_weights_work",
        "test_network.py::test_odd_forms_of_input_equal_the_plain_copy",
        "test_training.py::test_odd_forms_of_data_train_the_same",
    ],
    "P52 NaN goes through (Bjarten/early-stopping-pytorch#16)": [
        "test_wrong_input.py::test_wrong_input",
        "test_training.py::test_a_loss_that_is_no_longer_finite_ends_the_training_and_says_where",
        "test_comparison.py::test_the_best_trial_is_never_one_that_diverged_and_ties_go_to_the_lower_loss",
    ],
    "P55 a copy shares its weights (chainer/chainer#7990)": [
        "test_network.py::test_a_copy_shares_nothing_and_is_whole",
        "test_training.py::test_starting_from_given_parameters_leaves_them_alone",
        "test_optimizers.py::test_recorder_keeps_copies_and_changes_nothing",
    ],
    "P58 depth 0, other widths, one example (ageron/handson-ml2#215)": [
        "test_network.py::test_depth_0_is_no_block_at_all",
        "test_training.py::test_depth_0_trains",
        "test_functions.py::test_sigmoid_of_a_scalar",
        "test_wrong_input.py::test_wrong_input",
    ],
    "P59 an empty batch (uzh-rpg/rpg_public_dronet#31)": ["test_wrong_input.py::test_wrong_input"],
    "P60 the slope of ReLU at 0 (tensorflow/playground#19)": [
        "test_functions.py::test_relu_has_slope_0_at_0",
        "test_field_reports.py::test_rows_of_zeros_and_zero_weights_have_pytorchs_gradients",
    ],
    "P62 a norm of 0 or infinity (google-deepmind/optax#1752)": [
        "test_gradients.py::test_effective_rank_of_nothing",
        "test_gradients_extra.py::test_a_zero_makes_the_geometric_mean_zero_without_a_warning",
        "test_gradients_extra.py::test_mean_cosine_refuses_what_has_no_direction",
        "test_optimizers.py::test_zero_gradients_move_nothing",
        "test_training.py::test_a_learning_rate_far_too_large_ends_in_a_sentence_without_warnings",
    ],
    # --- the short ones ---
    "two OpenMP runtimes (plenoptic-org/plenoptic#45)": ["test_house.py::test_warnings_are_mended_not_hidden"],
    "torch takes every core of the host (google/gvisor#10205)": [
        "test_house.py::test_torch_takes_the_processors_it_is_given",
    ],
    "2 GB on Binder (kraina-ai/srai-tutorial#8)": [
        "test_chapters_run.py::test_runs_from_any_folder_offline_in_time_and_memory",
    ],
    "Windows reads in cp1252 (jupyter/nbconvert#1868)": [
        "test_house.py::test_text_files_are_opened_with_their_encoding_named",
        "test_house.py::test_records_and_pictures_are_read_where_utf_8_is_not_the_rule",
        "test_house.py::test_the_studies_print_on_a_console_without_greek_letters",
    ],
    "cells without an id (jupyter/nbformat#335)": ["test_notebooks.py::test_is_valid_with_readable_cell_ids"],
    "diffs full of outputs (KIPAC/StatisticalMethods#62)": [
        "test_notebooks.py::test_is_committed_without_outputs",
        "test_notebooks.py::test_cells_carry_no_marks_of_a_program",
    ],
    "dead links between chapters (ProjectPythia/pythia-foundations#311)": [
        "test_notebooks.py::test_links_lead_somewhere",
        "test_notebooks.py::test_links_of_plain_pages_lead_somewhere",
        "test_notebooks.py::test_a_link_that_leads_nowhere_is_caught",
        "test_book_html.py::test_links_inside_the_book_lead_somewhere",
    ],
    "solutions visible in Jupyter (scientific-python/executable-tutorials#55)": [
        "test_notebooks.py::test_what_the_book_folds_away_is_folded_in_jupyter_too",
        "test_chapter_anatomy.py::test_three_or_four_exercises_each_with_check_and_solution",
    ],
    "reset to what the text speaks of (gradio-app/gradio#937)": [
        "test_sliders_page.py::test_reset_returns_to_the_start_by_mouse_and_by_keyboard",
        "test_sliders_page.py::test_sliders_of_the_book_answer",
    ],
    "an edited helper is not picked up (jupyter/notebook#4156)": [
        "test_field_reports.py::test_contributors_are_told_to_restart_after_an_edit",
    ],
    "an old cache after an upgrade (executablebooks/jupyter-cache#113)": [
        "test_field_reports.py::test_another_version_has_a_cache_of_its_own",
    ],
    "wide output on a phone (pydata/pydata-sphinx-theme#699)": [
        "test_pages.py::test_fits_a_phone",
        "test_sliders_page.py::test_sliders_of_the_book_are_readable",
    ],
    "widgets are never collected (manzt/anywidget#929)": [
        "test_sliders_python.py::test_running_a_cell_again_leaves_no_widgets_behind",
        "test_sliders_jupyterlab.py::test_running_the_cell_again_leaves_no_widget_behind",
    ],
    "a magic before its package is there (jupyterlite/jupyterlite#965)": [
        "test_notebooks.py::test_cells_need_neither_the_book_nor_a_folder",  # no cell holds a magic
    ],
    "a Live Code button without an environment (jupyter-book/jupyter-book#2020)": [
        "test_book_html.py::test_no_stock_slider_is_left_that_would_move_and_change_nothing",  # there is no such button
    ],
}
NUMBERS = (
    1, 3, 4, 5, 7, 9, 11, 13, 14, 15, 17, 18, 19, 20, 22, 23, 26, 27, 29, 30, 31, 32, 34, 35, 37, 39, 40, 41, 42, 43,
    44, 45, 46, 47, 49, 50, 52, 55, 56, 58, 59, 60, 62, 63, 64, 65, 66, 68, 69, 70,
)  # fmt: skip
SHORT = 15


def test_every_kind_of_report_has_a_line():
    numbered = [int(match[1]) for item in ITEMS if (match := re.match(r"P(\d\d) ", item))]
    assert sorted(numbered) == sorted(NUMBERS)
    assert len(ITEMS) == len(NUMBERS) + SHORT
    for item in ITEMS:
        assert re.search(r" \([\w.-]+/[\w.-]+#\d+\)$", item), f"{item}: a report to read"


@pytest.mark.parametrize("item", ITEMS)
def test_every_test_that_is_named_exists(item):
    answer = ITEMS[item]
    if isinstance(answer, str):
        assert re.match(r"does not apply: \w.{20,}\.$", answer)
        return
    assert answer
    for name in answer:
        file, _, function = name.partition("::")
        source = (TESTS / file).read_text(encoding="utf8")
        assert re.search(rf"^def {function}\(", source, flags=re.MULTILINE), name


# --- tests that have no better home ----------------------------------------------------------------------------------


def test_the_book_is_built_by_version_1():
    assert importlib.metadata.version("jupyter-book").startswith("1.")
    line = next(
        line
        for line in (ROOT / "requirements.txt").read_text(encoding="utf8").splitlines()
        if line.startswith("jupyter-book==")
    )
    assert "version 2" in line  # says why


def test_the_package_itself_asks_for_ranges():
    """An exact version would make pip exchange the NumPy of a running session, or find no wheel for a newer Python."""
    needed = importlib.metadata.requires("highway-lessons")
    assert len(needed) > 5
    for requirement in needed:
        assert ">=" in requirement
        assert "==" not in requirement.split(";")[0], requirement


def test_jupyterlite_is_not_promised():
    pages = [ROOT / "README.md", *BOOK.glob("*.yml"), *BOOK.glob("*.ipynb"), *BOOK.glob("*/*.ipynb")]
    for page in [*pages, *BOOK.glob("appendix/*.md")]:
        assert not re.search(r"jupyterlite|pyodide", page.read_text(encoding="utf8"), flags=re.IGNORECASE), page


def test_contributors_are_told_to_restart_after_an_edit():
    text = (BOOK / "appendix" / "how-built.md").read_text(encoding="utf8").lower()
    assert "restart the kernel" in text
    assert "autoreload" in text


def test_another_version_has_a_cache_of_its_own(monkeypatch):
    monkeypatch.syspath_prepend(str(BOOK / "_ext"))
    from highway_book.fingerprint import LIBRARIES, fingerprint

    assert "book/_build/" in (ROOT / ".gitignore").read_text(encoding="utf8").split()
    now, installed = fingerprint(), importlib.metadata.version
    assert fingerprint() == now
    for library in LIBRARIES:
        newer = lambda name, changed=library: "99.0" if name == changed else installed(name)  # noqa: E731
        monkeypatch.setattr(importlib.metadata, "version", newer)
        assert fingerprint() != now, library
    monkeypatch.setattr(importlib.metadata, "version", installed)
    monkeypatch.setattr(sys, "version", "3.99")
    assert fingerprint() != now
    assert {"jupyter-cache", "numpy", "matplotlib"} <= set(LIBRARIES)


def test_rows_of_zeros_and_zero_weights_have_pytorchs_gradients():
    """At the kink of ReLU, where another choice of slope would train other networks."""
    import numpy as np
    import torch

    from highway_lessons import Highway, Plain

    x, dy = np.zeros((3, 4)), np.random.default_rng(0).normal(size=(3, 4))
    for block in (Plain(), Highway(gate_bias=-2.0)):
        params = {name: np.zeros_like(value) for name, value in block.initialise(0, 4).items()}
        y, cache = block.forward(params, x)
        dx, grads = block.backward(params, cache, dy)
        leaves = {name: torch.tensor(value, requires_grad=True) for name, value in params.items()}
        given = torch.tensor(x, requires_grad=True)
        transform = torch.relu(given @ leaves["W_H"] + leaves["b_H"])
        if isinstance(block, Highway):
            gate = torch.sigmoid(given @ leaves["W_T"] + leaves["b_T"])
            output = transform * gate + given * (1 - gate)
        else:
            output = transform
        np.testing.assert_array_equal(y, output.detach().numpy())
        (output * torch.tensor(dy)).sum().backward()
        np.testing.assert_allclose(dx, given.grad.numpy(), atol=1e-15)
        for name, leaf in leaves.items():
            np.testing.assert_allclose(grads[name], leaf.grad.numpy(), atol=1e-15)
