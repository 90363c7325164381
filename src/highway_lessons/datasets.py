"""Data to learn from: digits, spirals and MNIST."""

import gzip
import hashlib
import math
import os
import zipfile
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from highway_lessons import _checks


class Data(NamedTuple):
    """Training and test data: x of shape (examples, n_in), y of shape (examples,) with classes from 0.

    The test part may be None.
    """

    x_train: np.ndarray
    y_train: np.ndarray
    x_test: np.ndarray | None = None
    y_test: np.ndarray | None = None


def digits(rng=0):
    """Scikit-learn's handwritten digits, 8 × 8 pixels in [0, 1]: 1257 to train on, 540 to test.

    Parameters
    ----------
    rng : int
        Seed of the stratified split; 0 is the split of the published figures.

    Returns
    -------
    Data
        x of shape (examples, 64), y in 0 … 9.

    References
    ----------
    Alpaydin and Kaynak (1998), UCI Machine Learning Repository, through scikit-learn's load_digits.
    """
    rng = _checks.integer("rng (a seed)", rng, 0, 2**32 - 1)
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    images, labels = load_digits(return_X_y=True)
    x_train, x_test, y_train, y_test = train_test_split(
        images / 16, labels, test_size=0.3, random_state=rng, stratify=labels
    )
    return Data(x_train, y_train, x_test, y_test)


def spirals(turns=5, n_train=8000, n_test=4000, rng=0):
    """Two interleaved spiral arms in the plane: a task on which depth pays.

    Parameters
    ----------
    turns : float
        Times each arm winds around the origin; 5, or 7 for a harder task.
    n_train, n_test : int
        Number of points, at least 1.
    rng : int or numpy.random.Generator
        A seed, or the generator to draw from.

    Returns
    -------
    Data
        x of shape (points, 2) at most 2 from the origin; y in {0, 1}: the arm.

    Notes
    -----
    The radius is r = √U(0.02, 1), the angle 2π (turns · r + y/2), the point 2r (cos, sin).
    """
    turns, rng = _checks.real("turns", turns, 0), _checks.generator(rng)
    n_train, n_test = _checks.integer("n_train", n_train, 1), _checks.integer("n_test", n_test, 1)
    y = rng.integers(0, 2, n_train + n_test)
    r = np.sqrt(rng.uniform(0.02, 1, len(y)))
    angle = 2 * np.pi * (turns * r + y / 2)
    x = 2 * r[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return Data(x[:n_train], y[:n_train], x[n_train:], y[n_train:])


# SHA-256 of the pixels and labels as bytes: training images, training labels, test images, test labels.
MNIST_SHA256 = "06b0d1f124c4e5fa796686ade41a9b778edacc8622f2195a352ef479ad44fc16"
MNIST_TRAIN = 60000
MNIST_FILES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")


def mnist(folder=None):
    """MNIST, handwritten digits of 28 × 28 pixels in [0, 1]: 60000 to train on, 10000 to test.

    The first call reads `folder`, or downloads from OpenML with scikit-learn, which takes some minutes. It keeps a
    compressed copy in the user's cache folder (``$XDG_CACHE_HOME/highway-lessons``, by default ``~/.cache/…``),
    so that later calls need neither.

    Parameters
    ----------
    folder : str or path, optional
        A folder with the four files of the original distribution, `MNIST_FILES`, plain or with the ending ``.gz``.

    Returns
    -------
    Data
        x of shape (examples, 784), float32 to save memory, y in 0 … 9.

    Raises
    ------
    FileNotFoundError, ConnectionError
        If a file is missing from `folder`, or the download fails.
    ValueError
        If a file cannot be read, or the numbers are not MNIST's: their SHA-256 must be `MNIST_SHA256`.

    References
    ----------
    LeCun, Bottou, Bengio and Haffner (1998), "Gradient-based learning applied to document recognition".
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "highway-lessons" / "mnist.npz"
    if not isinstance(folder, str | os.PathLike | None):
        raise TypeError(f"folder must be a path or None, but {_checks.describe(folder)} came.")
    if folder is not None:
        source, arrays = f"folder {folder}", [_read_idx(Path(folder), name) for name in MNIST_FILES]
    elif cache.exists():
        source, arrays = cache, _read_cache(cache)
    else:
        source, arrays = "the download", _download_mnist()
    if hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest() != MNIST_SHA256:
        raise ValueError(f"MNIST was expected, but {source} holds other numbers; delete it and fetch the files anew.")
    if not cache.exists():
        cache.parent.mkdir(parents=True, exist_ok=True)
        unfinished = cache.with_suffix(f".{os.getpid()}.npz")
        np.savez_compressed(unfinished, *arrays)
        unfinished.replace(cache)  # in one step, so that a killed run leaves no half file
    x_train, y_train, x_test, y_test = arrays
    return Data(_pixels(x_train), y_train.astype(np.int64), _pixels(x_test), y_test.astype(np.int64))


def _pixels(images):
    """Scale bytes to [0, 1], one row per image."""
    return images.reshape(len(images), -1).astype(np.float32) / 255


def _read_idx(folder, name):
    """Read one file of the original distribution: two zero bytes, type 8, the number of axes, their lengths, bytes."""
    path = next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)
    if path is None:
        raise FileNotFoundError(f"folder {folder} has neither {name} nor {name}.gz; put the four MNIST files there.")
    content = path.read_bytes()
    try:
        if path.suffix == ".gz":
            content = gzip.decompress(content)
        axes = int(name[name.index("idx") + 3])
        shape = np.frombuffer(content, ">u4", axes, offset=4).tolist()
        if content[:4] != bytes([0, 0, 8, axes]) or len(content) != 4 + 4 * axes + math.prod(shape):
            raise ValueError("header and length disagree")
        return np.frombuffer(content, np.uint8, offset=4 + 4 * axes).reshape(shape)
    except (ValueError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path} is not an MNIST file, or is damaged ({error}); fetch it anew.") from error


def _read_cache(path):
    """Read the compressed copy that an earlier call kept."""
    try:
        with np.load(path) as archive:
            return [archive[name] for name in archive.files]
    except (ValueError, EOFError, OSError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(f"{path} is damaged ({error}); delete it and call mnist() again.") from error


def _download_mnist():
    """Fetch the 70000 images from OpenML, which lists the training images first, and split them."""
    from sklearn.datasets import fetch_openml

    try:
        images, labels = fetch_openml(
            "mnist_784", version=1, return_X_y=True, as_frame=False, parser="liac-arff", cache=False, n_retries=1
        )
    except OSError as error:
        raise ConnectionError(
            f"MNIST could not be downloaded ({error}); go online once, or give mnist(folder) a folder with its files."
        ) from error
    images, labels = images.astype(np.uint8), labels.astype(np.uint8)
    return [images[:MNIST_TRAIN], labels[:MNIST_TRAIN], images[MNIST_TRAIN:], labels[MNIST_TRAIN:]]
