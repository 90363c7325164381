"""Data sets: shapes, ranges, splits; the MNIST loader on small files made here, and with a downloader of our own."""

import gzip
import hashlib
import subprocess
import sys
import urllib.error

import numpy as np
import pytest
import sklearn.datasets

from highway_lessons import datasets, digits, mnist, spirals
from highway_lessons.datasets import MNIST_FILES


def test_digits_is_the_published_split():
    data = digits()
    assert data.x_train.shape == (1257, 64)
    assert data.x_test.shape == (540, 64)
    assert set(data.y_train) == set(range(10))
    shares = [np.bincount(y) / len(y) for y in (data.y_train, data.y_test)]
    np.testing.assert_allclose(*shares, atol=0.002)  # stratified
    everything = np.concatenate([data.x_train, data.x_test])
    images = sklearn.datasets.load_digits().data / 16
    assert sorted(map(tuple, everything)) == sorted(map(tuple, images))
    np.testing.assert_array_equal(digits(0).x_test, data.x_test)
    assert (digits(1).x_test != data.x_test).any()


@pytest.mark.parametrize("turns", [0, 1, 5, 7])
def test_spirals_lie_where_the_formula_says(turns):
    data = spirals(turns, n_train=3000, n_test=500, rng=4)
    assert data.x_train.shape == (3000, 2)
    assert data.y_test.shape == (500,)
    r = np.linalg.norm(data.x_train, axis=1) / 2
    assert np.sqrt(0.02) <= r.min() < r.max() <= 1
    assert np.mean(r**2) == pytest.approx(0.51, abs=0.02)
    angle = np.arctan2(data.x_train[:, 1], data.x_train[:, 0]) - 2 * np.pi * turns * r
    np.testing.assert_allclose(np.cos(angle), np.where(data.y_train == 0, 1, -1), atol=1e-9)
    assert data.y_train.mean() == pytest.approx(0.5, abs=0.05)


def test_spirals_come_from_the_seed_alone():
    first, second = spirals(rng=3), spirals(rng=np.random.default_rng(3))
    np.testing.assert_array_equal(first.x_test, second.x_test)
    assert (spirals(rng=4).x_test != first.x_test).any()


# MNIST.


@pytest.fixture
def small_mnist(tmp_path, monkeypatch):
    """Five training and three test images in files of the original kind, taken for MNIST."""
    rng = np.random.default_rng(0)
    arrays = [
        rng.integers(0, 256, (5, 28, 28)),
        rng.integers(0, 10, 5),
        rng.integers(0, 256, (3, 28, 28)),
        rng.integers(0, 10, 3),
    ]
    arrays = [array.astype(np.uint8) for array in arrays]
    folder = tmp_path / "files"
    folder.mkdir()
    for name, array in zip(MNIST_FILES, arrays, strict=True):
        header = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
        (folder / name).write_bytes(header + array.tobytes())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    checksum = hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()
    monkeypatch.setattr(datasets, "MNIST_SHA256", checksum)
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda *_, **__: pytest.fail("nothing may be downloaded"))
    return folder, arrays


def assert_is_small_mnist(data, arrays):
    for images, original in [(data.x_train, arrays[0]), (data.x_test, arrays[2])]:
        assert images.dtype == np.float32
        np.testing.assert_array_equal(images, original.reshape(len(original), 784) / np.float32(255))
    np.testing.assert_array_equal(data.y_train, arrays[1])
    np.testing.assert_array_equal(data.y_test, arrays[3])


@pytest.mark.parametrize("packed", [False, True])
def test_mnist_from_a_folder_and_then_from_the_cache(small_mnist, tmp_path, packed):
    folder, arrays = small_mnist
    if packed:
        for file in list(folder.iterdir()):
            (folder / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
            file.unlink()
    assert_is_small_mnist(mnist(str(folder)), arrays)
    assert [file.name for file in (tmp_path / "cache" / "highway-lessons").iterdir()] == ["mnist.npz"]
    for file in folder.iterdir():
        file.unlink()
    assert_is_small_mnist(mnist(), arrays)


def test_mnist_downloads_once(small_mnist, monkeypatch):
    _, arrays = small_mnist
    calls = []

    def fetch_openml(name, version, **options):
        """As scikit-learn: float64 images and labels as text, training images first."""
        calls.append((name, version))
        images = np.concatenate([arrays[0], arrays[2]]).reshape(8, 784).astype(float)
        return images, np.concatenate([arrays[1], arrays[3]]).astype(str).astype(object)

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch_openml)
    monkeypatch.setattr(datasets, "MNIST_TRAIN", 5)
    assert_is_small_mnist(mnist(), arrays)
    assert_is_small_mnist(mnist(), arrays)
    assert calls == [("mnist_784", 1)]


def test_mnist_without_a_network(small_mnist, monkeypatch):
    def fetch_openml(*_, **__):
        raise urllib.error.URLError("Name or service not known")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch_openml)
    with pytest.raises(
        ConnectionError, match=r"MNIST could not be downloaded .*; go online once, or give mnist\(folder\)"
    ):
        mnist()


def spoil(file, how):
    content = file.read_bytes()
    if how == "missing":
        file.unlink()
    elif how == "cut short":
        file.write_bytes(content[:-1])
    elif how == "too long":
        file.write_bytes(content + b"x")
    elif how == "a page of HTML":
        file.write_bytes(b"<html>not found</html>")
    elif how == "empty":
        file.write_bytes(b"")
    elif how == "one pixel off":
        file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    elif how == "damaged gz":
        file.with_name(f"{file.name}.gz").write_bytes(gzip.compress(content)[:-20])
        file.unlink()


@pytest.mark.parametrize(
    ("how", "error", "sentence"),
    [
        ("missing", FileNotFoundError, "has neither t10k-images-idx3-ubyte nor t10k-images-idx3-ubyte.gz"),
        ("cut short", ValueError, "t10k-images-idx3-ubyte is not an MNIST file, or is damaged"),
        ("too long", ValueError, "is not an MNIST file, or is damaged"),
        ("a page of HTML", ValueError, "is not an MNIST file, or is damaged"),
        ("empty", ValueError, "is not an MNIST file, or is damaged"),
        ("damaged gz", ValueError, "is not an MNIST file, or is damaged"),
        ("one pixel off", ValueError, "holds other numbers"),
    ],
)
def test_mnist_refuses_other_files(small_mnist, tmp_path, how, error, sentence):
    folder, _ = small_mnist
    spoil(folder / "t10k-images-idx3-ubyte", how)
    with pytest.raises(error, match=sentence):
        mnist(folder)
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("content", [b"", b"not an archive"])
def test_mnist_with_a_damaged_cache(small_mnist, tmp_path, content):
    cache = tmp_path / "cache" / "highway-lessons" / "mnist.npz"
    cache.parent.mkdir(parents=True)
    cache.write_bytes(content)
    with pytest.raises(ValueError, match=r"mnist.npz is damaged .*; delete it and call mnist\(\) again"):
        mnist()
    np.savez_compressed(cache, np.arange(3))
    with pytest.raises(ValueError, match="holds other numbers; delete it"):
        mnist()


def test_importing_the_package_loads_only_numpy():
    heavy = ["torch", "matplotlib", "tqdm", "sklearn", "anywidget", "ipywidgets", "IPython", "joblib"]
    code = f"import sys, highway_lessons; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
