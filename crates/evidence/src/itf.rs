//! Traces on disk: the Informal Trace Format of Apalache and Quint.
