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
    matrix = CSRMatrix(sp.csr_array(dense), torch.zeros(1, dtype=dtype))
    reference = torch.tensor(dense, dtype=dtype)
    for multiply, other, n in (
        (matrix.__matmul__, reference, 7),
        (matrix.transpose_matmul, reference.T, 5),
    ):
        x = torch.randn(n, 3, dtype=dtype, requires_grad=True)
        products = multiply(x), other @ x
        torch.testing.assert_close(*products)
        torch.testing.assert_close(*(torch.autograd.grad((y**2).sum(), x) for y in products))


def test_a_matrix_without_entries():
    zero = CSRMatrix(sp.csr_array((2, 3)), torch.zeros(1))
    assert (zero @ torch.ones(3, 4)).tolist() == [[0] * 4] * 2
