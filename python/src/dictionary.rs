//! Dictionaries.

use pagepress::lz4;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::buffers::Input;
use crate::errors::raise;
use crate::threads::run;

/// Bytes that stand before each block.
#[pyclass(frozen, module = "pagepress")]
pub(crate) struct Dictionary(pub(crate) lz4::Dictionary);

#[pymethods]
impl Dictionary {
    #[new]
    #[pyo3(signature = (data, id=None))]
    fn new(data: &Bound<'_, PyAny>, id: Option<u32>) -> PyResult<Self> {
        let data = Input::new(data)?;
        Ok(Self(match id {
            Some(id) => lz4::Dictionary::with_id(data.bytes(), id),
            None => lz4::Dictionary::new(data.bytes()),
        }))
    }

    #[getter]
    fn id(&self) -> u32 {
        self.0.id()
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.as_bytes())
    }

    fn __repr__(&self) -> String {
        let (n_bytes, id) = (self.0.as_bytes().len(), self.0.id());
        format!("<pagepress.Dictionary of {n_bytes} bytes, id {id:#010x}>")
    }
}

/// Trains a dictionary on samples.
#[pyfunction]
pub(crate) fn train_dictionary(
    py: Python<'_>,
    samples: Vec<Bound<'_, PyAny>>,
    size: usize,
) -> PyResult<Dictionary> {
    let inputs: Vec<Input> = samples.iter().map(Input::new).collect::<PyResult<_>>()?;
    let samples: Vec<_> = inputs.iter().map(Input::bytes).collect();
    let trained = run(py, || lz4::train_dictionary(&samples, size));
    trained.map(Dictionary).map_err(|error| raise(py, &error))
}
