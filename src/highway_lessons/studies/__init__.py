"""The long measurements of the course: what was measured, and the records of it, which chapters read.

`python -m highway_lessons.studies list` shows the studies; `load("depth")` reads a record.
"""

from highway_lessons.studies.clinic import CLINIC
from highway_lessons.studies.comparison import FRESH_STUDY, SEARCH, SEARCH_WIDER
from highway_lessons.studies.depth import DEPTH, DEPTH_SPIRALS
from highway_lessons.studies.gate_bias import EPSILON, GATE_BIAS, SAME_TAU
from highway_lessons.studies.gating_table import GATING_TABLE
from highway_lessons.studies.initialisation import INITIALISATION
from highway_lessons.studies.learning_rate import LEARNING_RATE
from highway_lessons.studies.lesions import LESIONS
from highway_lessons.studies.living import LIVING
from highway_lessons.studies.results import Results, load_study
from highway_lessons.studies.trained_gates import TRAINED_GATES

STUDIES = {
    study.name: study
    for study in (
        DEPTH,
        DEPTH_SPIRALS,
        GATE_BIAS,
        SAME_TAU,
        EPSILON,
        LEARNING_RATE,
        INITIALISATION,
        TRAINED_GATES,
        LESIONS,
        CLINIC,
        SEARCH,
        SEARCH_WIDER,
        FRESH_STUDY,
        GATING_TABLE,
        LIVING,
    )
    if study is not None  # the later stages of a comparison exist once the earlier ones are recorded
}


def load(name, complete=True):
    """Read the record of a study.

    Parameters
    ----------
    name : str
        A key of `STUDIES`.
    complete : bool
        Refuse a record that lacks points.

    Returns
    -------
    Results

    Raises
    ------
    ValueError
        If there is no such study.
    RecordError
        If its record is missing, incomplete, or of another definition; a ValueError, too.
    """
    from highway_lessons import _checks

    return load_study(_checks.choice("name", name, STUDIES), complete=complete)


__all__ = ["STUDIES", "Results", "load"]
