//! What people see, on small programs.
