import numpy as np
import pytest
import scipy.sparse as sp
import torch

from skgraphkde.learned.sparse import CSRMatrix


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_product_and_gradient_equal_dense(dtype):
    rng = np.random.RandomState(0)
    dense = rng.rand(5, 7) * (rng.rand(5, 7) < 0.4)
    dense[2] = 0  # an empty row
    dense[:, 3] = 0  # an empty column
    like = torch.zeros(1, dtype=dtype)
    matrix, reference = CSRMatrix(sp.csr_array(dense), like), torch.tensor(dense, dtype=dtype)
    x = torch.randn(7, 3, dtype=dtype, requires_grad=True)
    y = torch.randn(5, 3, dtype=dtype, requires_grad=True)
    torch.testing.assert_close(matrix @ x, reference @ x)
    torch.testing.assert_close(matrix.transpose_matmul(y), reference.T @ y)
    for product, expected, leaf in (
        (matrix @ x, reference @ x, x),
        (matrix.transpose_matmul(y), reference.T @ y, y),
    ):
        grads = [torch.autograd.grad((out**2).sum(), leaf)[0] for out in (product, expected)]
        torch.testing.assert_close(*grads)


def test_a_matrix_without_entries():
    zero = CSRMatrix(sp.csr_array((2, 3)), torch.zeros(1))
    assert (zero @ torch.ones(3, 4)).tolist() == [[0] * 4] * 2
